// Tenure's locks.
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "expect.h"
#include "resp_speech.h"
#include "speeches.h"

namespace tenure::bench {
namespace {

constexpr std::string_view kDomain = "bench";
constexpr std::string_view kLeaseMs = "30000";
constexpr std::string_view kWaitMs = "60000";
constexpr std::string_view kNotGranted = "$-1\r\n";
constexpr std::string_view kReleased = "*2\r\n$8\r\nRELEASED\r\n:0\r\n";

std::string_view token_of(std::string_view reply) {
  RespReader reader(reply);
  const auto array = reader.next();
  expect(array && array->kind == '*' && array->number == 4, "a grant of a lock", reply);
  const auto token = reader.next();
  expect(token && token->kind == '$', "a lock's token", reply);
  return token->text;
}

// A lock's two requests: the first is always the same, the second ends with the token.
struct LockWords {
  std::string acquire;
  std::string release;
};

LockWords words_for(std::string_view identifier, Lane lane, bool is_waiting = false) {
  const std::string owner = fmt::format("lane-{}", lane);
  LockWords words;
  append_count(words.acquire, is_waiting ? 8 : 6);
  for (const std::string_view word : {std::string_view("LOCK.ACQUIRE"), kDomain, identifier, std::string_view(owner),
                                      std::string_view("LEASE"), kLeaseMs})
    append_word(words.acquire, word);
  if (is_waiting) {
    append_word(words.acquire, "WAIT");
    append_word(words.acquire, kWaitMs);
  }
  append_count(words.release, 4);
  for (const std::string_view word : {std::string_view("LOCK.RELEASE"), kDomain, identifier})
    append_word(words.release, word);
  return words;
}

// What the lock speeches have in common: acquire, and release what was granted. One thread.
class LockSpeech : public RespSpeech {
 public:
  void begin(Lane lane, Turn& turn) override {
    is_held_[lane] = false;
    turn.ask() += words_[lane].acquire;
  }

 protected:
  // The lane's identifier by its number.
  template <class IdentifierOf>
  LockSpeech(const Plan& plan, const IdentifierOf& identifier_of, bool is_waiting = false) : is_held_(plan.lanes()) {
    for (Lane lane = 0; lane < plan.lanes(); ++lane) words_.push_back(words_for(identifier_of(lane), lane, is_waiting));
  }

  [[nodiscard]] bool is_held(Lane lane) const { return is_held_[lane]; }

  void release(Lane lane, std::string_view token, Turn& turn) {
    is_held_[lane] = true;
    std::string& output = turn.ask();
    output += words_[lane].release;
    append_word(output, token);
  }

 private:
  std::vector<LockWords> words_;  // by lane
  std::vector<bool> is_held_;     // by lane: the reply to come is that to the release
};

auto own_identifier(const Plan& plan) {
  return [&plan](Lane lane) { return fmt::format("{}-{}", plan.run, lane); };
}

auto one_identifier(const Plan& plan) {
  return [&plan](Lane) { return fmt::format("{}-all", plan.run); };
}

class TenureLock : public LockSpeech {
 public:
  explicit TenureLock(const Plan& plan) : LockSpeech(plan, own_identifier(plan)) {}

  void take(Lane lane, std::string_view reply, Turn& turn) override {
    if (!is_held(lane)) return release(lane, token_of(reply), turn);
    expect(reply == kReleased, "RELEASED", reply);
    turn.finish();
  }
};

class TenureAcquire : public LockSpeech {
 public:
  explicit TenureAcquire(const Plan& plan) : LockSpeech(plan, own_identifier(plan)) {}

  void take(Lane lane, std::string_view reply, Turn& turn) override {
    if (!is_held(lane)) {
      turn.took_since(turn.begun());
      return release(lane, token_of(reply), turn);
    }
    expect(reply == kReleased, "RELEASED", reply);
    turn.finish_untimed();
  }
};

class TenureContended : public LockSpeech {
 public:
  explicit TenureContended(const Plan& plan) : LockSpeech(plan, one_identifier(plan)) {}

  void take(Lane lane, std::string_view reply, Turn& turn) override {
    if (!is_held(lane)) {
      if (reply == kNotGranted) return turn.finish();
      return release(lane, token_of(reply), turn);
    }
    expect(reply == kReleased, "RELEASED", reply);
    turn.finish();
  }
};

class TenureHandOver : public LockSpeech {
 public:
  explicit TenureHandOver(const Plan& plan) : LockSpeech(plan, one_identifier(plan), true) {}

  void take(Lane lane, std::string_view reply, Turn& turn) override {
    if (!is_held(lane)) {
      if (released_at_) turn.took_since(*released_at_);
      released_at_ = turn.now();
      return release(lane, token_of(reply), turn);
    }
    expect(reply == kReleased, "RELEASED", reply);
    turn.finish_untimed();
  }

 private:
  std::optional<Instant> released_at_;  // by whoever held it last
};

}  // namespace

std::unique_ptr<Speech> make_tenure_lock(const Plan& plan) { return std::make_unique<TenureLock>(plan); }
std::unique_ptr<Speech> make_tenure_acquire(const Plan& plan) { return std::make_unique<TenureAcquire>(plan); }
std::unique_ptr<Speech> make_tenure_contended(const Plan& plan) { return std::make_unique<TenureContended>(plan); }
std::unique_ptr<Speech> make_tenure_hand_over(const Plan& plan) { return std::make_unique<TenureHandOver>(plan); }

}  // namespace tenure::bench
