// RESP2: requests written, replies and requests read part by part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace tenure::bench {

void append_request(std::string& output, std::initializer_list<std::string_view> words);
// A request's beginning, for words that follow one by one.
void append_count(std::string& output, std::size_t words);
void append_word(std::string& output, std::string_view word);

// One line of a reply, or a bulk string.
struct RespPart {
  char kind = 0;            // + - : $ *
  std::string_view text;    // a bulk's bytes, else the line's
  std::int64_t number = 0;  // of : $ *; a null's is negative
};

// Goes over the parts in the order in which they stand. One thread.
class RespReader {
 public:
  explicit RespReader(std::string_view bytes) : rest_(bytes) {}

  // Nothing if it has not come whole.
  std::optional<RespPart> next() {
    if (rest_.empty()) return std::nullopt;
    const char kind = rest_[0];
    return kind == '$' || kind == '*' || kind == ':' ? next_number() : next_word();
  }
  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  static constexpr std::ptrdiff_t kDigitsMax = 18;  // of a length or a count, as they are seen here

  // A reply to a lease is dozens of these, so they are gone over byte by byte, and once.
  std::optional<RespPart> next_number() {
    const char* const end = rest_.data() + rest_.size();
    const char* const begin = rest_.data() + 1;
    const bool is_negative = begin != end && *begin == '-';
    const char* const digits = is_negative ? begin + 1 : begin;
    const char* at = digits;
    std::int64_t number = 0;
    for (; at != end && *at >= '0' && *at <= '9' && at - digits < kDigitsMax; ++at) number = 10 * number + (*at - '0');
    if (end - at < 2) return std::nullopt;
    if (at == digits || at[0] != '\r' || at[1] != '\n') fail_number();
    RespPart part{.kind = rest_[0],
                  .text = {begin, static_cast<std::size_t>(at - begin)},
                  .number = is_negative ? -number : number};
    at += 2;
    if (part.kind == '$' && !is_negative) {
      if (end - at < number + 2) return std::nullopt;
      part.text = {at, static_cast<std::size_t>(number)};
      at += number + 2;
    }
    rest_ = {at, static_cast<std::size_t>(end - at)};
    return part;
  }
  std::optional<RespPart> next_word();
  [[noreturn]] void fail_number() const;

  std::string_view rest_;
};

// Bytes of the first reply, or request; 0 if it has not come whole.
std::size_t find_resp_end(std::string_view input);

}  // namespace tenure::bench
