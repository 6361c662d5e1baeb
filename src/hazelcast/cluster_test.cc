#include "hazelcast/cluster.h"

#include <gtest/gtest.h>

#include "hazelcast/data.h"
#include "hazelcast/testing.h"

namespace tenure::hazelcast {
namespace {

constexpr Uuid kOne{.high = 1, .low = 1};
constexpr Uuid kTwo{.high = 2, .low = 2};
constexpr std::uint32_t kSignIn = 0x100;
constexpr std::uint32_t kWatch = 0x300;
constexpr std::uint32_t kPing = 0xB00;
constexpr std::uint32_t kTryLock = 0x011100;
constexpr std::uint32_t kUnlock = 0x011300;
constexpr std::int32_t kMigrating = 39;

// Two members at ports 1 and 2, of which the first is known from the beginning; kOne owns the even partitions.
class HazelcastCluster : public ::testing::Test {
 protected:
  static Settings settings() {
    Settings settings;
    settings.addresses = {"one:1"};
    return settings;
  }
  static std::vector<Member> both() {
    return {{.uuid = kOne, .host = "one", .port = 1}, {.uuid = kTwo, .host = "two", .port = 2}};
  }

  void pass(Millis time) {
    now += time;
    cluster.tend(now);
  }
  // What was said at that end since the last look.
  std::vector<Message> heard(LinkId id) {
    std::string& output = network.ends.at(id).output;
    MessageStream stream;
    stream.feed(std::string_view(output).substr(output.starts_with(kGreeting) ? kGreeting.size() : 0));
    output.clear();
    std::vector<Message> messages;
    for (auto next = stream.next(); next && *next; next = stream.next()) messages.push_back(**next);
    return messages;
  }
  Message heard_one(LinkId id, std::uint32_t type) {
    auto messages = heard(id);
    EXPECT_EQ(messages.size(), 1U);
    if (messages.empty()) return {.frames = {{.content = std::string(64, '\0')}}};
    EXPECT_EQ(messages.front().type(), type);
    return messages.front();
  }
  void say(LinkId id, const std::string& bytes) {
    cluster.received(id, bytes, now);
    cluster.tend(now);
  }
  // The member accepts the connection and the client.
  void accept(LinkId id, const Uuid& member, const Uuid& of = kClusterId) {
    cluster.connected(id, now);
    EXPECT_TRUE(network.ends.at(id).output.starts_with("CP2"));
    say(id, welcome_of(member, heard_one(id, kSignIn).correlation(), 4, of));
  }
  void tell_all(LinkId id) {
    const std::int64_t correlation = heard_one(id, kWatch).correlation();
    say(id, members_of(both(), correlation));
    say(id, partitions_of({{kOne, {0, 2}}, {kTwo, {1, 3}}}, correlation));
  }
  // Both members are connected: at links 1 and 2.
  void come_up() {
    cluster.tend(now);
    accept(1, kOne);
    tell_all(1);
    ASSERT_EQ(network.ends.size(), 2U);
    EXPECT_EQ(network.ends.at(2).address, (HostAndPort{"two", 2}));
    accept(2, kTwo);
    ASSERT_EQ(cluster.links(), 2U);
  }
  std::shared_ptr<Call> try_lock(const std::string& key, Millis wait = Millis{0}) {
    auto call = std::make_shared<Call>();
    call->what = {
        .verb = LockVerb::kTryLock, .map = "m", .key = text_data(key), .thread = 7, .reference = 8, .lease_ms = 1000};
    call->begun = now;
    call->wait_until = now + wait;
    call->deadline = call->wait_until + Millis{10'000};
    call->done = [this](Result<bool> result) {
      answers.push_back(std::move(result));
      return is_awaited;
    };
    cluster.invoke(call);
    cluster.tend(now);
    return call;
  }
  static std::string key_on(std::int32_t partition) {
    for (int i = 0;; ++i) {
      std::string key = fmt::format("key{}", i);
      if (partition_of(text_data(key), 4) == partition) return key;
    }
  }

  Millis now{1000};
  StageNetwork network;
  SeededEntropy entropy{7};
  // Before the cluster, which answers whatever is left when it ends.
  std::vector<Result<bool>> answers;
  bool is_awaited = true;
  Cluster cluster{settings(), network, entropy, now};
};

TEST_F(HazelcastCluster, IsUpOnceAMemberHasToldOfTheOthers) {
  cluster.tend(now);
  EXPECT_FALSE(cluster.is_up());
  accept(1, kOne);
  EXPECT_FALSE(cluster.is_up());
  tell_all(1);
  EXPECT_TRUE(cluster.is_up());
}

TEST_F(HazelcastCluster, AsksTheOwnerOfTheKey) {
  come_up();
  try_lock(key_on(1));
  EXPECT_TRUE(heard(1).empty());
  const Message asked = heard_one(2, kTryLock);
  say(2, bool_answer(kTryLock, asked.correlation(), true));
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0], true);
}

TEST_F(HazelcastCluster, AsksAnyMemberWhileTheOwnerIsNotConnected) {
  cluster.tend(now);
  accept(1, kOne);
  tell_all(1);
  try_lock(key_on(1));
  EXPECT_EQ(heard_one(1, kTryLock).type(), kTryLock);
}

TEST_F(HazelcastCluster, AnswersComeInAnyOrder) {
  come_up();
  try_lock(key_on(0), Millis{5000});
  const std::int64_t waits = heard_one(1, kTryLock).correlation();
  try_lock(key_on(2));
  say(1, bool_answer(kTryLock, heard_one(1, kTryLock).correlation(), true));
  EXPECT_EQ(answers.size(), 1U);
  say(1, bool_answer(kTryLock, waits, false));
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[1], false);
}

TEST_F(HazelcastCluster, ACallAmidAMigrationIsAskedAgainUnderItsReference) {
  come_up();
  try_lock(key_on(0));
  const Message first = heard_one(1, kTryLock);
  say(1, error_answer(first.correlation(), kMigrating, "PartitionMigratingException"));
  const Message second = heard_one(1, kTryLock);
  EXPECT_NE(first.correlation(), second.correlation());
  // All but the correlation is the same.
  EXPECT_EQ(first.frames[0].content.substr(12), second.frames[0].content.substr(12));
  say(1, bool_answer(kTryLock, second.correlation(), true));
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0], true);
}

TEST_F(HazelcastCluster, ACallThatGoesOnFailingIsAskedAgainAfterLongerAndLongerPauses) {
  come_up();
  try_lock(key_on(0));
  int asked = 0;
  for (; now < Millis{20'000} && answers.empty(); pass(Millis{1})) {
    for (const Message& message : heard(1)) {
      if (message.type() != kTryLock) continue;
      ++asked;
      say(1, error_answer(message.correlation(), kMigrating, "PartitionMigratingException"));
    }
    cluster.received(2, bool_answer(kPing, 99999, true), now);
  }
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].error().code, ErrorCode::kUnavailable);
  EXPECT_GT(asked, 10);
  EXPECT_LT(asked, 100);
}

TEST_F(HazelcastCluster, ACallWhoseConnectionBreaksIsAskedAgainElsewhere) {
  come_up();
  try_lock(key_on(0), Millis{5000});
  heard_one(1, kTryLock);
  pass(Millis{100});
  cluster.closed(1, "gone", now);
  cluster.tend(now);
  // The other one tells of the cluster from now on.
  const auto messages = heard(2);
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages[0].type(), kWatch);
  EXPECT_EQ(messages[1].type(), kTryLock);
  say(2, bool_answer(kTryLock, messages[1].correlation(), true));
  EXPECT_EQ(answers.size(), 1U);
}

TEST_F(HazelcastCluster, WhatNobodyWaitsForAnyMoreIsGivenBack) {
  come_up();
  is_awaited = false;
  try_lock(key_on(0), Millis{5000});
  say(1, bool_answer(kTryLock, heard_one(1, kTryLock).correlation(), true));
  const Message back = heard_one(1, kUnlock);
  std::int64_t thread = 0;
  std::memcpy(&thread, back.frames[0].content.data() + kRequestValues, sizeof thread);
  EXPECT_EQ(thread, 7);
}

TEST_F(HazelcastCluster, WhatIsNotAnsweredInTimeMayHaveBeenAcquiredAndIsGivenBack) {
  come_up();
  const auto call = try_lock(key_on(0));
  heard_one(1, kTryLock);
  for (int i = 0; i < 10; ++i) {
    pass(Millis{1000});
    say(1, bool_answer(kPing, 99999, true));
    say(2, bool_answer(kPing, 99999, true));
  }
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].error().code, ErrorCode::kUnavailable);
  EXPECT_NE(answers[0].error().message.find("may or may not"), std::string::npos);
  EXPECT_EQ(heard(1).back().type(), kUnlock);
}

TEST_F(HazelcastCluster, AReentryIsNeverGivenBackByAGuess) {
  come_up();
  const auto call = try_lock(key_on(0));
  call->is_reentry = true;
  heard_one(1, kTryLock);
  cluster.closed(1, "gone", now);
  cluster.closed(2, "gone", now);
  pass(Millis{10'000});
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_FALSE(answers[0]);
}

TEST_F(HazelcastCluster, ASilentMemberIsAskedAndThenGivenUp) {
  come_up();
  pass(Millis{5000});
  EXPECT_EQ(heard_one(1, kPing).type(), kPing);
  say(1, Speech(kPing + 1, 99).value(std::uint8_t{0}).bytes());
  EXPECT_EQ(cluster.links(), 2U);
  pass(Millis{10'000});
  EXPECT_EQ(cluster.links(), 1U);
  EXPECT_TRUE(network.ends.at(1).is_open);
  EXPECT_FALSE(network.ends.at(2).is_open);
}

TEST_F(HazelcastCluster, ThatWentAwayIsDialledAgainAndAgain) {
  come_up();
  pass(Millis{100});
  cluster.closed(1, "gone", now);
  cluster.closed(2, "gone", now);
  try_lock(key_on(0));
  EXPECT_FALSE(cluster.is_up());
  std::size_t dialled = network.ends.size();
  EXPECT_GT(dialled, 2U);
  for (const Millis until = now + Millis{5000}; now < until; pass(Millis{10})) {
    for (auto& [id, end] : network.ends) {
      if (end.is_open) cluster.closed(id, "refused", now);
    }
  }
  EXPECT_GT(network.ends.size(), dialled + 3);
  EXPECT_LT(network.ends.size(), dialled + 60);
  EXPECT_TRUE(answers.empty());
  // Now somebody is there: a new cluster, with new members.
  LinkId last = network.ends.rbegin()->first;
  while (!network.ends.at(last).is_open) {
    pass(Millis{100});
    last = network.ends.rbegin()->first;
  }
  accept(last, kTwo, {.high = 5, .low = 5});
  const auto asked = heard(last);
  ASSERT_EQ(asked.size(), 1U);
  say(last, members_of({both()[1]}, asked[0].correlation()));
  say(last, bool_answer(kTryLock, heard_one(last, kTryLock).correlation(), true));
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0], true);
}

TEST_F(HazelcastCluster, ALongWaitIsGivenUpWhenThereHasBeenNobodyToAskForAWhile) {
  come_up();
  try_lock(key_on(0), Millis{600'000});
  pass(Millis{4000});
  cluster.closed(1, "gone", now);
  cluster.closed(2, "gone", now);
  pass(Millis{9999});
  EXPECT_TRUE(answers.empty());
  pass(Millis{1});
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].error().code, ErrorCode::kUnavailable);
}

TEST_F(HazelcastCluster, ThatCannotBeReachedIsSaidWithTheReason) {
  cluster.tend(now);
  try_lock("key");
  cluster.closed(1, "Connection refused", now);
  pass(Millis{10'000});
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].error().code, ErrorCode::kUnavailable);
  EXPECT_NE(answers[0].error().message.find("nothing was asked: one:1: Connection refused"), std::string::npos)
      << answers[0].error().message;
}

TEST_F(HazelcastCluster, ThatDoesNotWantThisClientSaysSoAtOnce) {
  cluster.tend(now);
  try_lock("key");
  cluster.connected(1, now);
  say(1, refusal_of_sign_in(heard_one(1, kSignIn).correlation(), 1));
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].error().code, ErrorCode::kNoAuth);
}

TEST_F(HazelcastCluster, AMemberThatDoesNotSpeakTheProtocolIsLeft) {
  cluster.tend(now);
  cluster.connected(1, now);
  cluster.received(1, "HTTP/1.1 400 Bad Request\r\n\r\n", now);
  EXPECT_FALSE(network.ends.at(1).is_open);
}

// Of another number of partitions: their owners would be looked for where there are none.
TEST_F(HazelcastCluster, AMemberThatCountsPartitionsOtherwiseIsLeft) {
  cluster.tend(now);
  accept(1, kOne);
  tell_all(1);
  cluster.connected(2, now);
  say(2, welcome_of(kTwo, heard_one(2, kSignIn).correlation(), 1000));
  EXPECT_EQ(cluster.links(), 1U);
  EXPECT_FALSE(network.ends.at(2).is_open);
  for (std::int32_t partition = 0; partition < 4; ++partition) try_lock(key_on(partition));
  EXPECT_EQ(heard(1).size(), 4U);
}

// It names partitions and members that there are not.
TEST_F(HazelcastCluster, WhatAMemberTellsOfOthersNeedNotMakeSense) {
  come_up();
  say(1, partitions_of({{Uuid{.high = 9, .low = 9}, {0, 1, -1, 4, 1'000'000}}}, 0));
  try_lock(key_on(0));
  EXPECT_EQ(answers.size(), 0U);
  EXPECT_EQ(heard(1).size() + heard(2).size(), 1U);
  say(1, members_of({}, 0));
  EXPECT_FALSE(cluster.is_up());
  EXPECT_EQ(cluster.links(), 2U);
}

TEST(HazelcastAddress, IsAHostWithOrWithoutAPort) {
  EXPECT_EQ(read_address("a"), (HostAndPort{"a", 5701}));
  EXPECT_EQ(read_address("a:1"), (HostAndPort{"a", 1}));
  EXPECT_EQ(read_address("[::1]:2"), (HostAndPort{"::1", 2}));
  EXPECT_EQ(read_address("[::1]"), (HostAndPort{"::1", 5701}));
  for (const char* wrong : {"", ":1", "a:", "a:0", "a:65536", "a:b", "[::1", "[::1]2", "[]:1", "::1"}) {
    EXPECT_FALSE(read_address(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace tenure::hazelcast
