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
  std::optional<RespPart> next();
  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

// Bytes of the first reply, or request; 0 if it has not come whole.
std::size_t find_resp_end(std::string_view input);

}  // namespace tenure::bench
