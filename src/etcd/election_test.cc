#include "etcd/election.h"

#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "etcd/testing.h"

namespace tenure::etcd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Millis kTerm{5'000};

class Node final : public Election::Listener {
 public:
  Node(FakeEtcd& etcd, std::string address)
      : store(etcd),
        election(store, etcd.clock, Keys("t"),
                 {.address = std::move(address), .records = 7, .version = "1.2", .term = kTerm}) {}

  void on_elected(std::uint64_t elected) override {
    EXPECT_EQ(epoch, 0U);
    epoch = elected;
    epochs.push_back(elected);
  }
  void on_deposed(const std::string& reason) override {
    EXPECT_NE(epoch, 0U);
    epoch = 0;
    why = reason;
  }
  void on_leader(const std::optional<Election::Leader>& now) override { leader = now; }

  // What can be done now; `due` is when the next is.
  void settle() {
    for (int i = 0; i < 8; ++i) {
      due = election.tick(*this);
      store.run();
    }
  }

  FakeStore store;
  EtcdElection election;
  std::uint64_t epoch = 0;
  std::vector<std::uint64_t> epochs;
  std::string why;
  std::optional<Election::Leader> leader;
  Millis due{0};
};

class ElectionTest : public testing::Test {
 protected:
  void pass(Millis time) {
    for (Millis passed{0}; passed < time; passed += Millis{50}) {
      clock_.advance(Millis{50});
      etcd_.expire();
      for (Node* const node : nodes_) {
        if (node == frozen_) continue;
        // What it is told wakes it, too.
        node->store.run();
        node->settle();
        // Whoever believes that it leads is the one that does.
        if (!etcd_.keeps_any_lease_alive && node->epoch != 0 && node->election.certain_until() > clock_.boot()) {
          ASSERT_EQ(etcd_.keys.count("t/leader"), 1U);
          EXPECT_EQ(etcd_.keys.at("t/leader").create_revision, static_cast<Revision>(node->epoch));
        }
      }
    }
  }

  ManualClock clock_;
  FakeEtcd etcd_{clock_};
  Node a_{etcd_, "a:1"};
  Node b_{etcd_, "b:1"};
  std::vector<Node*> nodes_{&a_, &b_};
  Node* frozen_ = nullptr;
};

TEST_F(ElectionTest, TheFirstLeadsAndTheOtherFollows) {
  pass(Millis{100});
  ASSERT_NE(a_.epoch, 0U);
  EXPECT_EQ(b_.epoch, 0U);
  EXPECT_EQ(static_cast<std::uint64_t>(etcd_.keys.at("t/leader").create_revision), a_.epoch);
  EXPECT_EQ(b_.leader, (Election::Leader{a_.epoch, "a:1"}));
  EXPECT_EQ(a_.leader, b_.leader);
}

TEST_F(ElectionTest, ALeaderThatIsAliveLeadsOn) {
  pass(Millis{60'000});
  EXPECT_EQ(a_.epochs.size(), 1U);
  EXPECT_THAT(b_.epochs, IsEmpty());
  EXPECT_GT(a_.election.certain_until(), clock_.boot());
  EXPECT_LE(a_.election.certain_until(), clock_.boot() + kTerm - kTerm / 10);
}

TEST_F(ElectionTest, ALeaderThatIsCutOffIsDeposedBeforeTheNextIsElected) {
  pass(Millis{100});
  a_.store.is_away = true;
  const Millis cut = clock_.boot();
  while (a_.epoch != 0 && clock_.boot() < cut + 2 * kTerm) pass(Millis{50});
  EXPECT_EQ(a_.epoch, 0U);
  EXPECT_EQ(b_.epoch, 0U);
  EXPECT_THAT(a_.why, HasSubstr("not confirmed"));
  while (b_.epoch == 0 && clock_.boot() < cut + 2 * kTerm) pass(Millis{50});
  EXPECT_NE(b_.epoch, 0U);
  EXPECT_LT(clock_.boot(), cut + 2 * kTerm);
  EXPECT_GT(b_.epoch, a_.epochs.front());
}

TEST_F(ElectionTest, OneThatComesBackFollows) {
  pass(Millis{100});
  a_.store.is_away = true;
  pass(2 * kTerm);
  EXPECT_EQ(a_.leader, std::nullopt);
  pass(Millis{60'000});
  a_.store.is_away = false;
  pass(kTerm);
  EXPECT_EQ(a_.epoch, 0U);
  EXPECT_EQ(a_.leader, (Election::Leader{b_.epoch, "b:1"}));
}

TEST_F(ElectionTest, AllGoOnWhenEtcdIsBack) {
  pass(Millis{100});
  a_.store.is_away = b_.store.is_away = true;
  pass(Millis{120'000});
  EXPECT_EQ(a_.epoch + b_.epoch, 0U);
  a_.store.is_away = b_.store.is_away = false;
  pass(kTerm);
  EXPECT_NE(a_.epoch + b_.epoch, 0U);
}

TEST_F(ElectionTest, AFrozenLeaderIsDeposedAsSoonAsItThaws) {
  pass(Millis{100});
  frozen_ = &a_;
  pass(2 * kTerm);
  EXPECT_NE(b_.epoch, 0U);
  EXPECT_LT(a_.election.certain_until(), clock_.boot());
  frozen_ = nullptr;
  a_.election.tick(a_);
  EXPECT_EQ(a_.epoch, 0U);
}

TEST_F(ElectionTest, AKeyThatIsGoneIsSeenAtOnceThoughTheLeaseIsKeptAlive) {
  etcd_.keeps_any_lease_alive = true;
  pass(Millis{100});
  etcd_.end_lease(etcd_.keys.at("t/leader").lease);
  pass(Millis{50});
  EXPECT_EQ(a_.epochs.size(), 1U);
  EXPECT_EQ(a_.epoch, 0U);
  EXPECT_NE(b_.epoch, 0U);
  // Its lease is no use: it gets another.
  pass(kTerm);
  EXPECT_THAT(a_.election.members(), testing::SizeIs(2));
}

TEST_F(ElectionTest, AKeyThatIsGoneIsSeenWithinABeatThoughNoWatchTells) {
  etcd_.keeps_any_lease_alive = true;
  a_.store.is_watchful = false;
  pass(Millis{100});
  etcd_.end_lease(etcd_.keys.at("t/leader").lease);
  pass(kTerm / 3 + Millis{100});
  EXPECT_EQ(a_.epoch, 0U);
}

TEST_F(ElectionTest, OneThatResignsIsFollowedAtOnce) {
  pass(Millis{100});
  a_.election.resign();
  pass(Millis{100});
  EXPECT_EQ(a_.epoch, 0U);
  EXPECT_NE(b_.epoch, 0U);
  EXPECT_THAT(a_.why, HasSubstr("resigned"));
  b_.election.leave();
  pass(2 * kTerm);
  EXPECT_NE(a_.epoch, 0U);
}

TEST_F(ElectionTest, OneThatResignsAloneLeadsAgainAfterATerm) {
  nodes_ = {&a_};
  pass(Millis{100});
  a_.election.resign();
  pass(kTerm - Millis{100});
  EXPECT_EQ(a_.epoch, 0U);
  pass(Millis{200});
  EXPECT_NE(a_.epoch, 0U);
  EXPECT_GT(a_.epochs.back(), a_.epochs.front());
}

TEST_F(ElectionTest, ALostAnswerOfACampaignIsFoundOut) {
  // The first transaction announces the node, the second is the campaign.
  a_.store.txn_fates = {Fate::kAnswered, Fate::kReplyLost};
  nodes_ = {&a_};
  pass(kTerm / 3 + Millis{100});
  EXPECT_EQ(static_cast<std::uint64_t>(etcd_.keys.at("t/leader").create_revision), a_.epoch);
}

TEST_F(ElectionTest, OneThatLeavesIsFollowedAtOnceAndIsNoMember) {
  pass(Millis{100});
  a_.election.leave();
  EXPECT_EQ(etcd_.keys.count("t/leader"), 0U);
  EXPECT_EQ(etcd_.keys.count("t/nodes/a:1"), 0U);
  pass(Millis{100});
  EXPECT_NE(b_.epoch, 0U);
  EXPECT_EQ(a_.election.tick(a_), Millis::max());
}

TEST_F(ElectionTest, ItIsKnownWhoTakesPart) {
  a_.election.tell_applied(41);
  b_.election.tell_applied(42);
  pass(kTerm);
  std::vector<std::string> told;
  for (const auto& member : b_.election.members()) {
    told.push_back(fmt::format("{} {} {} {}", member.address, member.records, member.applied, member.version));
  }
  EXPECT_THAT(told, ElementsAre("a:1 7 41 1.2", "b:1 7 42 1.2"));
  b_.store.is_away = true;
  pass(2 * kTerm);
  EXPECT_THAT(a_.election.members(), testing::SizeIs(1));
}

TEST_F(ElectionTest, ItSaysWhenItIsDue) {
  pass(Millis{100});
  EXPECT_LE(b_.due, clock_.boot() + kTerm / 3);
  EXPECT_GT(b_.due, clock_.boot());
  int woken = 0;
  b_.election.on_due([&] { ++woken; });
  a_.election.leave();
  b_.store.run();
  EXPECT_GT(woken, 0);
}

TEST_F(ElectionTest, EtcdThatIsAwayIsNotAskedWithoutEnd) {
  a_.store.is_away = true;
  nodes_ = {&a_};
  pass(Millis{100});
  a_.store.is_away = false;
  pass(kTerm);
  ASSERT_NE(a_.epoch, 0U);
  a_.store.is_away = true;
  const int before = a_.store.txns;
  pass(Millis{60'000});
  EXPECT_LT(a_.store.txns - before, 2 * 60'000 / (kTerm.count() / 3 / 4));
}

}  // namespace
}  // namespace tenure::etcd
