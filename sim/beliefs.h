// What holders believe: until when they may count on their leases, each by a clock of its own. No belief outlives its
// lease by the authority's clock, whatever was delayed or lost between the two.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/clock.h"
#include "core/record.h"
#include "task_law.h"

namespace tenure::sim {

// One thread. Whatever breaks the law throws Breach.
class Beliefs {
 public:
  // When what a belief rests on was asked for.
  struct Basis {
    std::uint64_t leaps = 0;
  };
  struct Belief {
    std::string who;
    std::string what;
    Token token;
    const Clock* clock;  // of the one who believes
    Millis deadline;     // by it
    Basis basis;
  };
  using Number = std::uint64_t;

  // --- what is believed ---
  [[nodiscard]] Basis basis() const { return {leaps_}; }
  Number hold(Belief belief);
  // A later deadline counts, an earlier one does not.
  void prolong(Number number, Millis deadline, Basis basis);
  void let_go(Number number) { beliefs_.erase(number); }

  // --- what is so ---
  // The next durable record.
  void see(const Record& record);
  // A start has set the authority's time ahead, because the wall clock was: leases end that much earlier, which no
  // holder can know. What is believed by then is not judged any more.
  void leap() { ++leaps_; }
  // `now` is the authority's time, or what it would be if it were up.
  void check(Instant now) const;

 private:
  void grant(Token token, Instant expires_at) { live_[token] = expires_at; }
  void end(Token token) { live_.erase(token); }
  void expire(Token token);

  std::map<Number, Belief> beliefs_;
  Number numbers_ = 0;
  std::uint64_t leaps_ = 0;
  std::map<Token, Instant, ByGrant> live_;
  std::set<Token, ByGrant> expired_;                  // by time, or given back: not by somebody else
  std::map<std::string, Token, std::less<>> leases_;  // by task: the latest
};

}  // namespace tenure::sim
