// Writes replies in RESP2 or RESP3, appending to a text that the caller owns.
//
// The two differ in two things only: a map is a RESP3 map or a flat array of name, value, ...; a null is `_` or `$-1`.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include <tenure/types.h>
#include "base/result.h"
#include "wire/field_name.h"

namespace tenure::wire {

enum class Protocol : std::uint8_t { kResp2 = 2, kResp3 = 3 };

// What is written as an integer.
constexpr std::int64_t number_of(std::integral auto number) { return static_cast<std::int64_t>(number); }
constexpr std::int64_t number_of(Instant at) { return at.ms; }
constexpr std::int64_t number_of(Millis time) { return time.count(); }
constexpr std::int64_t number_of(Fence fence) { return static_cast<std::int64_t>(fence.value); }
constexpr std::int64_t number_of(Offset offset) { return offset.value; }

// One thread. Whoever announces an array or a map of n writes that many values behind it, and whoever has written all
// of it finishes: before that the text may lack the end.
class RespWriter {
 public:
  RespWriter(std::string& out, Protocol protocol) : out_(out), protocol_(protocol) {}
  RespWriter(const RespWriter&) = delete;
  RespWriter& operator=(const RespWriter&) = delete;
  ~RespWriter();

  [[nodiscard]] Protocol protocol() const { return protocol_; }
  void finish();

  void array(std::size_t count) { header('*', count); }
  void map(std::size_t fields);
  // A word of the protocol standing alone: OK, PONG, COMMITTED. No CR, no LF.
  void simple(std::string_view word);
  void error(const Failure& failure);
  void null();

  void value(std::string_view bytes);
  template <class T>
    requires requires(T what) { number_of(what); }
  void value(T what) {
    integer(number_of(what));
  }
  // Absent: null.
  template <class T>
  void value(const std::optional<T>& maybe) {
    if (maybe) {
      value(*maybe);
    } else {
      null();
    }
  }

  // One entry of a map; or its name, which the value follows.
  void name(const FieldName& name) {
    std::memcpy(room_for(FieldName::kBytesMax), name.bulk().data(), FieldName::kBytesMax);
    used_ += name.size();
  }
  template <class T>
  void field(std::string_view name, const T& what) {
    value(name);
    value(what);
  }

 private:
  void header(char type, std::uint64_t number);
  void integer(std::int64_t number);

  // Where so many bytes more may be written, and that they end there.
  char* room_for(std::size_t bytes);
  void end_at(const char* end) { used_ = static_cast<std::size_t>(end - room_); }
  void append(std::string_view text);

  std::string& out_;
  const Protocol protocol_;
  // A reply is a dozen short pieces: they are put together here, and reach the text at once.
  char room_[512];
  std::size_t used_ = 0;
};

}  // namespace tenure::wire
