// A node's thread: loads, follows, leads, and follows again.
#include "server/node.h"

#include <condition_variable>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "authority/reception.h"
#include "authority/shared_testing.h"
#include "base/entropy.h"
#include "server/log.h"

namespace tenure::server {
namespace {

using namespace std::chrono_literals;
using Role = NodeStanding::Role;
using ::testing::HasSubstr;

LockAcquire acquire(std::string_view identifier) {
  LockAcquire acquire;
  acquire.lock = {.domain = "d", .identifier = identifier};
  acquire.owner = "o";
  return acquire;
}

// A node, and the roles that it tells of.
class Machine {
 public:
  Machine(SharedMedium& medium, const std::string& address)
      : journal(medium),
        engine(Engine::stand_by({}, {.clock = clock_, .entropy = entropy_, .journal = journal}).value()),
        node({.engine = *engine, .journal = journal, .election = election, .snapshots = nullptr, .clock = clock_},
             NodeAddress::parse(address)) {}

  void start() {
    node.start({.on_role = [this](bool is_leading) { tell(is_leading ? "leads" : "follows"); },
                .on_broken = [this](const Failure& failure) { tell(failure.message); }});
  }
  // Until it has told so much.
  std::vector<std::string> told(std::size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, 60s, [&] { return told_.size() >= count; }));
    return told_;
  }
  template <class Request>
  Result<ReplyOf<Request>> ask(const Request& request) {
    Reception<ReplyOf<Request>> reception;
    engine->ask(request, reception.callback());
    return reception.wait();
  }
  // Asks until the answer is this word.
  void await_answer(std::string_view word) {
    const Millis deadline = clock_.boot() + 60s;
    std::string found;
    while (found != word && clock_.boot() < deadline) {
      const auto answer = ask(GetLock{{.domain = "d", .identifier = "1"}});
      found = answer ? "OK" : std::string(to_string(answer.error().code));
      std::this_thread::yield();
    }
    EXPECT_EQ(word, found);
  }
  // Asks until it is granted.
  void await_grant(std::string_view identifier) {
    const Millis deadline = clock_.boot() + 60s;
    bool is_granted = false;
    while (!is_granted && clock_.boot() < deadline) is_granted = ask(acquire(identifier)).has_value();
    EXPECT_TRUE(is_granted);
  }

 private:
  void tell(const std::string& what) {
    const std::lock_guard lock(mutex_);
    told_.push_back(what);
    changed_.notify_all();
  }

  SystemClock clock_;
  SeededEntropy entropy_{1};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> told_;

 public:
  SharedMemoryJournal journal;
  HandElection election;
  std::unique_ptr<Engine> engine;
  Node node;
};

class NodeTest : public ::testing::Test {
 protected:
  // Before there are threads that log, as in the server.
  static void SetUpTestSuite() { set_up_log(LogLevel::kError, LogFormat::kText); }

  SharedMedium medium_;
  Machine first_{medium_, "a:1,2"};
  Machine second_{medium_, "b:1,2"};
};

TEST(NodeAddressTest, IsOneText) {
  const NodeAddress address = NodeAddress::parse("[::1]:8368,8369");
  EXPECT_EQ("[::1]:8368", address.resp);
  EXPECT_EQ("[::1]:8369", address.http);
  EXPECT_EQ("[::1]:8368,8369", address.text());
  EXPECT_EQ((NodeAddress{.resp = "a:1", .http = ""}), NodeAddress::parse("a:1"));
  EXPECT_EQ("a:1", NodeAddress::parse("a:1").text());
}

TEST(NodeStandingTest, SaysWhetherClientsMayBeSentHere) {
  NodeStanding standing;
  EXPECT_EQ("the journal is being loaded", fault_in(standing).value());
  standing.role = Role::kFollower;
  EXPECT_EQ("no node is known to lead", fault_in(standing).value());
  standing.leader = NodeAddress::parse("b:1,2");
  EXPECT_EQ(std::nullopt, fault_in(standing));
  standing.lag = 10'001;
  EXPECT_THAT(fault_in(standing).value(), HasSubstr("expected at most 10000, found 10001"));
  standing.role = Role::kLeader;
  EXPECT_EQ(std::nullopt, fault_in(standing));
}

TEST_F(NodeTest, FollowsOnceItHasLoaded) {
  medium_.cut_off(true);
  first_.start();
  EXPECT_EQ(Role::kLoading, first_.node.standing().role);
  EXPECT_EQ(ErrorCode::kUnavailable, first_.ask(acquire("1")).error().code);
  medium_.cut_off(false);
  EXPECT_EQ("follows", first_.told(1).front());
  first_.election.tell_leader(Election::Leader{7, "b:1,2"});
  first_.await_answer("MOVED");
  const NodeStanding standing = first_.node.standing();
  EXPECT_EQ(Role::kFollower, standing.role);
  EXPECT_EQ(7U, standing.epoch);
  EXPECT_EQ("b:2", standing.leader.value().http);
  EXPECT_EQ("b:1", first_.node.other_leader().value().resp);
  first_.election.tell_leader(std::nullopt);
  first_.await_answer("UNAVAILABLE");
}

TEST_F(NodeTest, LeadsWhenItIsElected) {
  first_.start();
  first_.election.elect(medium_.elect());
  EXPECT_EQ("leads", first_.told(2).back());
  EXPECT_TRUE(first_.ask(acquire("1")).value().has_value());
  EXPECT_EQ(Role::kLeader, first_.node.standing().role);
  EXPECT_EQ(std::nullopt, first_.node.other_leader());
  EXPECT_EQ(0, first_.election.resignations());
}

TEST_F(NodeTest, TakesInWhatTheLeaderAppends) {
  first_.start();
  second_.start();
  first_.election.elect(medium_.elect());
  first_.told(2);
  second_.told(1);
  ASSERT_TRUE(first_.ask(acquire("1")).has_value());
  second_.election.set_members({{"a:1,2", 1, 1}, {"b:1,2", 1, 0}});
  second_.election.tell_leader(Election::Leader{1, "a:1,2"});
  second_.journal.tell_news();
  second_.await_answer("MOVED");
  const NodeStanding standing = second_.node.standing();
  EXPECT_EQ(1U, standing.applied);
  EXPECT_EQ(0U, standing.lag);
  ASSERT_EQ(2U, standing.peers.size());
  EXPECT_EQ(Role::kLeader, standing.peers[0].role);
  EXPECT_EQ(1U, standing.peers[1].lag);
}

TEST_F(NodeTest, WritesWhatAllWhoTakePartCanRead) {
  constexpr std::uint64_t kAll = std::variant_size_v<Record>;
  first_.election.set_members({{"a:1,2", kAll, 0, "2.0"}, {"b:1,2", 0, 0, "1.0"}});
  first_.start();
  first_.election.elect(medium_.elect());
  first_.told(2);
  const auto refused = first_.ask(acquire("1"));
  EXPECT_EQ(ErrorCode::kUnavailable, refused.error().code);
  EXPECT_THAT(refused.error().message, HasSubstr("b:1,2 (version 1.0) does not know"));
  // It is upgraded; it could be gone as well.
  first_.election.set_members({{"a:1,2", kAll, 0, "2.0"}, {"b:1,2", kAll, 0, "2.0"}});
  first_.election.tell_leader(Election::Leader{1, "a:1,2"});
  first_.await_grant("1");
}

TEST_F(NodeTest, FollowsAgainWhenItIsDeposed) {
  first_.start();
  first_.election.elect(medium_.elect());
  first_.told(2);
  first_.election.depose("its time is over");
  first_.election.tell_leader(Election::Leader{2, "b:1,2"});
  EXPECT_EQ("follows", first_.told(3).back());
  first_.await_answer("MOVED");
  first_.election.elect(medium_.elect());
  EXPECT_EQ("leads", first_.told(4).back());
  EXPECT_EQ(0, first_.election.resignations());
}

TEST_F(NodeTest, GivesUpWhenItsJournalSaysThatAnotherWasElected) {
  first_.start();
  first_.election.elect(medium_.elect());
  first_.told(2);
  medium_.elect();
  EXPECT_EQ(ErrorCode::kUnavailable, first_.ask(acquire("1")).error().code);
  EXPECT_EQ("follows", first_.told(3).back());
  first_.await_answer("UNAVAILABLE");
  first_.election.elect(medium_.elect());  // told after it resigned
  EXPECT_EQ("leads", first_.told(4).back());
  EXPECT_EQ(1, first_.election.resignations());
  EXPECT_FALSE(first_.ask(GetLock{{.domain = "d", .identifier = "1"}}).value().has_value());
}

TEST_F(NodeTest, AJournalThatCannotBeReplayedIsTheEnd) {
  first_.start();
  first_.told(1);
  medium_.append(medium_.elect(), {{Instant{1}, "no record"}});
  first_.journal.tell_news();
  EXPECT_THAT(first_.told(2).back(), HasSubstr("sequence number 1"));
}

}  // namespace
}  // namespace tenure::server
