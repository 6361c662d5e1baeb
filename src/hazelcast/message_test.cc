#include "hazelcast/message.h"

#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/entropy.h"
#include "hazelcast/codec.h"
#include "hazelcast/data.h"
#include "hazelcast/testing.h"

namespace tenure::hazelcast {
namespace {

constexpr Uuid kMember{.high = 0x0123456789abcdef, .low = 0x8edcba9876543210};

Message message_of(std::string_view bytes) {
  MessageStream stream;
  stream.feed(bytes);
  auto message = stream.next();
  EXPECT_TRUE(message && *message);
  return message && *message ? **message : Message{.frames = {{.content = std::string(64, '\0')}}};
}

TEST(HazelcastMessage, ARequestIsWhatTheProtocolSays) {
  const std::string bytes =
      write_lock_call({.verb = LockVerb::kUnlock, .map = "m", .key = "kk", .thread = 5, .reference = 6}, 0, 9, 3);
  std::string expected;
  pack(expected, std::uint32_t{6 + 32});
  pack(expected, std::uint16_t{0xC000});
  pack(expected, std::uint32_t{0x011300});
  pack(expected, std::int64_t{3});
  pack(expected, std::int32_t{9});
  pack(expected, std::int64_t{5});
  pack(expected, std::int64_t{6});
  pack(expected, std::uint32_t{7});
  pack(expected, std::uint16_t{0});
  expected += "m";
  pack(expected, std::uint32_t{8});
  pack(expected, std::uint16_t{1 << 13});
  expected += "kk";
  EXPECT_EQ(bytes, expected);
}

TEST(HazelcastMessage, IsCutOutOfWhateverPiecesArrive) {
  const std::string bytes = welcome_of(kMember, 4, 271) + bool_answer(0x011100, 5, true);
  MessageStream stream;
  std::vector<Message> messages;
  for (const char byte : bytes) {
    stream.feed({&byte, 1});
    auto message = stream.next();
    ASSERT_TRUE(message);
    if (*message) messages.push_back(**message);
  }
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages[0].correlation(), 4);
  EXPECT_EQ(messages[1].correlation(), 5);
  EXPECT_EQ(read_lock_answer(LockVerb::kTryLock, messages[1]), true);
}

TEST(HazelcastMessage, OfAWrongShapeIsRefusedAndNotBelieved) {
  const auto feed = [](const std::string& bytes) {
    MessageStream stream;
    stream.feed(bytes);
    return stream.next();
  };
  std::string short_frame;
  pack(short_frame, std::uint32_t{5});
  pack(short_frame, std::uint16_t{0xC000});
  EXPECT_FALSE(feed(short_frame));
  std::string huge;
  pack(huge, std::uint32_t{0xFFFFFFFF});
  pack(huge, std::uint16_t{0xC000});
  EXPECT_FALSE(feed(huge));
  std::string fragment = Speech(0x101, 1).bytes();
  fragment[5] = '\x20';  // final, but neither begin nor end of a whole
  EXPECT_FALSE(feed(fragment));
  std::string empty;
  pack(empty, std::uint32_t{6});
  pack(empty, std::uint16_t{0xE000});
  EXPECT_FALSE(feed(empty));
  for (const std::int32_t negative : {-1, -6, std::numeric_limits<std::int32_t>::min()}) {
    std::string frame;
    pack(frame, negative);
    pack(frame, std::uint16_t{0xC000});
    EXPECT_FALSE(feed(frame)) << negative;
  }
}

TEST(HazelcastMessage, WithoutEndIsRefusedBeforeItFillsTheMemory) {
  std::string frame;
  pack(frame, std::uint32_t{6});
  pack(frame, std::uint16_t{0});
  MessageStream many;
  many.feed(Speech(0x302, 1, flags::kEvent).begin().bytes().substr(0, 6 + 12));
  std::string block;
  for (int i = 0; i < 1024; ++i) block += frame;
  bool is_refused = false;
  for (std::size_t i = 0; i <= MessageStream::kFramesMax / 1024 && !is_refused; ++i) {
    many.feed(block);
    is_refused = !many.next();
  }
  EXPECT_TRUE(is_refused);

  MessageStream large;
  std::string half;
  pack(half, static_cast<std::uint32_t>(MessageStream::kMessageBytesMax / 2));
  pack(half, std::uint16_t{0xC000});
  large.feed(half + std::string(MessageStream::kMessageBytesMax / 2 - 6, '\0'));
  EXPECT_TRUE(large.next());
  large.feed(half);
  EXPECT_TRUE(large.next());  // just as much as is allowed may come
  large.feed(std::string(MessageStream::kMessageBytesMax / 2 - 6, '\0') + frame);
  EXPECT_FALSE(large.next());
}

// Whatever arrives, it is a message, or not yet one, or refused; and reading it ends.
TEST(HazelcastMessage, OfRandomBytesDoesNoHarm) {
  SeededEntropy entropy{12};
  const std::vector<std::string> good = {welcome_of(kMember, 4, 271),
                                         members_of({{.uuid = kMember, .host = "h", .port = 1}}, 2),
                                         partitions_of({{kMember, {0, 2}}}, 2),
                                         error_answer(1, 62, "WrongTargetException"), bool_answer(0x011100, 5, true)};
  int messages = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = good[entropy.next() % good.size()];
    for (std::uint64_t changes = entropy.next() % 4; changes > 0; --changes) {
      bytes[entropy.next() % bytes.size()] = static_cast<char>(entropy.next());
    }
    if (entropy.next() % 4 == 0) bytes.resize(entropy.next() % bytes.size());
    MessageStream stream;
    stream.feed(bytes);
    for (auto message = stream.next(); message && *message; message = stream.next()) {
      ++messages;
      static_cast<void>(read_welcome(**message));
      static_cast<void>(read_news(**message));
      static_cast<void>(read_error(**message));
      static_cast<void>(read_lock_answer(LockVerb::kTryLock, **message));
    }
  }
  EXPECT_GT(messages, 1000);
}

TEST(HazelcastMessage, ThatEndsEarlyGivesNothing) {
  const std::string whole = welcome_of(kMember, 4, 271);
  EXPECT_TRUE(read_welcome(message_of(whole)));
  EXPECT_FALSE(read_welcome(message_of(Speech(0x101, 4).value(std::uint8_t{0}).bytes())));
  EXPECT_FALSE(read_lock_answer(LockVerb::kIsLocked, message_of(Speech(0x011201, 4).bytes())));
  EXPECT_FALSE(read_lock_answer(LockVerb::kUnlock, message_of(bool_answer(0x011100, 4, true))));
  EXPECT_FALSE(read_news(message_of(Speech(0x302, 4, flags::kEvent).begin().bytes())));
  EXPECT_FALSE(read_news(message_of(Speech(0x302, 4, flags::kEvent).end().bytes())));
  EXPECT_FALSE(read_news(message_of(Speech(0x303, 4, flags::kEvent).begin().begin().end().bytes())));
}

TEST(HazelcastCodec, ReadsAWelcomeAndARefusal) {
  const auto welcome = read_welcome(message_of(welcome_of(kMember, 4, 271)));
  ASSERT_TRUE(welcome);
  EXPECT_EQ(welcome->member, kMember);
  EXPECT_EQ(welcome->cluster, kClusterId);
  EXPECT_EQ(welcome->partitions, 271);
  for (const std::int32_t partitions : {0, -271, (1 << 20) + 1, std::numeric_limits<std::int32_t>::max()}) {
    EXPECT_FALSE(read_welcome(message_of(welcome_of(kMember, 4, partitions)))) << partitions;
  }
  const auto refusal = read_welcome(message_of(refusal_of_sign_in(4, 1)));
  ASSERT_FALSE(refusal);
  EXPECT_EQ(refusal.error().code, ErrorCode::kNoAuth);
}

TEST(HazelcastCodec, ReadsMembersAndWhatTheyOwn) {
  const std::vector<Member> members{{.uuid = kMember, .host = "127.0.0.1", .port = 5701},
                                    {.uuid = {1, 2}, .host = "::1", .port = 5702, .is_lite = true}};
  const auto news = read_news(message_of(members_of(members, 2)));
  ASSERT_TRUE(news && news->members);
  EXPECT_EQ(*news->members, members);
  for (const std::int32_t port : {0, -1, 65536}) {
    EXPECT_FALSE(read_news(message_of(members_of({{.uuid = kMember, .host = "h", .port = port}}, 2)))) << port;
  }
  const auto table = read_news(message_of(partitions_of({{kMember, {0, 2}}, {{1, 2}, {1}}}, 2)));
  ASSERT_TRUE(table && table->partitions);
  ASSERT_EQ(table->partitions->size(), 2U);
  EXPECT_EQ((*table->partitions)[0].member, kMember);
  EXPECT_EQ((*table->partitions)[0].partitions, (std::vector<std::int32_t>{0, 2}));
  EXPECT_EQ((*table->partitions)[1].partitions, (std::vector<std::int32_t>{1}));
}

TEST(HazelcastCodec, KnowsWhichErrorsMayPass) {
  const auto moved = read_error(message_of(error_answer(1, 62, "WrongTargetException")));
  ASSERT_TRUE(moved);
  EXPECT_TRUE(moved->may_pass());
  EXPECT_EQ(moved->text, "WrongTargetException: because");
  const auto other = read_error(message_of(error_answer(1, 26, "IllegalMonitorStateException")));
  ASSERT_TRUE(other);
  EXPECT_FALSE(other->may_pass());
  EXPECT_EQ(other->failure().code, ErrorCode::kNotHeld);
  EXPECT_FALSE(read_error(message_of(bool_answer(0x011100, 1, true))));
}

// What a Hazelcast 5.3.6 in Java makes of the same texts.
TEST(HazelcastData, IsWhatJavaMakesOfAText) {
  const auto hex = [](std::string_view bytes) {
    std::string text;
    for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return text;
  };
  EXPECT_EQ(hex(text_data("orders::12345")), "00000000fffffff50000000d6f72646572733a3a3132333435");
  EXPECT_EQ(hex(text_data("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80::x")),
            "00000000fffffff50000000cc3a4e282acf09f98803a3a78");
}

TEST(HazelcastData, BelongsToThePartitionThatJavaFinds) {
  EXPECT_EQ(partition_of(text_data(""), 271), 11);
  EXPECT_EQ(partition_of(text_data("a"), 271), 73);
  EXPECT_EQ(partition_of(text_data("ab"), 271), 132);
  EXPECT_EQ(partition_of(text_data("abc"), 271), 13);
  EXPECT_EQ(partition_of(text_data("orders::12345"), 271), 131);
  EXPECT_EQ(partition_of(text_data("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80::x"), 271), 38);
}

}  // namespace
}  // namespace tenure::hazelcast
