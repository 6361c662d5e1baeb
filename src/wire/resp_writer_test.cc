#include "wire/resp_writer.h"

#include <limits>

#include <gtest/gtest.h>

#include "wire/errors.h"

namespace tenure::wire {
namespace {

template <class Write>
std::string written(Protocol protocol, const Write& write) {
  std::string bytes;
  RespWriter out(bytes, protocol);
  write(out);
  out.finish();
  return bytes;
}
template <class Write>
std::string both(const Write& write) {
  EXPECT_EQ(written(Protocol::kResp2, write), written(Protocol::kResp3, write));
  return written(Protocol::kResp2, write);
}

TEST(RespWriterTest, WritesEveryType) {
  EXPECT_EQ(both([](RespWriter& out) { out.simple("OK"); }), "+OK\r\n");
  EXPECT_EQ(both([](RespWriter& out) { out.value("hello"); }), "$5\r\nhello\r\n");
  EXPECT_EQ(both([](RespWriter& out) { out.value(""); }), "$0\r\n\r\n");
  EXPECT_EQ(both([](RespWriter& out) { out.value(std::string_view("\0\r\n", 3)); }),
            std::string("$3\r\n\0\r\n\r\n", 9));
  EXPECT_EQ(both([](RespWriter& out) { out.array(3); }), "*3\r\n");
  EXPECT_EQ(both([](RespWriter& out) { out.value(-7); }), ":-7\r\n");
  EXPECT_EQ(both([](RespWriter& out) { out.value(true); }), ":1\r\n");
  EXPECT_EQ(both([](RespWriter& out) { out.value(std::numeric_limits<std::int64_t>::min()); }),
            ":-9223372036854775808\r\n");
  EXPECT_EQ(both([](RespWriter& out) { out.value(Fence{7}); }), ":7\r\n");
  EXPECT_EQ(both([](RespWriter& out) { out.value(Offset{8}); }), ":8\r\n");
  EXPECT_EQ(both([](RespWriter& out) { out.value(Instant{9}); }), ":9\r\n");
  EXPECT_EQ(both([](RespWriter& out) { out.value(Millis{10}); }), ":10\r\n");
  EXPECT_EQ(both([](RespWriter& out) { out.value(std::optional(Millis{10})); }), ":10\r\n");
}

TEST(RespWriterTest, NullsAndMapsDependOnTheProtocol) {
  const auto null = [](RespWriter& out) { out.value(std::optional<std::string>()); };
  EXPECT_EQ(written(Protocol::kResp2, null), "$-1\r\n");
  EXPECT_EQ(written(Protocol::kResp3, null), "_\r\n");
  const auto map = [](RespWriter& out) {
    out.map(2);
    out.field("a", 1);
    out.field("b", std::string("x"));
  };
  EXPECT_EQ(written(Protocol::kResp2, map), "*4\r\n$1\r\na\r\n:1\r\n$1\r\nb\r\n$1\r\nx\r\n");
  EXPECT_EQ(written(Protocol::kResp3, map), "%2\r\n$1\r\na\r\n:1\r\n$1\r\nb\r\n$1\r\nx\r\n");
}

TEST(RespWriterTest, FieldsAreANameAndAValue) {
  const auto field = [](const std::string& name, const auto& what) {
    return both([&](RespWriter& out) { out.field(name, what); });
  };
  using Limits = std::numeric_limits<std::int64_t>;
  EXPECT_EQ(field("", 0), "$0\r\n\r\n:0\r\n");
  EXPECT_EQ(field("a", Limits::max()), "$1\r\na\r\n:9223372036854775807\r\n");
  EXPECT_EQ(both([](RespWriter& out) { out.name("n"); }), "$1\r\nn\r\n");
  EXPECT_EQ(both([](RespWriter& out) { out.name("ten_bytes_"); }), "$10\r\nten_bytes_\r\n");
  constexpr FieldName kLongest = "twenty_five_bytes_of_name";
  EXPECT_EQ(both([&](RespWriter& out) {
              for (int i = 0; i < 20; ++i) out.name(kLongest);
            }).size(),
            20 * (5 + 25 + 2));
  for (const std::size_t size : {64U, 65U, 1000U}) {
    const std::string name(size, 'n');
    const std::string begin = "$" + std::to_string(size) + "\r\n" + name + "\r\n";
    EXPECT_EQ(field(name, Limits::min()), begin + ":-9223372036854775808\r\n");
    EXPECT_EQ(field(name, name), begin + begin);
  }
}

TEST(RespWriterTest, AnErrorIsOneLineWhateverItsMessageHolds) {
  EXPECT_EQ(both([](RespWriter& out) { out.error({ErrorCode::kNoTask, "task 'T'"}); }), "-NOTASK task 'T'\r\n");
  EXPECT_EQ(both([](RespWriter& out) { out.error({ErrorCode::kErr, "a\r\n+OK\tb\x7f"}); }), "-ERR a  +OK b \r\n");
  EXPECT_EQ(both([](RespWriter& out) { out.error({ErrorCode::kErr, "\xc3\xa4"}); }), "-ERR \xc3\xa4\r\n");
  EXPECT_LT(both([](RespWriter& out) { out.error({ErrorCode::kErr, std::string(100'000, 'x')}); }).size(), 1100U);
}

TEST(ErrorsTest, EveryCodeHasItsHttpStatus) {
  EXPECT_EQ(http_status(ErrorCode::kErr), 400);
  EXPECT_EQ(http_status(ErrorCode::kNoProto), 400);
  EXPECT_EQ(http_status(ErrorCode::kInvalid), 400);
  EXPECT_EQ(http_status(ErrorCode::kTooLarge), 413);
  EXPECT_EQ(http_status(ErrorCode::kNoTask), 404);
  EXPECT_EQ(http_status(ErrorCode::kTaskExists), 409);
  EXPECT_EQ(http_status(ErrorCode::kTerminal), 409);
  EXPECT_EQ(http_status(ErrorCode::kNotTerminal), 409);
  EXPECT_EQ(http_status(ErrorCode::kNoLease), 409);
  EXPECT_EQ(http_status(ErrorCode::kTokenMismatch), 409);
  EXPECT_EQ(http_status(ErrorCode::kBacklogOrder), 409);
  EXPECT_EQ(http_status(ErrorCode::kExpired), 409);
  EXPECT_EQ(http_status(ErrorCode::kNotHeld), 409);
  EXPECT_EQ(http_status(ErrorCode::kBackpressure), 429);
  EXPECT_EQ(http_status(ErrorCode::kNoAuth), 401);
  EXPECT_EQ(http_status(ErrorCode::kNoPerm), 403);
  EXPECT_EQ(http_status(ErrorCode::kMoved), 307);
  EXPECT_EQ(http_status(ErrorCode::kUnavailable), 503);
}

}  // namespace
}  // namespace tenure::wire
