// The course of one engine of several, on a journal that elects its writer:
//
//   load -> follow <-> lead
//
// It takes part once it has loaded. While it cannot be sure to lead the engine answers nothing; when it is deposed, or
// its journal says that another was elected, what was asked is answered UNAVAILABLE, and it follows again.
//
// Without a thread: whoever has one calls `step`, when that was said to be due and whenever it is woken.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "authority/engine.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "journal/shared_journal.h"

namespace tenure {

// Thread-safe, apart from beginning and ending it; `step` is for one thread.
class Course final : private Election::Listener {
 public:
  // All of it outlives this.
  struct Ports {
    Engine& engine;
    SharedJournal& journal;
    Election& election;
    const Clock& clock;
  };
  enum class Role : std::uint8_t { kLoading, kFollower, kLeader };
  // What happened to it, for a log.
  enum class Turn : std::uint8_t { kLoaded, kUnread, kReadAgain, kLeads, kLeadFailed, kDeposed };
  struct Hooks {
    // `step` is to be called now. On any thread; it must not call back.
    std::function<void()> wake;
    // By `step`, after the role has changed.
    std::function<void(Role role)> on_role;
    // By `step`: the journal cannot be replayed, and nothing is done any more.
    std::function<void(const Failure& failure)> on_broken;
    // By `step`; null: nobody is told.
    std::function<void(Turn turn, const std::string& text)> on_turn{};
  };

  // `self` is its address, as the election tells the others. Of an address clients are told what is before a comma.
  Course(Ports ports, std::string self) : ports_(ports), self_(std::move(self)) {}

  void begin(Hooks hooks);
  // Nobody is woken when that returns. Leaves roles as they are: whoever leads may still make durable what it was asked
  // for.
  void end();

  // Does what there is to do, and answers when it is to be called again, by the boot clock.
  Millis step();

  [[nodiscard]] Role role() const TENURE_EXCLUDES(mutex_);
  // Who leads, this node included; nullopt: nobody, as far as is known.
  [[nodiscard]] std::optional<Election::Leader> leader() const TENURE_EXCLUDES(mutex_);

 private:
  void on_elected(std::uint64_t epoch) override;
  void on_deposed(const std::string& why) override;
  void on_leader(const std::optional<Election::Leader>& leader) override;

  [[nodiscard]] bool must_read() TENURE_EXCLUDES(mutex_);
  void mind_oldest();
  void follow();
  void end_term(const std::string& why);
  void take_role(Role role) TENURE_EXCLUDES(mutex_);
  void refuse_as_follower() TENURE_EXCLUDES(mutex_);
  void tell(Turn turn, const std::string& text) const;

  const Ports ports_;
  const std::string self_;
  Hooks hooks_;

  // Of whoever steps.
  bool is_broken_ = false;
  Millis read_at_{0};         // the journal is read then, also if there are no news
  bool must_resign_ = false;  // it was elected, and cannot lead
  std::string trouble_;       // with reading the journal, as it was told; empty: none

  mutable Mutex mutex_;
  bool has_news_ TENURE_GUARDED_BY(mutex_) = false;
  std::optional<std::string> lost_ TENURE_GUARDED_BY(mutex_);  // said by the journal, in this term
  Role role_ TENURE_GUARDED_BY(mutex_) = Role::kLoading;
  std::optional<Election::Leader> leader_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure
