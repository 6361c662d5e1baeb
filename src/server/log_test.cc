// One event is one line, whatever is in it.
#include "server/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::server {
namespace {

TEST(LogTest, AnEventHasFieldsAndAMessage) {
  EXPECT_EQ(text_line("listening", "", {{"protocol", "resp"}, {"address", "[::1]:8368"}}),
            "listening protocol=resp address=[::1]:8368");
  EXPECT_EQ(text_line("client.cut_off", "it stalls", {{"client", 7}}), R"(client.cut_off client=7 msg="it stalls")");
  EXPECT_EQ(json_members("client.cut_off", "it stalls", {{"client", 7}, {"address", "a b"}}),
            R"("event":"client.cut_off","client":7,"address":"a b","msg":"it stalls")");
}

TEST(LogTest, NoValueLooksLikeAnotherLineOrField) {
  const std::string forged = "x\"\n2026-05-01T12:00:00.000Z info stopped client=1";
  EXPECT_EQ(text_line("e", "", {{"name", forged}}),
            R"(e name="x\"\\x0a2026-05-01T12:00:00.000Z info stopped client=1")");
  EXPECT_EQ(text_line("e", "", {{"name", "a b=c"}}), R"(e name="a b=c")");
  EXPECT_EQ(text_line("e", "", {{"name", ""}}), R"(e name="")");
  EXPECT_EQ(text_line("e", "\x1b[2J", {}), R"(e msg="\\x1b[2J")");
  EXPECT_EQ(json_members("e", "", {{"name", "\xff\r\n\xc2\x85"}}), R"("event":"e","name":"\\xff\\x0d\\x0a\\xc2\\x85")");
}

TEST(LogTest, TextStaysReadable) { EXPECT_EQ(text_line("e", "caf\xc3\xa9", {}), "e msg=\"caf\xc3\xa9\""); }

TEST(LogValveTest, LetsSomeThroughAtOnceAndThenAFewASecond) {
  LogValve valve(2, 1);
  EXPECT_TRUE(valve.lets_through(0));
  EXPECT_TRUE(valve.lets_through(0));
  EXPECT_FALSE(valve.lets_through(0.1));
  EXPECT_FALSE(valve.lets_through(0.2));
  EXPECT_TRUE(valve.lets_through(1.1));
  EXPECT_FALSE(valve.lets_through(1.2));
  EXPECT_EQ(valve.take_held_back(), 3U);
  EXPECT_EQ(valve.take_held_back(), 0U);
  EXPECT_TRUE(valve.lets_through(1000));
  EXPECT_TRUE(valve.lets_through(1000));
  EXPECT_FALSE(valve.lets_through(1000));
}

}  // namespace
}  // namespace tenure::server
