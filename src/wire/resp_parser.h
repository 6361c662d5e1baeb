// Takes requests off the front of what a connection has sent: arrays of bulk strings (RESP2), or lines of words for
// people with telnet.
//
//   request = "*" count CRLF count x bulk  |  line
//   bulk    = "$" length CRLF length bytes CRLF
//   line    = words [CR] LF                see inline_words.h
//
// No announced size is believed: the parser itself keeps a few bytes per word that has arrived, and it is the caller
// whose buffer grows, by what has arrived and never beyond `request_bytes_max` and one read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <absl/container/inlined_vector.h>
#include <absl/types/span.h>

#include "base/result.h"

namespace tenure::wire {

struct RequestLimits {
  std::size_t request_bytes_max = std::size_t{16} << 20;  // framing included
  std::size_t words_max = 1024;                           // a lease of 1,000 queues with all its options has 1,011
  std::size_t line_bytes_max = std::size_t{64} << 10;     // of a line of words
  // A request over one of the limits above is skipped and the connection goes on; over one of these it is closed.
  std::size_t skipped_bytes_max = std::size_t{64} << 20;
  std::size_t skipped_words_max = std::size_t{1} << 20;
};

// One thread.
class RespParser {
 public:
  enum class Outcome : std::uint8_t {
    kRequest,   // `words` views the bytes given, or the parser's own memory, until the next call
    kNeedMore,  // no whole request yet
    kRefused,   // `failure` is the answer to this request; the connection goes on behind it
    kBroken,    // `failure` is the last answer: where the next request would begin cannot be known
  };
  struct Step {
    Outcome outcome;
    std::size_t consumed = 0;  // bytes done with: the next call's begin behind them
    absl::Span<const std::string_view> words{};
    const Failure* failure = nullptr;  // until the next call
  };

  explicit RespParser(const RequestLimits& limits = {}) : limits_(limits) {}

  // `bytes` is everything received and not yet consumed, however it came in pieces; it may have moved since the last
  // call. Empty requests are passed over. Behind kBroken it is not called again.
  Step next(std::string_view bytes);
  // From now on; a request that has begun is held to them, too.
  void set_limits(const RequestLimits& limits) { limits_ = limits; }

  // The memory it keeps for itself: it follows what has arrived, never what was announced.
  [[nodiscard]] std::size_t bytes_kept() const {
    return pieces_.capacity() * sizeof(Piece) + words_.capacity() * sizeof(std::string_view) + unquoted_.capacity();
  }

 private:
  struct Piece {
    std::size_t begin;
    std::size_t size;
  };
  enum class Kind : std::uint8_t { kNone, kArray, kLine };
  enum class Progress : std::uint8_t { kDone, kNeedMore, kBroken };

  void begin_request(char first);
  Step read_array(std::string_view bytes);
  Step read_line(std::string_view bytes);
  Progress read_count(std::string_view bytes);
  bool read_at_once(std::string_view bytes);
  Progress read_bulk(std::string_view bytes);
  Progress read_body(std::string_view bytes);
  Progress skip_body(std::string_view bytes);
  Progress read_end_of_line(std::string_view bytes);
  Progress read_number(std::string_view bytes, std::uint64_t& number);
  Progress admit(std::uint64_t length);
  Progress break_off(ErrorCode code, std::string message);
  Step need_more();
  Step end_request(Outcome outcome);

  RequestLimits limits_;
  Kind kind_ = Kind::kNone;
  std::size_t at_ = 0;                 // where to go on reading, from the front of the bytes
  std::size_t forgotten_ = 0;          // bytes of a request being skipped that were consumed before
  bool has_count_ = false;             // the array's header has been read
  std::uint64_t words_left_ = 0;       // of the array
  std::optional<std::uint64_t> bulk_;  // what is left of the bulk string that has begun
  bool is_skipping_ = false;           // it will be answered with `failure_`
  std::optional<Failure> failure_;
  absl::InlinedVector<Piece, 16> pieces_;
  absl::InlinedVector<std::string_view, 16> words_;
  std::string unquoted_;
};

}  // namespace tenure::wire
