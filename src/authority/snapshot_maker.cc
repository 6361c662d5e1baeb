#include "authority/snapshot_maker.h"

#include <fmt/format.h>

#include "authority/reception.h"
#include "authority/snapshots.h"

namespace tenure {

class SnapshotMaker::Turn {
 public:
  explicit Turn(SnapshotMaker& maker) : maker_(maker) {
    const MutexLock lock(maker_.mutex_);
    ++maker_.turns_;
    while (maker_.is_making_) maker_.turn_ended_.wait(maker_.mutex_);
    maker_.is_making_ = true;
  }
  ~Turn() {
    const MutexLock lock(maker_.mutex_);
    --maker_.turns_;
    maker_.is_making_ = false;
    maker_.turn_ended_.notify_all();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  SnapshotMaker& maker_;
};

SnapshotMaker::SnapshotMaker(Engine& engine, Journal& journal, const Clock& clock, Tell tell)
    : engine_(engine), journal_(journal), clock_(clock), tell_(std::move(tell)), thread_([this] { run(); }) {
  journal_.snapshots()->on_growth([this] { look(); });
}

SnapshotMaker::~SnapshotMaker() {
  journal_.snapshots()->on_growth(nullptr);
  stop_.request_stop();
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    woken_.notify_one();
  }
  thread_.join();
  // Others may have asked for one.
  const MutexLock lock(mutex_);
  while (turns_ > 0) turn_ended_.wait(mutex_);
}

void SnapshotMaker::run() {
  while (true) {
    std::vector<Callback<Done>> askers;
    bool is_stopping = false;
    {
      const MutexLock lock(mutex_);
      while (!has_grown_ && askers_.empty() && !stopping_) woken_.wait(mutex_);
      askers.swap(askers_);
      is_stopping = stopping_;
      has_grown_ = false;
    }
    if (!askers.empty()) {
      make_for(std::move(askers));
    } else if (!is_stopping) {
      make_if_due();
    }
    if (is_stopping) return;
  }
}

void SnapshotMaker::look() {
  const MutexLock lock(mutex_);
  has_grown_ = true;
  woken_.notify_one();
}

void SnapshotMaker::ask(Callback<Done> done) {
  const MutexLock lock(mutex_);
  askers_.push_back(std::move(done));
  woken_.notify_one();
}

// One made for those who asked is as good as one that was due.
void SnapshotMaker::make_for(std::vector<Callback<Done>> askers) {
  const Result<Done> made = make();
  for (Callback<Done>& done : askers) done(made);
}

// Nobody waits for one that is due: requests go first. A journal that grows faster than that gets the next at full
// pace.
void SnapshotMaker::make_if_due() {
  if (!engine_.is_leading()) return;
  const Turn turn(*this);
  const auto is_due = journal_.snapshots()->is_due();
  if (is_due && !*is_due) return;
  const auto made = is_due ? make_in_turn(is_behind_ ? Pace::kFull : Pace::kGentle) : tl::unexpected(is_due.error());
  is_behind_ = made && journal_.snapshots()->is_due().value_or(false);
  if (!made && tell_ && !stop_.stop_requested()) {
    tell_(fmt::format("a snapshot was due, and failed: {}", made.error().message));
  }
}

Result<Done> SnapshotMaker::make() {
  const Turn turn(*this);
  return make_in_turn(Pace::kFull);
}

Result<Done> SnapshotMaker::make_in_turn(Pace pace) {
  if (stop_.stop_requested()) return fail_with(ErrorCode::kUnavailable, "the authority is closing");
  const Millis began = clock_.boot();
  Reception<std::uint64_t> reception;
  engine_.take_digest(reception.callback());
  const auto sequence = reception.wait();
  if (!sequence) return tl::unexpected(sequence.error());
  auto made = make_snapshot(journal_, *sequence, Effort(stop_.get_token(), pace));
  if (made && tell_) tell_(fmt::format("snapshot of frame {} in {} ms", *sequence, (clock_.boot() - began).count()));
  return made;
}

}  // namespace tenure
