// Many workers over many domains: never two in one domain, first in first out within each, every message processed.
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/authority.h>
#include "stress.h"

namespace tenure {
namespace {

constexpr std::uint64_t kMessages = kUnderTsan ? 20'000 : 100'000;
constexpr std::uint64_t kDomains = 50;
constexpr std::uint64_t kWorkers = 100;
constexpr std::uint32_t kFailuresMax = 3;  // as many as the settings allow

// One domain, as its workers see it. Only the lease guards `inside`, `done` and `failures`: they are plain on purpose.
struct Room {
  std::string name;
  std::mutex arrival;  // messages of a domain arrive in order
  std::int64_t arrived = 0;

  int inside = 0;
  std::int64_t done = 0;
  std::uint64_t failures = 0;
};

class WorkStress {
 public:
  WorkStress() : rooms_(kDomains) {
    for (std::uint64_t i = 0; i < kDomains; ++i) rooms_[i].name = "domain-" + std::to_string(i);
  }

  void run() {
    on_threads(kWorkers, [this](std::uint64_t number) {
      Dice dice(number);
      while (left_.fetch_sub(1) > 0) receive(rooms_[dice.roll(kDomains)], dice);
    });
  }

  void check() {
    std::int64_t processed = 0;
    for (Room& room : rooms_) {
      const auto domain = authority_->work().inspect(room.name).value();
      EXPECT_FALSE(domain.in_flight);
      EXPECT_EQ(0U, domain.backlog);
      EXPECT_EQ(0U, domain.failed);
      EXPECT_EQ(static_cast<std::uint64_t>(room.arrived), domain.processed);
      EXPECT_EQ(room.arrived, room.done);
      EXPECT_EQ(1U, authority_->work().done(room.name, {}).intervals.size());
      processed += room.done;
    }
    EXPECT_EQ(static_cast<std::int64_t>(kMessages), processed);
    EXPECT_EQ(0, faults_.load());
  }

 private:
  // The next message of a domain: taken, or lined up behind the one that is being worked on.
  void receive(Room& room, Dice& dice) {
    std::optional<Acquired> lease;
    Offset offset;
    {
      const std::scoped_lock lock(room.arrival);
      offset = Offset{room.arrived++};
      lease = arrive(room, offset);
    }
    while (lease) {
      const std::optional<Offset> next = work_on(room, offset, *lease, dice);
      if (!next) return;
      // The hint is followed by the one who got it.
      offset = *next;
      const auto result = authority_->work().try_acquire({.domain = room.name, .offset = offset});
      lease = std::get<Acquired>(result);
      count_fault_if(lease->already);
    }
  }

  // Until the domain takes the message. Between a success and the acquire that its hint leads to, it takes only the
  // head.
  std::optional<Acquired> arrive(Room& room, Offset offset) {
    while (true) {
      try {
        auto result = authority_->work().try_acquire({.domain = room.name, .offset = offset});
        if (std::holds_alternative<Enqueued>(result)) return std::nullopt;
        return std::get<Acquired>(result);
      } catch (const BacklogOrdering& order) {
        count_fault_if(order.domain() != room.name || order.got() != offset || order.expected() >= offset);
        std::this_thread::yield();
      }
    }
  }

  std::optional<Offset> work_on(Room& room, Offset offset, const Acquired& lease, Dice& dice) {
    count_fault_if(++room.inside != 1);
    count_fault_if(room.done != offset.value);
    for (std::uint32_t failures = 0; failures < kFailuresMax && dice.one_in(20); ++failures) {
      const auto result = authority_->work().fail({.domain = room.name, .token = lease.token});
      count_fault_if(std::get<RetryScheduled>(result).retry_count != failures + 1);
      ++room.failures;
    }
    work_a_little(dice);
    ++room.done;
    --room.inside;
    return authority_->work().succeed({.domain = room.name, .token = lease.token}).next;
  }

  void count_fault_if(bool fault) {
    if (fault) ++faults_;
  }

  std::unique_ptr<Authority> authority_ = Authority::in_memory();
  std::vector<Room> rooms_;
  std::atomic<std::int64_t> left_{static_cast<std::int64_t>(kMessages)};
  std::atomic<int> faults_{0};
};

TEST(WorkStressTest, NeverTwoInOneDomainAndFirstInFirstOut) {
  WorkStress stress;
  stress.run();
  stress.check();
}

}  // namespace
}  // namespace tenure
