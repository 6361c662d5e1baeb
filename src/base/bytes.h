// The only packing code. Integers are little-endian or varints (7 bits a byte, low bits first); signed ones are
// zigzagged first, so that small negative numbers stay short.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <absl/types/span.h>

#include "base/check.h"

namespace tenure {

constexpr std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

constexpr std::size_t varint_size(std::uint64_t value) {
  if (value < 0x80) return 1;
  return (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7;
}

template <class Word>
Word load(const char* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// Copies a text that is most likely a name's length: for few bytes the call of memcpy costs more than what it does. Two
// copies of fixed size that overlap are any length in between.
[[gnu::always_inline]] inline void copy_short(std::string_view from, char* to) {
  const char* const begin = from.data();
  const std::size_t size = from.size();
  const auto copy_ends = [&]<class Word>(Word) {
    const Word first = load<Word>(begin);
    const Word last = load<Word>(begin + size - sizeof last);
    std::memcpy(to, &first, sizeof first);
    std::memcpy(to + size - sizeof last, &last, sizeof last);
  };
  if (size > 16) {
    std::memcpy(to, begin, size);
  } else if (size >= 8) {
    copy_ends(std::uint64_t{});
  } else if (size >= 4) {
    copy_ends(std::uint32_t{});
  } else if (size > 0) {
    to[0] = begin[0];
    to[size / 2] = begin[size / 2];
    to[size - 1] = begin[size - 1];
  }
}

// Whether two such texts are the same; likewise.
[[gnu::always_inline]] inline bool equals_short(std::string_view one, std::string_view other) {
  const std::size_t size = one.size();
  if (size != other.size()) return false;
  const char* const a = one.data();
  const char* const b = other.data();
  const auto same_ends = [&]<class Word>(Word) {
    const std::size_t last = size - sizeof(Word);
    return load<Word>(a) == load<Word>(b) && load<Word>(a + last) == load<Word>(b + last);
  };
  if (size > 16) return std::memcmp(a, b, size) == 0;
  if (size >= 8) return same_ends(std::uint64_t{});
  if (size >= 4) return same_ends(std::uint32_t{});
  return size == 0 || (a[0] == b[0] && a[size / 2] == b[size / 2] && a[size - 1] == b[size - 1]);
}

// Writes into room that was measured before: whoever packs knows the size first. One thread.
class ByteWriter {
 public:
  // Appends `size` bytes to the string; all of them are then written.
  ByteWriter(std::string& out, std::size_t size) {
    const std::size_t begin = out.size();
    out.resize(begin + size);
    to_ = out.data() + begin;
    end_ = to_ + size;
  }
  // Into room that is there.
  explicit ByteWriter(absl::Span<char> room) : to_(room.data()), end_(to_ + room.size()) {}
  ByteWriter(const ByteWriter&) = delete;
  ByteWriter& operator=(const ByteWriter&) = delete;
  ~ByteWriter() { TENURE_CHECK(to_ == end_, "{} bytes of the room not written", end_ - to_); }

  void varint(std::uint64_t value) {
    while (value >= 0x80) {
      *to_++ = static_cast<char>(value | 0x80);
      value >>= 7;
    }
    *to_++ = static_cast<char>(value);
  }

  void fixed64(std::uint64_t value) {
    static_assert(std::endian::native == std::endian::little, "fixed integers are stored as they lie in memory");
    std::memcpy(to_, &value, sizeof value);
    to_ += sizeof value;
  }

  void bytes(std::string_view value) {
    varint(value.size());
    copy_short(value, to_);
    to_ += value.size();
  }

 private:
  char* to_;
  char* end_;
};

// Reads what ByteWriter wrote. After the first fault every read gives zero or nothing, and ok() is false. One thread.
class ByteReader {
 public:
  explicit ByteReader(std::string_view in) : in_(in) {}

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return in_.empty(); }
  [[nodiscard]] std::size_t left() const { return in_.size(); }

  std::uint8_t byte() {
    if (in_.empty()) return static_cast<std::uint8_t>(fault());
    const auto value = static_cast<std::uint8_t>(in_.front());
    in_.remove_prefix(1);
    return value;
  }

  // Passes over one byte if it is this one.
  bool skip(std::uint8_t expected) {
    if (in_.empty() || static_cast<std::uint8_t>(in_.front()) != expected) return false;
    in_.remove_prefix(1);
    return true;
  }

  std::uint64_t varint() {
    if (!in_.empty() && static_cast<std::uint8_t>(in_.front()) < 0x80) {
      const auto value = static_cast<std::uint8_t>(in_.front());
      in_.remove_prefix(1);
      return value;
    }
    return long_varint();
  }

  std::uint64_t fixed64() {
    if (in_.size() < 8) return fault();
    std::uint64_t value = 0;
    std::memcpy(&value, in_.data(), sizeof value);
    in_.remove_prefix(8);
    return value;
  }

  std::string_view bytes() { return raw(varint()); }

  std::string_view raw(std::uint64_t size) {
    if (!ok_ || size > in_.size()) {
      fault();
      return {};
    }
    const std::string_view value = in_.substr(0, size);
    in_.remove_prefix(size);
    return value;
  }

 private:
  std::uint64_t long_varint() {
    if (in_.size() >= 8) {
      const char* const begin = in_.data();
      const auto word = load<std::uint64_t>(begin);
      // The high bit of each byte that ends a number; times are of six bytes, fingerprints of more than eight.
      if (const std::uint64_t ends = ~word & 0x8080'8080'8080'8080; ends != 0) {
        in_.remove_prefix(static_cast<std::size_t>(std::countr_zero(ends) / 8 + 1));
        return pack_sevens(word & (ends ^ (ends - 1)));
      }
    }
    return varint_by_bytes();
  }

  // Eight times seven bits, each in its byte, side by side.
  static constexpr std::uint64_t pack_sevens(std::uint64_t word) {
    word = (word & 0x7f00'7f00'7f00'7f00) >> 1 | (word & 0x007f'007f'007f'007f);
    word = (word & 0x3fff'0000'3fff'0000) >> 2 | (word & 0x0000'3fff'0000'3fff);
    return (word & 0x0fff'ffff'0000'0000) >> 4 | (word & 0x0000'0000'0fff'ffff);
  }

  std::uint64_t varint_by_bytes() {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < in_.size() && i < 10; ++i) {
      const auto next = static_cast<std::uint8_t>(in_[i]);
      if (i == 9 && next > 1) return fault();  // more than 64 bits
      value |= static_cast<std::uint64_t>(next & 0x7f) << (7 * i);
      if (next < 0x80) {
        in_.remove_prefix(i + 1);
        return value;
      }
    }
    return fault();
  }

  std::uint64_t fault() {
    ok_ = false;
    in_ = {};
    return 0;
  }

  std::string_view in_;
  bool ok_ = true;
};

}  // namespace tenure
