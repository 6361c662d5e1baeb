// Reads HTTP/1.1 requests out of a connection's bytes, whatever pieces they come in. No sockets.
//
// What could be understood in two ways is refused: a length given twice or beside an encoding, another encoding than
// chunked, a folded line, a request without a host or with two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "users/password.h"

namespace tenure::server {

struct HttpLimits {
  std::size_t head_bytes_max = std::size_t{16} << 10;
  std::size_t target_bytes_max = std::size_t{8} << 10;
  std::uint64_t body_bytes_max = std::uint64_t{16} << 20;
};

struct HttpRequest {
  std::string method;
  std::string target;
  std::string host;
  std::optional<std::string> origin;           // the page whose script sent it
  std::optional<users::Secret> authorization;  // who asks, and the proof of it
  std::string body;
  std::optional<std::string> last_event_id;
  std::string if_none_match;  // the tag of what the client has kept
  bool is_by_script = false;  // of a page, which says so with X-Requested-With
  bool keeps_alive = false;
  bool is_old = false;  // HTTP/1.0, which knows no chunks
};

// One thread.
class HttpReader {
 public:
  explicit HttpReader(const HttpLimits& limits);
  HttpReader(const HttpReader&) = delete;
  HttpReader& operator=(const HttpReader&) = delete;
  ~HttpReader();

  enum class Outcome : std::uint8_t {
    kNeedMore,
    kHead,      // of a request, as `head` tells it; then its body follows, if only an empty one
    kContinue,  // the client waits to be told that it may send the body
    kRequest,
    kBroken,  // nothing behind it can be read
  };
  struct Step {
    Outcome outcome = Outcome::kNeedMore;
    std::size_t consumed = 0;  // of the input; the rest is given again
    std::optional<HttpRequest> request{};
    int status = 400;  // of what is broken
    std::optional<Failure> failure{};
  };
  Step next(std::string_view input);

  // Of the request that is arriving, from kHead on.
  [[nodiscard]] const HttpRequest& head() const;
  // Its body may have so many bytes only; called between kHead and the next step.
  void limit_body(std::uint64_t bytes_max);

  // True: some of a request was consumed, and not all of it.
  [[nodiscard]] bool is_amid() const;
  // Memory of what was consumed.
  [[nodiscard]] std::size_t bytes() const;

 private:
  class Parser;

  // A step without a failure: the head's end is missing.
  [[nodiscard]] std::optional<Step> fault_in_head(std::string_view input) const;
  Step parse(std::string_view input);

  const HttpLimits limits_;
  std::unique_ptr<Parser> parser_;
  std::uint64_t body_bytes_max_;  // of this request
  bool is_head_done_ = false;
};

// The line's end of a status: OK for 200.
std::string_view http_reason(int status);

}  // namespace tenure::server
