#include "wire/resp_reply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/resp_writer.h"

namespace tenure::wire {
namespace {

using ::testing::HasSubstr;
using ReplyKind = RespReply::Kind;

// A reply with everything in it, as the server writes it.
std::string rich_reply(Protocol protocol) {
  std::string bytes;
  RespWriter out(bytes, protocol);
  out.array(4);
  out.value("bulk\r\nwith a line's end");
  out.map(2);
  out.field("fence", Fence{7});
  out.field("nothing", std::optional<std::string>());
  out.simple("OK");
  out.error({ErrorCode::kNoTask, "which?"});
  out.finish();
  return bytes;
}

RespReply whole_reply(std::string_view bytes) {
  const auto first = first_reply(bytes);
  EXPECT_TRUE(first && *first) << bytes;
  if (!first || !*first) return {};
  EXPECT_EQ(bytes.size(), (*first)->consumed);
  return (*first)->reply;
}

TEST(RespReplyTest, ReadsWhatTheWriterWrites) {
  const RespReply reply = whole_reply(rich_reply(Protocol::kResp3));
  ASSERT_EQ(ReplyKind::kArray, reply.kind);
  ASSERT_EQ(4U, reply.items.size());
  EXPECT_EQ("bulk\r\nwith a line's end", reply.items[0].text);
  ASSERT_NE(nullptr, reply.items[1].find("fence"));
  EXPECT_EQ("7", reply.items[1].find("fence")->text);
  ASSERT_NE(nullptr, reply.items[1].find("nothing"));
  EXPECT_EQ(ReplyKind::kNull, reply.items[1].find("nothing")->kind);
  EXPECT_EQ(nullptr, reply.items[1].find("more"));
  EXPECT_EQ(ReplyKind::kSimple, reply.items[2].kind);
  EXPECT_EQ(ReplyKind::kError, reply.items[3].kind);
  EXPECT_EQ("NOTASK which?", reply.items[3].text);
}

TEST(RespReplyTest, AMapIsAnArrayInResp2) {
  const RespReply reply = whole_reply(rich_reply(Protocol::kResp2));
  ASSERT_EQ(4U, reply.items.size());
  EXPECT_EQ(ReplyKind::kArray, reply.items[1].kind);
  EXPECT_EQ(4U, reply.items[1].items.size());
  EXPECT_EQ(ReplyKind::kNull, reply.items[1].items[3].kind);
  EXPECT_EQ(nullptr, reply.items[1].find("fence")) << "which of them are names is not known here";
}

TEST(RespReplyTest, WaitsForTheRestAndLeavesWhatFollows) {
  const std::string bytes = rich_reply(Protocol::kResp3);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto first = first_reply(std::string_view(bytes).substr(0, size));
    ASSERT_TRUE(first) << size;
    EXPECT_FALSE(*first) << size;
  }
  const auto first = first_reply(bytes + "+NEXT\r\n");
  ASSERT_TRUE(first && *first);
  EXPECT_EQ(bytes.size(), (*first)->consumed);
}

TEST(RespReplyTest, RefusesWhatIsNoReply) {
  for (const std::string_view bytes :
       {"\r\n", "?\r\n", "$x\r\n", "$-2\r\n", "*99999999999\r\n", "$1\r\nabc", "%1x\r\n"}) {
    const auto first = first_reply(bytes);
    ASSERT_FALSE(first) << bytes;
    EXPECT_THAT(first.error().message, HasSubstr("expected")) << bytes;
  }
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "*1\r\n";
  EXPECT_FALSE(first_reply(deep));
}

TEST(RespReplyTest, AnAnnouncedCountIsNotBelieved) {
  const auto first = first_reply("*1000000000\r\n:1\r\n");
  ASSERT_TRUE(first);
  EXPECT_FALSE(*first);
}

}  // namespace
}  // namespace tenure::wire
