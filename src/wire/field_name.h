// The name of a field of a reply. As RESP writes it, it is put together when the program is compiled.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <string_view>

namespace tenure::wire {

class FieldName {
 public:
  static constexpr std::size_t kBytesMax = 32;

  // Text to everybody but RESP. NOLINTBEGIN(google-explicit-constructor)
  consteval FieldName(const char* name) : name_(name) {
    if (name_.size() > kNameMax) throw std::length_error("a field's name must have at most 25 bytes");
    const char digits[] = {static_cast<char>('0' + name_.size() / 10), static_cast<char>('0' + name_.size() % 10)};
    append("$");
    append(std::string_view(digits, 2).substr(name_.size() < 10 ? 1 : 0));
    append("\r\n");
    append(name_);
    append("\r\n");
  }
  constexpr operator std::string_view() const { return name_; }
  // NOLINTEND(google-explicit-constructor)

  // The name as a bulk string: the first size() of these bytes.
  [[nodiscard]] const std::array<char, kBytesMax>& bulk() const { return bulk_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kNameMax = kBytesMax - 7;

  consteval void append(std::string_view text) {
    std::copy(text.begin(), text.end(), bulk_.data() + size_);
    size_ += text.size();
  }

  std::string_view name_;
  std::array<char, kBytesMax> bulk_{};
  std::size_t size_ = 0;
};

}  // namespace tenure::wire
