// Events: ids, what is kept, and who is told what.
#include "server/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/record_codec.h"

namespace tenure::server {
namespace {

using ::testing::HasSubstr;

std::string frame_of(const std::vector<Record>& records) {
  std::string payload;
  for (const Record& record : records) encode(record, payload);
  return payload;
}

class EventsTest : public ::testing::Test {
 protected:
  void tell(std::uint64_t sequence, std::size_t records = 1) {
    const std::vector<Record> all(records, record::QueuePaused{"q"});
    events.tell(sequence, Instant{5}, frame_of(all));
  }
  // The ids in what a stream has to say, with the types of events; a cut is "cut".
  static std::string heard(Events::Stream& stream, std::size_t bytes = 1 << 20) {
    std::string text;
    const bool is_in_time = stream.read(text, bytes);
    std::string ids;
    for (std::size_t at = text.find("id: "); at != std::string::npos; at = text.find("id: ", at + 1)) {
      ids += (ids.empty() ? "" : " ") + text.substr(at + 4, text.find('\n', at) - at - 4);
      if (text.compare(text.find('\n', at) + 1, 10, "event: gap") == 0) ids += " gap";
    }
    return is_in_time ? ids : ids + "cut";
  }
  std::unique_ptr<Events::Stream> listen(const std::optional<std::string>& last_id = {}) {
    return std::move(events.listen(++clients, last_id).value());
  }

  Events events{{.streams = 3, .kept = 5, .kept_bytes = 1 << 20}};
  std::uint64_t clients = 0;
};

TEST(EventIdTest, IsWrittenAndRead) {
  for (const char* text : {"0", "17", "17.1", "18446744073709551615", "17.4294967294"}) {
    const auto id = parse_event_id(text);
    ASSERT_TRUE(id.has_value()) << text;
    EXPECT_EQ(text_of(*id), text);
  }
  for (const char* text : {"", "x", "-1", "1.", ".1", "1.x", "1.2.3", "18446744073709551616", "1.4294967295", " 1"}) {
    EXPECT_FALSE(parse_event_id(text).has_value()) << text;
  }
  EXPECT_LT(*parse_event_id("17.1"), *parse_event_id("17.2"));
  EXPECT_LT(*parse_event_id("17.2"), *parse_event_id("17"));
  EXPECT_LT(*parse_event_id("17"), *parse_event_id("18.1"));
}

TEST_F(EventsTest, AnEventIsARecord) {
  events.begin(10);
  const auto stream = listen();
  tell(11);
  std::string text;
  EXPECT_TRUE(stream->read(text, 1000));
  EXPECT_EQ(text,
            "retry: 1000\nid: 10\n\n"
            "id: 11\nevent: QueuePaused\ndata: {\"record\":\"QueuePaused\",\"at\":5,\"queue\":\"q\"}\n\n");
  EXPECT_EQ(heard(*stream), "");
}

TEST_F(EventsTest, AFrameOfSeveralRecordsIsResumedWithinIt) {
  events.begin(10);
  tell(11, 3);
  tell(12);
  EXPECT_EQ(heard(*listen("10")), "10 11.1 11.2 11 12");
  EXPECT_EQ(heard(*listen("11.1")), "11.1 11.2 11 12");
  EXPECT_EQ(heard(*listen("11.2")), "11.2 11 12");
  EXPECT_EQ(heard(*listen("11")), "11 12");
  EXPECT_EQ(heard(*listen("12")), "12");
}

TEST_F(EventsTest, WhoSaysNothingIsToldFromNowOn) {
  events.begin(10);
  tell(11);
  const auto stream = listen();
  EXPECT_EQ(heard(*stream), "11");
  tell(12);
  EXPECT_EQ(heard(*stream), "12");
  EXPECT_EQ(heard(*listen("")), "12");
}

TEST_F(EventsTest, WhatIsNotKeptIsAGap) {
  events.begin(10);
  EXPECT_EQ(heard(*listen("9")), "10 gap");
  EXPECT_EQ(heard(*listen("10")), "10");
  EXPECT_EQ(heard(*listen("11")), "10 gap");
  for (std::uint64_t frame = 11; frame <= 20; ++frame) tell(frame);
  EXPECT_EQ(heard(*listen("14")), "15 gap 16 17 18 19 20");
  EXPECT_EQ(heard(*listen("15")), "15 16 17 18 19 20");
  std::string text;
  listen("3.2")->read(text, 1);
  EXPECT_THAT(text, HasSubstr("event: gap\ndata: {\"asked_after\":\"3.2\",\"resumed_after\":\"15\"}\n\n"));
}

TEST_F(EventsTest, WhoIsTooSlowIsCutOff) {
  events.begin(0);
  const auto slow = listen();
  const auto slower = listen();
  EXPECT_EQ(heard(*slow), "0");
  for (std::uint64_t frame = 1; frame <= 5; ++frame) tell(frame);
  EXPECT_EQ(heard(*slow, 1), "1");
  tell(6);
  EXPECT_EQ(heard(*slow), "2 3 4 5 6");
  EXPECT_EQ(heard(*slower), "0cut");
}

TEST_F(EventsTest, BytesAreBounded) {
  Events few({.kept_bytes = 1000});
  few.begin(0);
  const std::string name(200, 'n');
  for (std::uint64_t frame = 1; frame <= 100; ++frame) {
    few.tell(frame, Instant{5}, frame_of({record::QueuePaused{name}}));
    EXPECT_LE(few.bytes(), 1000U);
  }
  EXPECT_EQ(heard(**few.listen(1, "98")).substr(0, 2), "98");
  few.tell(101, Instant{5}, frame_of({record::TaskDead{"T", std::string(2000, 'r')}}));
  EXPECT_EQ(few.bytes(), 0U);
  EXPECT_EQ(heard(**few.listen(1, "100")), "101 gap");
}

TEST_F(EventsTest, StreamsAreBounded) {
  events.begin(0);
  auto one = listen();
  auto two = listen();
  auto three = listen();
  EXPECT_EQ(events.listen(4, {}).error().code, ErrorCode::kBackpressure);
  EXPECT_EQ(events.clients().size(), 3U);
  two.reset();
  EXPECT_TRUE(events.listen(4, {}).has_value());
}

TEST_F(EventsTest, AnIdThatIsNoneIsRefused) {
  events.begin(0);
  EXPECT_EQ(events.listen(1, "x").error().message, "Last-Event-ID: expected the id of an event, found 'x'");
  EXPECT_TRUE(events.clients().empty());
}

TEST_F(EventsTest, BeginsAnew) {
  events.begin(10);
  tell(11);
  events.end();
  EXPECT_FALSE(events.is_begun());
  EXPECT_EQ(events.bytes(), 0U);
  events.begin(20);
  EXPECT_EQ(heard(*listen("11")), "20 gap");
}

}  // namespace
}  // namespace tenure::server
