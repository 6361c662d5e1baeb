// The lock book against a naive one: a map of holders, and a map of how tokens were lost.
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/testing.h"

namespace tenure {
namespace {

class NaiveLocks {
 public:
  struct Holder {
    std::string owner;
    std::uint64_t fence;
    std::uint32_t holds;
    std::int64_t expires_at;
    std::int64_t lease;
    std::string session;
  };

  std::string acquire(const std::string& name, const std::string& owner, const std::string& session, std::int64_t now,
                      std::int64_t lease, std::uint64_t next_fence) {
    const auto found = holders.find(name);
    if (found == holders.end()) {
      holders[name] = {owner, next_fence, 1, now + lease, lease, session};
      return fmt::format("GRANTED {} 1 {}", next_fence, lease);
    }
    Holder& holder = found->second;
    if (holder.owner != owner) return "nil";
    holder.expires_at = std::max(holder.expires_at, now + lease);
    ++holder.holds;
    return fmt::format("GRANTED {} {} {}", holder.fence, holder.holds, holder.expires_at - now);
  }

  std::string release(const std::string& name, std::uint64_t fence) {
    const auto found = holders.find(name);
    if (found == holders.end() || found->second.fence != fence) return refuse(name, fence);
    const std::uint32_t left = --found->second.holds;
    if (left == 0) holders.erase(found);
    return fmt::format("RELEASED {}", left);
  }

  std::string extend(const std::string& name, std::uint64_t fence, std::int64_t now,
                     std::optional<std::int64_t> lease) {
    const auto found = holders.find(name);
    if (found == holders.end() || found->second.fence != fence) return refuse(name, fence);
    found->second.expires_at = std::max(found->second.expires_at, now + lease.value_or(found->second.lease));
    return fmt::format("EXTENDED {}", found->second.expires_at - now);
  }

  bool force(const std::string& name) {
    const auto found = holders.find(name);
    if (found == holders.end()) return false;
    lose(found);
    return true;
  }

  void end_session(const std::string& session) {
    for (auto next = holders.begin(); next != holders.end();) {
      next = next->second.session == session ? lose(next) : std::next(next);
    }
  }

  void expire(std::int64_t now) {
    for (auto next = holders.begin(); next != holders.end();) {
      next = now > next->second.expires_at ? lose(next) : std::next(next);
    }
  }

  std::map<std::string, Holder> holders;

 private:
  std::map<std::string, Holder>::iterator lose(std::map<std::string, Holder>::iterator of) {
    lost_[of->second.fence] = of->first;
    return holders.erase(of);
  }
  std::string refuse(const std::string& name, std::uint64_t fence) {
    const auto found = lost_.find(fence);
    return found != lost_.end() && found->second == name ? "EXPIRED" : "NOTHELD";
  }

  std::map<std::uint64_t, std::string> lost_;  // by fence, the name
};

std::string word(const Result<std::optional<LockGrant>>& answer) {
  if (!answer) return std::string(to_string(answer.error().code));
  if (!*answer) return "nil";
  return fmt::format("GRANTED {} {} {}", (*answer)->fence->value, (*answer)->holds, (*answer)->remaining.count());
}

class LockModelTest : public testing::TestWithParam<std::uint64_t> {};

TEST_P(LockModelTest, TheBookAnswersAsTheNaiveOne) {
  Ledger ledger(GetParam(), 50);
  Dice dice(GetParam() + 200);
  ledger.settings.retention_time = std::chrono::hours(24 * 365);
  NaiveLocks naive;
  std::vector<std::pair<std::string, std::string>> grants;
  for (int i = 0; i < 8'000 && !HasFailure(); ++i) {
    ledger.advance(Millis{static_cast<std::int64_t>(dice.roll(100))});
    naive.expire(ledger.now.ms);
    std::string name = fmt::format("i{}", dice.roll(8));
    std::string token = "junk";
    if (!grants.empty()) {
      const std::size_t back =
          dice.one_in(4) ? dice.roll(grants.size()) : dice.roll(std::min<std::size_t>(8, grants.size()));
      token = grants[grants.size() - 1 - back].second;
      if (!dice.one_in(10)) name = grants[grants.size() - 1 - back].first;
    }
    const std::uint64_t fence = Token::parse(token).value_or(Token{}).fence.value;
    const auto lease = static_cast<std::int64_t>(1 + dice.roll(3'000));
    const std::string owner = fmt::format("o{}", dice.roll(3));
    const std::string session = fmt::format("s{}", dice.roll(3));
    switch (dice.roll(10)) {
      case 0:
      case 1:
      case 2: {
        LockGiveBack request{};
        request.lock = {"d", name};
        request.token = token;
        const auto left = ledger.ask(request);
        EXPECT_EQ(naive.release(name, fence),
                  left ? fmt::format("RELEASED {}", *left) : std::string(to_string(left.error().code)));
        break;
      }
      case 3: {
        const bool given = dice.one_in(2);
        const auto extended =
            ledger.ask(LockExtension{{"d", name}, token, given ? std::optional(Millis{lease}) : std::nullopt});
        EXPECT_EQ(naive.extend(name, fence, ledger.now.ms, given ? std::optional(lease) : std::nullopt),
                  extended ? fmt::format("EXTENDED {}", extended->remaining.count())
                           : std::string(to_string(extended.error().code)));
        break;
      }
      case 4: {
        if (dice.one_in(3)) {
          EXPECT_EQ(naive.force(name), ledger.ask(LockForce{{"d", name}}).value());
        }
        break;
      }
      case 5: {
        if (!dice.one_in(5)) break;
        while (const Lock* lock = ledger.locks().first_of(session)) ledger.write(LockBook::decide_disconnection(*lock));
        naive.end_session(session);
        break;
      }
      default: {
        LockAcquire request{};
        request.lock = {"d", name};
        request.owner = owner;
        request.lease = Millis{lease};
        const bool bound = dice.one_in(2);
        if (bound) request.session = session;
        const std::uint64_t next = ledger.state().fence().value + 1;
        const auto answer = ledger.ask(request);
        EXPECT_EQ(naive.acquire(name, owner, bound ? session : "", ledger.now.ms, lease, next), word(answer));
        if (answer && *answer) grants.emplace_back(name, (*answer)->token);
        break;
      }
    }
    EXPECT_EQ(naive.holders.size(), ledger.locks().locks()) << "operation " << i;
  }
  EXPECT_GT(ledger.written(), 2'000U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, LockModelTest, testing::Values(1, 2, 3));

}  // namespace
}  // namespace tenure
