#include "wire/resp_parser.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "wire/testing.h"

namespace tenure::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using Events = std::vector<std::string>;

RequestLimits small_limits() {
  return {
      .request_bytes_max = 64, .words_max = 4, .line_bytes_max = 32, .skipped_bytes_max = 200, .skipped_words_max = 12};
}

Events whole(std::string_view bytes, const RequestLimits& limits = {}) {
  Receiver receiver(limits);
  receiver.receive(bytes);
  return receiver.events;
}

Events byte_by_byte(std::string_view bytes, const RequestLimits& limits = {}) {
  Receiver receiver(limits);
  for (std::size_t i = 0; i < bytes.size(); ++i) receiver.receive(bytes.substr(i, 1));
  return receiver.events;
}

// However the bytes come in pieces, they must mean the same.
Events always(std::string_view bytes, const RequestLimits& limits = {}) {
  const Events events = whole(bytes, limits);
  EXPECT_EQ(events, byte_by_byte(bytes, limits));
  for (std::size_t split = 0; split <= bytes.size(); ++split) {
    Receiver receiver(limits);
    receiver.receive(bytes.substr(0, split));
    receiver.receive(bytes.substr(split));
    EXPECT_EQ(events, receiver.events) << "split at " << split;
  }
  return events;
}

TEST(RespParserTest, ReadsAnArrayOfBulkStrings) {
  EXPECT_THAT(always("*2\r\n$4\r\nECHO\r\n$5\r\nhello\r\n"), ElementsAre("ECHO|hello"));
}

TEST(RespParserTest, ReadsSizesOfAnyNumberOfDigits) {
  for (const std::string_view zeros : {"", "0", "00", "000000", "0000000", "0000000000000000"}) {
    const std::string bytes = fmt::format("*{0}2\r\n${0}4\r\nECHO\r\n${0}10\r\n0123456789\r\n", zeros);
    EXPECT_THAT(always(bytes), ElementsAre("ECHO|0123456789")) << bytes;
  }
}

TEST(RespParserTest, ReadsRequestsOneBehindTheOther) {
  EXPECT_THAT(always(framed({"A", "1"}) + framed({"B"}) + "PING\r\n" + framed({"C", "", "3"})),
              ElementsAre("A|1", "B", "PING", "C||3"));
}

TEST(RespParserTest, BulkStringsAreBinarySafe) {
  const std::string bytes("\r\n$3\r\n\0*1", 10);
  EXPECT_THAT(always(framed({"X", bytes})), ElementsAre("X|" + bytes));
}

TEST(RespParserTest, EmptyRequestsArePassedOver) {
  EXPECT_THAT(always("*0\r\n\r\n\n  \r\n*0\r\n" + framed({"PING"})), ElementsAre("PING"));
  EXPECT_THAT(always("*0\r\n\r\n"), IsEmpty());
}

TEST(RespParserTest, HalfARequestIsNone) {
  EXPECT_THAT(always("*2\r\n$4\r\nECHO\r\n$5\r\nhel"), IsEmpty());
  EXPECT_THAT(always("*2\r"), IsEmpty());
  EXPECT_THAT(always("PIN"), IsEmpty());
}

TEST(RespParserTest, WordsViewTheBytesThatWereGiven) {
  const std::string bytes = framed({"ECHO", "hello"});
  RespParser parser;
  const auto step = parser.next(bytes);
  ASSERT_EQ(step.outcome, RespParser::Outcome::kRequest);
  EXPECT_EQ(step.consumed, bytes.size());
  EXPECT_GE(step.words[1].data(), bytes.data());
  EXPECT_LT(step.words[1].data(), bytes.data() + bytes.size());
}

// --- lines for people ---

TEST(RespParserTest, ReadsLinesOfWords) {
  EXPECT_THAT(always("PING\r\n  ECHO \t hello  \n"), ElementsAre("PING", "ECHO|hello"));
  EXPECT_THAT(always(std::string("A\0B\vC\fD\n", 8)), ElementsAre("A|B|C|D"));
}

TEST(RespParserTest, ReadsQuotedWords) {
  EXPECT_THAT(always("A \"b c\" 'd e'\r\n"), ElementsAre("A|b c|d e"));
  EXPECT_THAT(always(R"(A "\n\t\r\b\a\\\"\x41\x7a\q" '\' \n')"
                     "\r\n"),
              ElementsAre("A|\n\t\r\b\a\\\"Azq|' \\n"));
  EXPECT_THAT(always("A \"\" ''\n"), ElementsAre("A||"));
  EXPECT_THAT(always("A x\"y z\" k=\"v w\" e\n"), ElementsAre("A|xy z|k=v w|e"));
  EXPECT_THAT(always(R"(A "\x4" "\xzz")"
                     "\n"),
              ElementsAre("A|x4|xzz"));
  EXPECT_THAT(always(R"(A "\x4A\x4a\x4G\x/1")"
                     "\n"),
              ElementsAre("A|JJx4Gx/1"));
}

TEST(RespParserTest, UnclosedQuotesAreRefusedAndTheNextLineIsRead) {
  const std::string refusal = "!ERR Protocol error: expected quotes that are closed, with a blank behind them";
  EXPECT_THAT(always("A \"b\nPING\n"), ElementsAre(refusal, "PING"));
  EXPECT_THAT(always("A 'b\nPING\n"), ElementsAre(refusal, "PING"));
  EXPECT_THAT(always("A \"b\\\nPING\n"), ElementsAre(refusal, "PING"));
  EXPECT_THAT(always("A \"b\"c\nPING\n"), ElementsAre(refusal, "PING"));
  EXPECT_THAT(always("A \"\\x4\nPING\n"), ElementsAre(refusal, "PING"));
}

TEST(RespParserTest, ALineThatIsTooLongBreaksTheConnection) {
  const Events broken{"!!ERR Protocol error: expected a line of at most 32 bytes"};
  EXPECT_EQ(broken, always(std::string(100, 'x'), small_limits()));
  EXPECT_EQ(broken, always(std::string(33, 'x') + "\n", small_limits()));
  EXPECT_THAT(always(std::string(32, 'x') + "\n", small_limits()), ElementsAre(std::string(32, 'x')));
}

TEST(RespParserTest, ALineOfTooManyWordsIsRefused) {
  for (const std::string line : {"a b c d e", "a b c d e f g"}) {
    EXPECT_THAT(
        always(line + "\nPING\n", small_limits()),
        ElementsAre("!ERR wrong number of arguments: expected a request of at most 4 words, found more", "PING"))
        << line;
  }
}

TEST(RespParserTest, BrowsersAreNotServed) {
  EXPECT_THAT(always("POST / HTTP/1.1\r\nPING\r\n"),
              ElementsAre("!!ERR Protocol error: expected a command, found HTTP, which is served at another port"));
  EXPECT_THAT(always("GET / HTTP/1.1\r\nHost: x\r\nPING\r\n"), ElementsAre("GET|/|HTTP/1.1", StartsWith("!!ERR")));
}

// --- what is wrong ---

TEST(RespParserTest, WrongFramingBreaksTheConnection) {
  const auto found = [](std::string_view what) {
    return fmt::format("!!ERR Protocol error: expected a size as decimal digits and CR LF, found '{}'", what);
  };
  EXPECT_THAT(always("*x\r\n"), ElementsAre(found("x")));
  EXPECT_THAT(always("*-1\r\n"), ElementsAre(found("-")));
  EXPECT_THAT(always("*+1\r\n"), ElementsAre(found("+")));
  EXPECT_THAT(always("*\r\n"), ElementsAre(found("\\x0d")));
  EXPECT_THAT(always("*1\n$4\r\nPING\r\n"), ElementsAre(found("\\x0a")));
  EXPECT_THAT(always("*1\r\n$-1\r\n"), ElementsAre(found("-")));
  EXPECT_THAT(always("*1\r\n$4 \r\nPING\r\n"), ElementsAre(found(" ")));
  EXPECT_THAT(always("*1\r\n$4x\r\nPING\r\n"), ElementsAre(found("x")));
  EXPECT_THAT(always("*1\r\n$\r\nPING\r\n"), ElementsAre(found("\\x0d")));
  EXPECT_THAT(always("*1\rx"), ElementsAre("!!ERR Protocol error: expected CR LF, found '\\x0dx'"));
  EXPECT_THAT(always("*1\r\n$4\rxPING\r\n"), ElementsAre("!!ERR Protocol error: expected CR LF, found '\\x0dx'"));
  EXPECT_THAT(always("*1\r\n$4\r\nPINGxx"), ElementsAre("!!ERR Protocol error: expected CR LF, found 'xx'"));
  EXPECT_THAT(always("*1\r\n$4\r\nPING\rx"), ElementsAre("!!ERR Protocol error: expected CR LF, found '\\x0dx'"));
}

TEST(RespParserTest, NestedArraysBreakTheConnection) {
  EXPECT_THAT(always("*1\r\n*1\r\n$4\r\nPING\r\n"),
              ElementsAre("!!ERR Protocol error: expected '$' and a bulk string's length, found '*'"));
}

TEST(RespParserTest, SizesBeyondSixtyFourBitsBreakTheConnection) {
  const Events broken{"!!ERR Protocol error: expected a size, found a number of 19 digits"};
  EXPECT_EQ(broken, always("*18446744073709551617\r\n"));
  EXPECT_EQ(broken, always("*1\r\n$9223372036854775808\r\n"));
  EXPECT_EQ(broken, always("*1\r\n$0000000000000000004\r\nPING\r\n"));
}

// --- too large ---

TEST(RespParserTest, ATooLargeRequestIsSkippedAndTheNextOneRead) {
  EXPECT_THAT(always(framed({"A", std::string(100, 'x'), "b"}) + framed({"PING"}), small_limits()),
              ElementsAre("!TOOLARGE request: expected at most 64 bytes, found 119 or more", "PING"));
}

TEST(RespParserTest, ManySmallWordsMayBeTooLargeTogether) {
  EXPECT_THAT(always(framed({"A", std::string(20, 'x'), std::string(20, 'y'), "z"}) + framed({"PING"}), small_limits()),
              ElementsAre(StartsWith("!TOOLARGE request: expected at most 64 bytes"), "PING"));
}

TEST(RespParserTest, ARequestOfExactlyTheLimitIsRead) {
  RequestLimits limits = small_limits();
  const std::string bytes = framed({"A", std::string(30, 'x')});
  limits.request_bytes_max = bytes.size();
  EXPECT_THAT(always(bytes, limits), ElementsAre("A|" + std::string(30, 'x')));
  limits.request_bytes_max = bytes.size() - 1;
  EXPECT_THAT(always(bytes, limits), ElementsAre(StartsWith("!TOOLARGE")));
}

TEST(RespParserTest, WhatIsTooLargeToSkipBreaksTheConnection) {
  EXPECT_THAT(always("*1\r\n$1000\r\nxxx", small_limits()), ElementsAre(StartsWith("!!TOOLARGE request")));
  const std::string word(60, 'x');
  EXPECT_THAT(always(framed({word, word, word, word}), small_limits()), ElementsAre(StartsWith("!!TOOLARGE request")));
}

TEST(RespParserTest, TooManyWordsAreSkipped) {
  EXPECT_THAT(always(framed({"a", "b", "c", "d", "e"}) + framed({"PING"}), small_limits()),
              ElementsAre("!ERR wrong number of arguments: expected a request of at most 4 words, found 5", "PING"));
  EXPECT_THAT(always("*13\r\n", small_limits()),
              ElementsAre("!!ERR Protocol error: expected a request of at most 4 words, found 13"));
}

TEST(RespParserTest, WhatIsSkippedMustBeFramedAllTheSame) {
  EXPECT_THAT(always("*5\r\n$1\r\naxx", small_limits()), ElementsAre(HasSubstr("expected CR LF")));
}

TEST(RespParserTest, SkippingKeepsNothing) {
  Receiver receiver;
  receiver.receive("*2\r\n$1\r\nA\r\n$20000000\r\n");
  const std::string piece(1000, 'x');
  for (int i = 0; i < 20000; ++i) receiver.receive(piece);
  receiver.receive("\r\n" + framed({"PING"}));
  EXPECT_THAT(receiver.events, ElementsAre(StartsWith("!TOOLARGE"), "PING"));
  EXPECT_LT(receiver.buffered_max, 2000U);
}

TEST(RespParserTest, AnAnnouncedHalfGigabyteCostsNothing) {
  Receiver receiver;
  receiver.receive("*2\r\n$1\r\nA\r\n$536870912\r\nxxxx");
  EXPECT_THAT(receiver.events, ElementsAre(StartsWith("!!TOOLARGE request: expected at most 16777216 bytes")));
  EXPECT_LT(receiver.parser().bytes_kept(), 4096U);
}

TEST(RespParserTest, AnnouncedWordsCostNothingBeforeTheyArrive) {
  for (const std::string_view header : {"*1024\r\n", "*1048576\r\n", "*1048577\r\n", "*999999999999999999\r\n"}) {
    Receiver receiver;
    receiver.receive(header);
    EXPECT_LT(receiver.parser().bytes_kept(), 4096U);
  }
}

TEST(RespParserTest, TheMemoryOfALongRequestIsGivenBackWithTheNext) {
  Receiver receiver;
  receiver.receive(framed(std::vector<std::string>(1000, "x")) + "A \"" + std::string(60000, 'x') + "\"\n");
  EXPECT_GT(receiver.parser().bytes_kept(), 60000U);
  receiver.receive(framed({"PING"}));
  EXPECT_LT(receiver.parser().bytes_kept(), 4096U);
  EXPECT_EQ(receiver.events.size(), 3U);
}

// --- any bytes ---

// Bytes as a confused client sends them: pieces of the protocol in any order.
rc::Gen<std::string> confused_bytes() {
  const auto piece =
      rc::gen::oneOf(rc::gen::element<std::string>("*1\r\n", "*2\r\n", "*3\r\n", "$1\r\n", "$4\r\nPING\r\n",
                                                   "$0\r\n\r\n", "\r\n", "\n", "a", "*", "$", "\"", "'", "\\", " ",
                                                   "PING\r\n", "*9\r\n", "$70\r\n", "-1", "*0\r\n"),
                     rc::gen::string<std::string>());
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece),
                      [](const std::vector<std::string>& pieces) { return fmt::format("{}", fmt::join(pieces, "")); });
}

RC_GTEST_PROP(RespParserPropertyTest, AnyBytesMeanTheSameHoweverTheyAreCut, ()) {
  const std::string bytes = *confused_bytes();
  const Events events = whole(bytes, small_limits());
  RC_ASSERT(events == byte_by_byte(bytes, small_limits()));
  Receiver receiver(small_limits());
  for (std::size_t at = 0; at < bytes.size();) {
    const auto size = *rc::gen::inRange<std::size_t>(1, bytes.size() - at + 1);
    receiver.receive(std::string_view(bytes).substr(at, size));
    at += size;
  }
  RC_ASSERT(events == receiver.events);
}

RC_GTEST_PROP(RespParserPropertyTest, MemoryStaysWithinTheLimits, ()) {
  const std::string bytes = *confused_bytes();
  Receiver receiver(small_limits());
  for (std::size_t i = 0; i < bytes.size(); ++i) receiver.receive(std::string_view(bytes).substr(i, 1));
  RC_ASSERT(receiver.buffered_max <= small_limits().request_bytes_max + 2);
  RC_ASSERT(receiver.parser().bytes_kept() < 2048U);
}

RC_GTEST_PROP(RespParserPropertyTest, AnyWordsComeBackAsTheyWere, (const std::vector<std::string>& words)) {
  Receiver receiver;
  receiver.receive(framed(words));
  if (words.empty()) {
    RC_ASSERT(receiver.events.empty());
  } else {
    RC_ASSERT(receiver.events == Events{fmt::format("{}", fmt::join(words, "|"))});
  }
  RC_ASSERT(receiver.buffered() == 0U);
}

}  // namespace
}  // namespace tenure::wire
