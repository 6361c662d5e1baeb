// A journal that several nodes share: one of them is elected to append, the others read along. Who leads is a matter of
// liveness alone; what keeps a leader whose time has passed from harm is that its appends never become durable.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "journal/journal.h"

namespace tenure {

// `start` is called once in each term of this node, after it was elected and before its first append: it reads to the
// very end, behind which nobody else can append any more. Between terms `read` shows what others append.
class SharedJournal : public Journal {
 public:
  // Called, on any thread, when there may be frames that `read` has not shown; it must not block. Null: nobody; when
  // that returns, no call is under way any more.
  virtual void on_news(std::function<void()> wake) = 0;
};

// Thread-safe. Owns no thread: `tick` is called by one thread, that of its owner, which is told by `on_due` when that
// is to be earlier.
class Election {
 public:
  struct Leader {
    std::uint64_t epoch = 0;  // increases from one leader to the next
    std::string address;      // where clients reach it
    bool operator==(const Leader&) const = default;
  };
  // A node that takes part, leading or not.
  struct Member {
    std::string address;
    std::uint64_t records = 0;  // how many types of records it knows
    std::uint64_t applied = 0;  // the last frame that it had when it last told
    std::string version{};
  };
  // Told by `tick` alone, on its thread.
  class Listener {
   public:
    virtual ~Listener() = default;
    // This node leads.
    virtual void on_elected(std::uint64_t epoch) = 0;
    // It leads no more, or cannot be sure that it does.
    virtual void on_deposed(const std::string& why) = 0;
    // Who leads now, this node included; nullopt: nobody, as far as is known.
    virtual void on_leader(const std::optional<Leader>& leader) = 0;
  };

  Election() = default;
  Election(const Election&) = delete;
  Election& operator=(const Election&) = delete;
  virtual ~Election() = default;

  // Does what time and the medium's answers ask for, without blocking, and answers when it is next due, by the boot
  // clock.
  virtual Millis tick(Listener& listener) = 0;
  // Called, on any thread, when `tick` should be called now; it must not call back. Null: nobody.
  virtual void on_due(std::function<void()> wake) = 0;
  // By the boot clock: before this nobody else has been elected. Counted from before the question was sent whose answer
  // said so.
  [[nodiscard]] virtual Millis certain_until() const = 0;
  // Gives up what it leads, so that the next is elected at once, and takes part anew after a while.
  virtual void resign() = 0;
  // Leaves for good; waits for that, though not for long.
  virtual void leave() = 0;
  // Those who take part, as far as is known; and what this node tells of itself.
  [[nodiscard]] virtual std::vector<Member> members() const = 0;
  virtual void tell_applied(std::uint64_t sequence) = 0;
};

}  // namespace tenure
