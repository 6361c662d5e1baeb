// What tests of several nodes share: a journal in memory that several engines have, and an election in the test's hand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "journal/shared_journal.h"

namespace tenure {

// The medium: frames, and the epoch that may append. Thread-safe.
class SharedMedium {
 public:
  struct Kept {
    Instant stamp;
    std::string payload;
  };

  // The next leader's; whatever others append from now on is refused.
  std::uint64_t elect() {
    const MutexLock lock(mutex_);
    return ++epoch_;
  }
  // False: another has been elected.
  bool append(std::uint64_t epoch, std::vector<Kept> frames) {
    const MutexLock lock(mutex_);
    if (epoch != epoch_) return false;
    for (Kept& frame : frames) frames_.push_back(std::move(frame));
    return true;
  }
  [[nodiscard]] std::vector<Kept> after(std::uint64_t sequence) const {
    const MutexLock lock(mutex_);
    return {frames_.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(sequence, frames_.size())),
            frames_.end()};
  }
  [[nodiscard]] std::uint64_t size() const {
    const MutexLock lock(mutex_);
    return frames_.size();
  }
  // Frames up to this one are gone, as behind a snapshot.
  void drop(std::uint64_t upto) {
    const MutexLock lock(mutex_);
    dropped_ = upto;
  }
  [[nodiscard]] std::uint64_t dropped() const {
    const MutexLock lock(mutex_);
    return dropped_;
  }
  void cut_off(bool is_cut_off) {
    const MutexLock lock(mutex_);
    is_cut_off_ = is_cut_off;
  }
  [[nodiscard]] bool is_cut_off() const {
    const MutexLock lock(mutex_);
    return is_cut_off_;
  }

 private:
  mutable Mutex mutex_;
  std::vector<Kept> frames_ TENURE_GUARDED_BY(mutex_);
  std::uint64_t epoch_ TENURE_GUARDED_BY(mutex_) = 0;
  std::uint64_t dropped_ TENURE_GUARDED_BY(mutex_) = 0;
  bool is_cut_off_ TENURE_GUARDED_BY(mutex_) = false;
};

// One node's view of it. Durable when it is committed, unless that is held back. Thread-safe.
class SharedMemoryJournal final : public SharedJournal {
 public:
  explicit SharedMemoryJournal(SharedMedium& medium) : medium_(medium) {}

  void on_news(std::function<void()> wake) override {
    const MutexLock lock(mutex_);
    wake_ = std::move(wake);
  }
  Result<Done> start(std::uint64_t after, Visit visit) override {
    auto read = this->read({.after = after}, visit);
    const MutexLock lock(mutex_);
    waiting_.clear();
    last_ = durable_ = medium_.size();
    has_failed_ = false;
    return read;
  }
  [[nodiscard]] Result<Done> read(FrameRange range, Visit visit) const override {
    if (medium_.is_cut_off()) return fail_with(ErrorCode::kUnavailable, "cut off");
    if (range.after < medium_.dropped()) return fail_with(ErrorCode::kInvalid, "frame {} is gone", range.after + 1);
    std::uint64_t sequence = range.after;
    for (const auto& kept : medium_.after(range.after)) {
      if (++sequence > range.upto) break;
      if (auto visited = visit({sequence, kept.stamp, kept.payload}); !visited) return visited;
    }
    return Done{};
  }
  void listen(Listener* listener) override {
    const MutexLock lock(mutex_);
    listener_ = listener;
  }
  std::uint64_t append(std::uint64_t epoch, Instant stamp, std::string_view payload) override {
    const MutexLock lock(mutex_);
    epoch_ = epoch;
    waiting_.push_back({stamp, std::string(payload)});
    return ++last_;
  }
  [[nodiscard]] std::uint64_t durable() const override {
    const MutexLock lock(mutex_);
    return durable_;
  }
  void commit() override {
    Listener* listener = nullptr;
    std::uint64_t durable = 0;
    {
      const MutexLock lock(mutex_);
      if (is_held_ || has_failed_ || waiting_.empty()) return;
      has_failed_ = !medium_.append(epoch_, std::exchange(waiting_, {}));
      if (!has_failed_) durable_ = last_;
      durable = durable_;
      listener = listener_;
    }
    if (listener == nullptr) return;
    if (is_deposed()) {
      listener->on_failed(Outcome::kFailed, "another was elected");
    } else {
      listener->on_durable(durable);
    }
  }
  Result<Done> close() override {
    commit();
    return Done{};
  }

  // Holds back durability until it is let go.
  void hold(bool is_held) {
    {
      const MutexLock lock(mutex_);
      is_held_ = is_held;
    }
    commit();
  }
  void tell_news() {
    const MutexLock lock(mutex_);
    if (wake_) wake_();
  }
  [[nodiscard]] bool is_deposed() const {
    const MutexLock lock(mutex_);
    return has_failed_;
  }

 private:
  SharedMedium& medium_;
  mutable Mutex mutex_;
  Listener* listener_ TENURE_GUARDED_BY(mutex_) = nullptr;
  std::function<void()> wake_ TENURE_GUARDED_BY(mutex_);
  std::vector<SharedMedium::Kept> waiting_ TENURE_GUARDED_BY(mutex_);
  std::uint64_t epoch_ TENURE_GUARDED_BY(mutex_) = 0;
  std::uint64_t last_ TENURE_GUARDED_BY(mutex_) = 0;
  std::uint64_t durable_ TENURE_GUARDED_BY(mutex_) = 0;
  bool is_held_ TENURE_GUARDED_BY(mutex_) = false;
  bool has_failed_ TENURE_GUARDED_BY(mutex_) = false;
};

// An election in the test's hand: what is said is told by the next tick. Thread-safe.
class HandElection final : public Election {
 public:
  explicit HandElection(Millis certain_until = Millis::max()) : certain_until_(certain_until) {}

  void elect(std::uint64_t epoch) {
    say([epoch](Listener& listener) { listener.on_elected(epoch); });
  }
  void depose(const std::string& why) {
    say([why](Listener& listener) { listener.on_deposed(why); });
  }
  void tell_leader(const std::optional<Leader>& leader) {
    say([leader](Listener& listener) { listener.on_leader(leader); });
  }
  void set_members(std::vector<Member> members) {
    const MutexLock lock(mutex_);
    members_ = std::move(members);
  }
  [[nodiscard]] int resignations() const {
    const MutexLock lock(mutex_);
    return resignations_;
  }

  Millis tick(Listener& listener) override {
    std::vector<std::function<void(Listener&)>> said;
    {
      const MutexLock lock(mutex_);
      said.swap(said_);
    }
    for (const auto& tell : said) tell(listener);
    return Millis::max();
  }
  void on_due(std::function<void()> wake) override {
    const MutexLock lock(mutex_);
    wake_ = std::move(wake);
  }
  [[nodiscard]] Millis certain_until() const override { return certain_until_; }
  void resign() override {
    const MutexLock lock(mutex_);
    ++resignations_;
  }
  void leave() override {}
  [[nodiscard]] std::vector<Member> members() const override {
    const MutexLock lock(mutex_);
    return members_;
  }
  void tell_applied(std::uint64_t /*sequence*/) override {}

 private:
  void say(std::function<void(Listener&)> what) {
    const MutexLock lock(mutex_);
    said_.push_back(std::move(what));
    if (wake_) wake_();
  }

  const Millis certain_until_;
  mutable Mutex mutex_;
  std::vector<std::function<void(Listener&)>> said_ TENURE_GUARDED_BY(mutex_);
  std::function<void()> wake_ TENURE_GUARDED_BY(mutex_);
  std::vector<Member> members_ TENURE_GUARDED_BY(mutex_);
  int resignations_ TENURE_GUARDED_BY(mutex_) = 0;
};

}  // namespace tenure
