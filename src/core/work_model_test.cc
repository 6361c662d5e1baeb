// The work book against the contract of work-lease written down as naively as it is told there.
#include <deque>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/testing.h"

namespace tenure {
namespace {

// One domain, as the seed has it; answers are words. `expire` is what design page 3 adds.
class NaiveDomain {
 public:
  struct Lease {
    std::int64_t offset;
    std::uint64_t fence;
    std::int64_t acquired_at;
    std::uint32_t retries;
    std::optional<std::int64_t> expires_at;
  };

  std::string acquire(std::int64_t offset, std::int64_t now, std::optional<std::int64_t> time,
                      std::uint64_t next_fence) {
    if (processed_.contains(offset)) return "ALREADY_PROCESSED";
    if (failed_.contains(offset)) return "ALREADY_FAILED";
    if (offset < mark_) return "ALREADY_PROCESSED";
    if (lease) {
      if (lease->offset == offset) return fmt::format("ALREADY_ACQUIRED {} {}", lease->fence, lease->retries);
      auto found = std::find(backlog_.begin(), backlog_.end(), offset);
      if (found == backlog_.end()) found = backlog_.insert(backlog_.end(), offset);
      return fmt::format("ENQUEUED {}", found - backlog_.begin() + 1);
    }
    if (!backlog_.empty()) {
      if (backlog_.front() != offset) return fmt::format("BACKLOGORDER {} {}", backlog_.front(), offset);
      backlog_.pop_front();
    }
    std::int64_t first = now;
    std::uint32_t retries = 0;
    if (const auto known = returned_.find(offset); known != returned_.end()) {
      std::tie(first, retries) = known->second;
      returned_.erase(known);
    }
    lease = Lease{offset, next_fence, first, retries, {}};
    if (time) lease->expires_at = now + *time;
    return fmt::format("ACQUIRED {} {} {}", next_fence, retries, first);
  }

  std::string succeed(std::uint64_t fence) {
    if (!lease) return "NOLEASE";
    if (lease->fence != fence) return "TOKENMISMATCH";
    processed_.insert(lease->offset);
    lease.reset();
    return backlog_.empty() ? "NO_BACKLOG" : fmt::format("NEXT_HINT {}", backlog_.front());
  }

  std::string fail(std::uint64_t fence, std::uint32_t retries_max) {
    if (!lease) return "NOLEASE";
    if (lease->fence != fence) return "TOKENMISMATCH";
    if (lease->retries < retries_max) return fmt::format("RETRY_SCHEDULED {}", ++lease->retries);
    failed_.insert(lease->offset);
    lease.reset();
    return backlog_.empty() ? "GIVE_UP_NO_BACKLOG" : fmt::format("GIVE_UP_NEXT_HINT {}", backlog_.front());
  }

  std::string extend(std::uint64_t fence, std::int64_t until) {
    if (!lease) return "NOLEASE";
    if (lease->fence != fence) return "TOKENMISMATCH";
    if (!lease->expires_at) return "EXTENDED -";
    lease->expires_at = std::max(*lease->expires_at, until);
    return fmt::format("EXTENDED {}", *lease->expires_at);
  }

  void expire(std::int64_t now) {
    if (!lease || !lease->expires_at || now <= *lease->expires_at) return;
    backlog_.push_front(lease->offset);
    returned_[lease->offset] = {lease->acquired_at, lease->retries};
    lease.reset();
  }

  std::string trim(std::int64_t below) {
    if (below <= mark_) return "OK";
    if (lease && lease->offset < below) return "INVALID";
    for (const std::int64_t offset : backlog_) {
      if (offset < below) return "INVALID";
    }
    mark_ = below;
    processed_.erase(processed_.begin(), processed_.lower_bound(below));
    return "OK";
  }

  [[nodiscard]] std::string picture() const {
    return fmt::format("processed {} failed {} backlog {} head {} below {} lease {}", processed_.size(), failed_.size(),
                       backlog_.size(), backlog_.empty() ? -1 : backlog_.front(), mark_, lease ? lease->offset : -1);
  }

  std::optional<Lease> lease;

 private:
  std::set<std::int64_t> processed_;
  std::set<std::int64_t> failed_;
  std::deque<std::int64_t> backlog_;
  std::map<std::int64_t, std::pair<std::int64_t, std::uint32_t>> returned_;
  std::int64_t mark_ = 0;
};

std::string word(const Failure& failure) {
  if (failure.expected) return fmt::format("BACKLOGORDER {} {}", failure.expected->value, failure.got->value);
  return std::string(to_string(failure.code));
}
std::string hint(const char* none, const char* next, std::optional<Offset> offset) {
  return offset ? fmt::format("{} {}", next, offset->value) : none;
}
std::string word(const Result<AcquireResult>& answer) {
  if (!answer) return word(answer.error());
  if (const auto* got = std::get_if<Acquired>(&*answer)) {
    if (got->already) return fmt::format("ALREADY_ACQUIRED {} {}", got->fence.value, got->retry_count);
    return fmt::format("ACQUIRED {} {} {}", got->fence.value, got->retry_count, got->acquired_at.ms);
  }
  if (const auto* queued = std::get_if<Enqueued>(&*answer)) return fmt::format("ENQUEUED {}", queued->position);
  return std::holds_alternative<AlreadyProcessed>(*answer) ? "ALREADY_PROCESSED" : "ALREADY_FAILED";
}
std::string word(const Result<SucceedResult>& answer) {
  return answer ? hint("NO_BACKLOG", "NEXT_HINT", answer->next) : word(answer.error());
}
std::string word(const Result<FailResult>& answer) {
  if (!answer) return word(answer.error());
  if (const auto* retry = std::get_if<RetryScheduled>(&*answer)) {
    return fmt::format("RETRY_SCHEDULED {}", retry->retry_count);
  }
  return hint("GIVE_UP_NO_BACKLOG", "GIVE_UP_NEXT_HINT", std::get<GivenUp>(*answer).next);
}
std::string word(const Result<WorkExtended>& answer) {
  if (!answer) return word(answer.error());
  return answer->expires_at ? fmt::format("EXTENDED {}", answer->expires_at->ms) : "EXTENDED -";
}

std::string picture(const DomainStatus& status) {
  return fmt::format("processed {} failed {} backlog {} head {} below {} lease {}", status.processed, status.failed,
                     status.backlog, status.backlog_head.value_or(Offset{-1}).value, status.trimmed_below.value,
                     status.offset.value_or(Offset{-1}).value);
}

class WorkModelTest : public testing::TestWithParam<std::uint64_t> {};

TEST_P(WorkModelTest, TheBookAnswersAsTheNaiveOne) {
  Ledger ledger(GetParam(), 50);
  Dice dice(GetParam() + 100);
  ledger.settings.work_retries_max = 2;
  std::map<std::string, NaiveDomain> naive;
  std::map<std::string, std::vector<std::string>> tokens;  // all that were given
  for (int i = 0; i < 8'000 && !HasFailure(); ++i) {
    ledger.advance(Millis{static_cast<std::int64_t>(dice.roll(300))});
    for (auto& [name, domain] : naive) domain.expire(ledger.now.ms);
    const std::string name = fmt::format("d{}", dice.roll(6));
    NaiveDomain& domain = naive[name];
    std::string token = tokens[name].empty() ? "junk" : tokens[name].back();
    if (!tokens[name].empty() && dice.one_in(8)) token = dice.pick(tokens[name]);
    const std::uint64_t fence = Token::parse(token).value_or(Token{}).fence.value;
    switch (dice.roll(8)) {
      case 0: {
        EXPECT_EQ(domain.succeed(fence), word(ledger.ask(WorkSuccess{name, token})));
        break;
      }
      case 1:
      case 2: {
        EXPECT_EQ(domain.fail(fence, 2), word(ledger.ask(WorkFailure{name, token})));
        break;
      }
      case 3: {
        const Millis time{static_cast<std::int64_t>(1 + dice.roll(800))};
        EXPECT_EQ(domain.extend(fence, (ledger.now + time).ms), word(ledger.ask(WorkExtension{name, token, time})));
        break;
      }
      case 4: {
        const auto below = static_cast<std::int64_t>(dice.roll(static_cast<std::uint64_t>(i) / 40 + 2));
        const auto trimmed = ledger.ask(WorkTrim{name, Offset{below}});
        EXPECT_EQ(domain.trim(below), trimmed ? "OK" : word(trimmed.error()));
        break;
      }
      default: {
        // Offsets move on slowly, so that old ones are asked for again; the head is asked for often.
        auto offset = static_cast<std::int64_t>(static_cast<std::uint64_t>(i) / 40 + dice.roll(20));
        const auto status = ledger.work().inspect(name);
        if (status && !status->in_flight && status->backlog_head && !dice.one_in(4))
          offset = status->backlog_head->value;
        std::optional<Millis> time;
        if (dice.one_in(2)) time = Millis{static_cast<std::int64_t>(1 + dice.roll(800))};
        const std::uint64_t next = ledger.state().fence().value + 1;
        const auto answer = ledger.ask(WorkRequest{name, Offset{offset}, time});
        EXPECT_EQ(domain.acquire(offset, ledger.now.ms, time ? std::optional(time->count()) : std::nullopt, next),
                  word(answer));
        if (answer && std::holds_alternative<Acquired>(*answer))
          tokens[name].push_back(std::get<Acquired>(*answer).token);
        break;
      }
    }
    if (const auto status = ledger.work().inspect(name)) {
      EXPECT_EQ(domain.picture(), picture(*status)) << "operation " << i;
    }
  }
  EXPECT_GT(ledger.written(), 1'500U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, WorkModelTest, testing::Values(1, 2, 3));

}  // namespace
}  // namespace tenure
