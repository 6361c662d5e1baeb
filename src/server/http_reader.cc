#include "server/http_reader.h"

#include <algorithm>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/status.hpp>
#include <fmt/format.h>

namespace tenure::server {
namespace {

namespace http = boost::beast::http;
using boost::beast::string_view;
using boost::system::error_code;

constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::string_view kLastChunk = "0\r\n\r\n";
constexpr std::string_view kLastChunkLine = "0\r\n";

HttpReader::Step broken(int status, ErrorCode code, std::string message) {
  HttpReader::Step step{.outcome = HttpReader::Outcome::kBroken, .status = status};
  step.failure = Failure{code, std::move(message)};
  return step;
}

std::string_view view_of(string_view text) { return {text.data(), text.size()}; }

bool is_same_word(std::string_view one, std::string_view lower) {
  return std::equal(one.begin(), one.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

// Beast's parser, and what is kept of what it finds. One thread.
class HttpReader::Parser final : public http::basic_parser<true> {
 public:
  explicit Parser(const HttpLimits& limits) : target_bytes_max_(limits.target_bytes_max) {
    header_limit(static_cast<std::uint32_t>(limits.head_bytes_max));
    body_limit(limits.body_bytes_max);
  }

  // Where a chunk may begin. If it is the last, Beast takes it for a bug of its caller when its line alone is put to
  // it, and then not all that must follow.
  [[nodiscard]] bool expects_chunk() const { return is_done_with_head_ && chunked() && chunk_left_ == 0; }

  HttpRequest request;
  bool wants_continue = false;
  std::optional<Step> refusal;  // of what Beast would let pass

 private:
  void on_request_impl(http::verb /*method*/, string_view method, string_view target, int version,
                       error_code& error) override {
    request.method = view_of(method);
    request.target = view_of(target);
    version_ = version;
    if (target.size() <= target_bytes_max_) return;
    refuse(414, ErrorCode::kTooLarge,
           fmt::format("target: expected at most {} bytes, found {}", target_bytes_max_, target.size()), error);
  }

  void on_response_impl(int /*status*/, string_view /*reason*/, int /*version*/, error_code& /*error*/) override {}

  void on_field_impl(http::field name, string_view spelling, string_view text, error_code& error) override {
    if (is_done_with_head_) return;  // a trailer
    const std::string_view value = view_of(text);
    // Beast has no number for it.
    if (is_same_word(view_of(spelling), "last-event-id")) request.last_event_id = value;
    if (is_same_word(view_of(spelling), "x-requested-with")) request.is_by_script = true;
    switch (name) {
      case http::field::host:
        ++hosts_;
        request.host = value;
        break;
      case http::field::origin:
        request.origin = value;
        break;
      case http::field::if_none_match:
        request.if_none_match = value;
        break;
      case http::field::authorization:
        if (request.authorization) {
          refuse(400, ErrorCode::kErr, "Authorization: expected it once, found it twice", error);
        }
        request.authorization.emplace(value);
        break;
      case http::field::expect:
        wants_continue = is_same_word(value, "100-continue");
        break;
      case http::field::content_length:
        if (++lengths_ > 1 || !is_digits(value)) {
          refuse(400, ErrorCode::kErr, "Content-Length: expected one number, found something else", error);
        }
        break;
      case http::field::transfer_encoding:
        if (version_ != 11 || !is_same_word(value, "chunked")) {
          refuse(400, ErrorCode::kErr, "Transfer-Encoding: expected chunked, in HTTP/1.1; found something else", error);
        }
        break;
      default:
        break;
    }
  }

  void on_header_impl(error_code& error) override {
    is_done_with_head_ = true;
    request.keeps_alive = keep_alive();
    request.is_old = version_ != 11;
    const int expected = version_ == 11 ? 1 : hosts_;
    if (hosts_ == expected && hosts_ <= 1) return;
    refuse(400, ErrorCode::kErr, fmt::format("Host: expected once, found {} times", hosts_), error);
  }

  void on_body_init_impl(const boost::optional<std::uint64_t>& /*length*/, error_code& /*error*/) override {}
  std::size_t on_body_impl(string_view body, error_code& /*error*/) override {
    request.body.append(body.data(), body.size());
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t size, string_view /*extensions*/, error_code& /*error*/) override {
    chunk_left_ = size;
  }
  std::size_t on_chunk_body_impl(std::uint64_t remain, string_view body, error_code& error) override {
    chunk_left_ = remain - body.size();
    return on_body_impl(body, error);
  }
  void on_finish_impl(error_code& /*error*/) override {}

  void refuse(int status, ErrorCode code, std::string message, error_code& error) {
    if (!refusal) refusal = broken(status, code, std::move(message));
    error = http::error::bad_value;
  }

  const std::size_t target_bytes_max_;
  int version_ = 0;
  int hosts_ = 0;
  int lengths_ = 0;
  std::uint64_t chunk_left_ = 0;  // of the chunk that has begun
  bool is_done_with_head_ = false;
};

HttpReader::HttpReader(const HttpLimits& limits)
    : limits_(limits), parser_(std::make_unique<Parser>(limits)), body_bytes_max_(limits.body_bytes_max) {}

HttpReader::~HttpReader() = default;

bool HttpReader::is_amid() const { return is_head_done_; }

const HttpRequest& HttpReader::head() const { return parser_->request; }

// Of a body whose length was announced Beast looks at the limit with the head alone.
void HttpReader::limit_body(std::uint64_t bytes_max) {
  body_bytes_max_ = bytes_max;
  parser_->body_limit(bytes_max);
}

std::size_t HttpReader::bytes() const { return parser_->request.body.capacity(); }

// Beast would wait for ever for the end of a head, and join a folded line to the one before.
std::optional<HttpReader::Step> HttpReader::fault_in_head(std::string_view input) const {
  const std::size_t end = input.find(kHeadEnd);
  const std::size_t size = std::min(end, input.size());
  if (size > limits_.head_bytes_max) {
    return broken(431, ErrorCode::kTooLarge,
                  fmt::format("head: expected at most {} bytes, found more", limits_.head_bytes_max));
  }
  if (end == std::string_view::npos) return Step{};
  const std::string_view head = input.substr(0, end);
  if (head.find("\r\n ") != std::string_view::npos || head.find("\r\n\t") != std::string_view::npos) {
    return broken(400, ErrorCode::kErr, "head: expected each field on one line, found one that is folded");
  }
  return std::nullopt;
}

HttpReader::Step HttpReader::next(std::string_view input) {
  std::size_t passed = 0;
  if (!is_head_done_) {
    // Empty lines, which some clients send behind a body.
    while (input.substr(passed).starts_with("\r\n")) passed += 2;
    input.remove_prefix(passed);
    if (auto fault = fault_in_head(input)) {
      fault->consumed = passed;
      return std::move(*fault);
    }
  }
  Step step = parse(input);
  step.consumed += passed;
  return step;
}

HttpReader::Step HttpReader::parse(std::string_view input) {
  error_code error;
  const bool is_short =
      parser_->expects_chunk() && input.starts_with(kLastChunkLine) && input.size() < kLastChunk.size();
  const bool is_put = !input.empty() && !is_short && !parser_->is_done();
  Step step{.consumed = is_put ? parser_->put(boost::asio::buffer(input), error) : 0};
  if (parser_->refusal) return std::move(*parser_->refusal);
  if (error == http::error::need_more) error = {};
  const bool is_announced = parser_->is_header_done() && parser_->content_length().value_or(0) > body_bytes_max_;
  if (error == http::error::body_limit || is_announced) {
    return broken(413, ErrorCode::kTooLarge,
                  fmt::format("body: expected at most {} bytes, found more", body_bytes_max_));
  }
  if (error) return broken(400, ErrorCode::kErr, fmt::format("HTTP: expected a request, found {}", error.message()));
  // The end of the head is there; Beast waits for more of its first line all the same.
  if (!parser_->is_header_done()) {
    return broken(400, ErrorCode::kErr, "HTTP: expected a request, found a first line that is too short");
  }
  if (!std::exchange(is_head_done_, true)) {
    parser_->eager(true);
    step.outcome = Outcome::kHead;
    return step;
  }
  // What is left of a body is the head of a chunk, or what follows the last.
  if (!parser_->is_done() && input.size() - step.consumed > limits_.head_bytes_max) {
    return broken(400, ErrorCode::kErr, "chunk: expected the end of its first line, found none");
  }
  if (parser_->is_done()) {
    step.outcome = Outcome::kRequest;
    step.request = std::move(parser_->request);
    parser_ = std::make_unique<Parser>(limits_);
    body_bytes_max_ = limits_.body_bytes_max;
    is_head_done_ = false;
    return step;
  }
  if (std::exchange(parser_->wants_continue, false)) step.outcome = Outcome::kContinue;
  return step;
}

std::string_view http_reason(int status) {
  return view_of(http::obsolete_reason(http::int_to_status(static_cast<unsigned>(status))));
}

}  // namespace tenure::server
