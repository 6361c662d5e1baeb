#include "authority/snapshot_maker.h"

#include <fmt/format.h>

#include "authority/reception.h"
#include "authority/snapshots.h"

namespace tenure {

SnapshotMaker::SnapshotMaker(Engine& engine, Journal& journal, const Clock& clock, Tell tell)
    : engine_(engine), journal_(journal), clock_(clock), tell_(std::move(tell)), thread_([this] { run(); }) {
  journal_.snapshots()->on_growth([this] {
    const MutexLock lock(mutex_);
    has_grown_ = true;
    woken_.notify_one();
  });
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
  const MutexLock lock(making_);  // somebody may have asked for one
}

void SnapshotMaker::run() {
  while (true) {
    {
      const MutexLock lock(mutex_);
      while (!has_grown_ && !stopping_) woken_.wait(mutex_);
      if (stopping_) return;
      has_grown_ = false;
    }
    make_if_due();
  }
}

void SnapshotMaker::make_if_due() {
  const auto is_due = journal_.snapshots()->is_due();
  if (is_due && !*is_due) return;
  const auto made = is_due ? make() : tl::unexpected(is_due.error());
  if (!made && tell_ && !stop_.stop_requested()) {
    tell_(fmt::format("a snapshot was due, and failed: {}", made.error().message));
  }
}

Result<Done> SnapshotMaker::make() {
  const MutexLock lock(making_);
  const Millis began = clock_.boot();
  Reception<std::uint64_t> reception;
  engine_.take_digest(reception.callback());
  const auto sequence = reception.wait();
  if (!sequence) return tl::unexpected(sequence.error());
  auto made = make_snapshot(journal_, *sequence, stop_.get_token());
  if (made && tell_) tell_(fmt::format("snapshot of frame {} in {} ms", *sequence, (clock_.boot() - began).count()));
  return made;
}

}  // namespace tenure
