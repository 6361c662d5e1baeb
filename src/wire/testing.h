// What the wire's tests share: requests as clients frame them, and what a parser makes of bytes that come in pieces.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "wire/resp_parser.h"

namespace tenure::wire {

// The words as an array of bulk strings.
inline std::string framed(const std::vector<std::string>& words) {
  std::string bytes = fmt::format("*{}\r\n", words.size());
  for (const std::string& word : words) bytes += fmt::format("${}\r\n{}\r\n", word.size(), word);
  return bytes;
}

// A connection's receiving side: a buffer, and the parser on it. One thread.
class Receiver {
 public:
  explicit Receiver(const RequestLimits& limits = {}) : parser_(limits) {}

  // What became of each request, in order: its words with a '|' between, or the error with '!' (the connection goes
  // on) or '!!' (it does not) before it.
  std::vector<std::string> events;
  std::size_t buffered_max = 0;

  void receive(std::string_view bytes) {
    if (is_broken_) return;
    buffer_ += bytes;
    buffered_max = std::max(buffered_max, buffer_.size());
    while (true) {
      // Where the buffer lies is nothing to rely on.
      const std::string moved = buffer_;
      const RespParser::Step step = parser_.next(moved);
      note(step);
      buffer_.erase(0, step.consumed);
      if (step.outcome == RespParser::Outcome::kNeedMore || is_broken_) return;
    }
  }
  [[nodiscard]] const RespParser& parser() const { return parser_; }
  [[nodiscard]] std::size_t buffered() const { return buffer_.size(); }

 private:
  void note(const RespParser::Step& step) {
    switch (step.outcome) {
      case RespParser::Outcome::kRequest:
        events.push_back(fmt::format("{}", fmt::join(step.words, "|")));
        break;
      case RespParser::Outcome::kRefused:
        events.push_back(fmt::format("!{} {}", to_string(step.failure->code), step.failure->message));
        break;
      case RespParser::Outcome::kBroken:
        events.push_back(fmt::format("!!{} {}", to_string(step.failure->code), step.failure->message));
        is_broken_ = true;
        break;
      case RespParser::Outcome::kNeedMore:
        break;
    }
  }

  RespParser parser_;
  std::string buffer_;
  bool is_broken_ = false;
};

}  // namespace tenure::wire
