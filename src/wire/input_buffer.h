// What a connection has received and not yet used up. It grows with what arrives, and is small again once it is empty.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include <absl/types/span.h>

namespace tenure::wire {

// One thread.
class InputBuffer {
 public:
  // Where to receive the next bytes, `least` or more.
  absl::Span<char> room(std::size_t least) {
    if (bytes_.size() - end_ < least) make_room(least);
    return absl::MakeSpan(bytes_).subspan(end_);
  }
  // So many have been received there.
  void received(std::size_t count) { end_ += count; }

  [[nodiscard]] std::string_view view() const { return std::string_view(bytes_).substr(begin_, end_ - begin_); }
  void consume(std::size_t count) {
    begin_ += count;
    if (begin_ < end_) return;
    begin_ = end_ = 0;
    if (bytes_.size() <= kKept) return;
    bytes_.resize(kKept);
    bytes_.shrink_to_fit();
  }
  [[nodiscard]] std::size_t capacity() const { return bytes_.capacity(); }

 private:
  static constexpr std::size_t kKept = std::size_t{16} << 10;

  void make_room(std::size_t least) {
    std::memmove(bytes_.data(), bytes_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    const std::size_t needed = end_ + least;
    if (bytes_.size() < needed) bytes_.resize(std::max(needed, bytes_.size() * 2));
  }

  std::string bytes_;  // all of it, whatever is in use
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace tenure::wire
