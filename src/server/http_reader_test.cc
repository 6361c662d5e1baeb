// Requests out of bytes: in whatever pieces they come, and what is refused because it has two meanings.
#include "server/http_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::server {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

// What became of the bytes, given in pieces of `size`: requests, "continue", or the error, behind which nothing is.
std::vector<std::string> read(const std::string& bytes, std::size_t size = 1'000'000, const HttpLimits& limits = {}) {
  HttpReader reader(limits);
  std::vector<std::string> events;
  std::string buffer;
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    buffer += bytes.substr(at, size);
    while (true) {
      const std::string moved = buffer;  // where it lies is nothing to rely on
      HttpReader::Step step = reader.next(moved);
      buffer.erase(0, step.consumed);
      if (step.outcome == HttpReader::Outcome::kNeedMore) break;
      if (step.outcome == HttpReader::Outcome::kContinue) events.emplace_back("continue");
      if (step.outcome == HttpReader::Outcome::kRequest) {
        events.push_back(fmt::format("{} {} '{}'{}", step.request->method, step.request->target, step.request->body,
                                     step.request->keeps_alive ? "" : " last"));
      }
      if (step.outcome == HttpReader::Outcome::kBroken) {
        events.push_back(fmt::format("{} {} {}", step.status, to_string(step.failure->code), step.failure->message));
        return events;
      }
    }
  }
  return events;
}

std::string fault(const std::string& fields, const std::string& body = "") {
  const auto events = read("POST / HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n" + body);
  return events.empty() ? "nothing" : events.front();
}

TEST(HttpReaderTest, ReadsRequestsInAnyPieces) {
  const std::string bytes =
      "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"
      "\r\nPOST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
      "POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n1\r\nd\r\n2;name=x\r\nef\r\n0\r\nA: b\r\n\r\n"
      "POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
      "GET /d HTTP/1.0\r\n\r\n"
      "GET /e HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  const auto whole = read(bytes);
  EXPECT_THAT(whole, ElementsAre("GET /a ''", "POST /b 'abc'", "POST /c 'def'", "POST /c ''", "GET /d '' last",
                                 "GET /e '' last"));
  for (const std::size_t size : {1U, 2U, 3U, 7U, 16U, 64U}) EXPECT_EQ(read(bytes, size), whole) << size;
}

TEST(HttpReaderTest, AFirstLineThatIsTooShortIsRefusedAtItsEnd) {
  for (const std::string line : {"GET", "GET /", "GET / 29", "GET / HTTP"}) {
    const std::string bytes = line + "\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n";
    for (const std::size_t size : {1U, 3U, 1000U}) {
      EXPECT_THAT(read(bytes, size), ElementsAre(StartsWith("400 ERR HTTP: expected a request, found")))
          << line << size;
    }
  }
}

TEST(HttpReaderTest, TellsTheHeadBeforeTheBody) {
  HttpReader reader({});
  const std::string head =
      "POST /a HTTP/1.1\r\nHost: x\r\nAuthorization: Basic eDp5\r\nTransfer-Encoding: chunked\r\n\r\n";
  const auto step = reader.next(head + "1\r\nx\r\n0\r\n\r\n");
  EXPECT_EQ(step.outcome, HttpReader::Outcome::kHead);
  EXPECT_EQ(step.consumed, head.size());
  EXPECT_EQ(reader.head().target, "/a");
  EXPECT_EQ(reader.head().authorization->view(), "Basic eDp5");
  EXPECT_TRUE(reader.is_amid());
}

TEST(HttpReaderTest, ABodyCanBeLimitedOnceTheHeadIsThere) {
  for (const std::string rest : {"Content-Length: 6\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n"}) {
    HttpReader reader({});
    const std::string bytes = "POST /a HTTP/1.1\r\nHost: x\r\n" + rest;
    const auto head = reader.next(bytes);
    reader.limit_body(5);
    const auto step = reader.next(bytes.substr(head.consumed));
    EXPECT_EQ(step.outcome, HttpReader::Outcome::kBroken);
    EXPECT_EQ(step.status, 413);
  }
}

TEST(HttpReaderTest, TellsWhoWaitsToSendTheBody) {
  const std::string head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-Continue\r\n\r\n";
  EXPECT_THAT(read(head), ElementsAre("continue"));
  EXPECT_THAT(read(head + "ab", head.size()), ElementsAre("continue", "POST / 'ab'"));
  EXPECT_THAT(read(head + "ab"), ElementsAre("POST / 'ab'"));
}

TEST(HttpReaderTest, RefusesWhatHasTwoMeanings) {
  for (const char* fields :
       {"Content-Length: 2\r\nContent-Length: 2\r\n", "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n", "Content-Length: 2, 2\r\n", "Content-Length: +2\r\n",
        "Transfer-Encoding: gzip\r\n", "Transfer-Encoding: gzip, chunked\r\n", "Content-Length : 2\r\n",
        "Authorization: Basic a\r\nAuthorization: Basic a\r\n", "A: b\r\n c\r\n", "A: b\r\n\tc\r\n", "Host: y\r\n",
        "A: b\nC: d\r\n"}) {
    EXPECT_THAT(fault(fields, "{}"), StartsWith("400 ERR ")) << fields;
  }
  EXPECT_THAT(read("GET / HTTP/1.1\r\n\r\n"), ElementsAre("400 ERR Host: expected once, found 0 times"));
  EXPECT_THAT(fault("Transfer-Encoding: chunked\r\n", "x\r\n"), StartsWith("400 ERR "));
  EXPECT_THAT(fault("Transfer-Encoding: chunked\r\n", "1\r\nab\r\n0\r\n\r\n"), StartsWith("400 ERR "));
}

TEST(HttpReaderTest, HeadsTargetsAndBodiesAreLimited) {
  const HttpLimits limits{.head_bytes_max = 200, .target_bytes_max = 50, .body_bytes_max = 10};
  const std::string head = "POST / HTTP/1.1\r\nHost: x\r\n";
  for (const std::size_t size : {1U, 1000U}) {
    EXPECT_THAT(read(head + "A: " + std::string(300, 'x'), size, limits),
                ElementsAre("431 TOOLARGE head: expected at most 200 bytes, found more"));
    EXPECT_THAT(read("GET /" + std::string(50, 'x') + " HTTP/1.1\r\nHost: x\r\n\r\n", size, limits),
                ElementsAre("414 TOOLARGE target: expected at most 50 bytes, found 51"));
    EXPECT_THAT(read(head + "Content-Length: 11\r\n\r\n", size, limits),
                ElementsAre("413 TOOLARGE body: expected at most 10 bytes, found more"));
    EXPECT_THAT(read(head + "Transfer-Encoding: chunked\r\n\r\n8\r\n12345678\r\n8\r\n", size, limits),
                ElementsAre("413 TOOLARGE body: expected at most 10 bytes, found more"));
    EXPECT_THAT(read(head + "Transfer-Encoding: chunked\r\n\r\n1;" + std::string(300, 'x'), size, limits),
                ElementsAre("400 ERR chunk: expected the end of its first line, found none"));
    EXPECT_THAT(read(head + "Content-Length: 10\r\n\r\n1234567890", size, limits), ElementsAre("POST / '1234567890'"));
  }
}

TEST(HttpReaderTest, KnowsWhetherItIsAmidARequest) {
  HttpReader reader({});
  EXPECT_FALSE(reader.is_amid());
  reader.next("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n");
  EXPECT_TRUE(reader.is_amid());
  reader.next("a");
  EXPECT_TRUE(reader.is_amid());
  EXPECT_GT(reader.bytes(), 0U);
  reader.next("b");
  EXPECT_FALSE(reader.is_amid());
}

TEST(HttpReaderTest, KnowsTheReasons) {
  EXPECT_EQ(http_reason(200), "OK");
  EXPECT_EQ(http_reason(404), "Not Found");
}

}  // namespace
}  // namespace tenure::server
