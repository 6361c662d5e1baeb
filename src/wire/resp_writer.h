// Writes replies in RESP2 or RESP3, appending to a text that the caller owns.
//
// The two differ in two things only: a map is a RESP3 map or a flat array of name, value, ...; a null is `_` or `$-1`.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tenure/types.h>
#include "base/result.h"

namespace tenure::wire {

enum class Protocol : std::uint8_t { kResp2 = 2, kResp3 = 3 };

// One thread. Whoever announces an array or a map of n writes that many values behind it.
class RespWriter {
 public:
  RespWriter(std::string& out, Protocol protocol) : out_(out), protocol_(protocol) {}
  [[nodiscard]] Protocol protocol() const { return protocol_; }

  void array(std::size_t count) { header('*', count); }
  void map(std::size_t fields);
  // A word of the protocol standing alone: OK, PONG, COMMITTED. No CR, no LF.
  void simple(std::string_view word);
  void error(const Failure& failure);
  void null();

  void value(std::string_view bytes);
  void value(std::integral auto number) { integer(static_cast<std::int64_t>(number)); }
  void value(Instant at) { integer(at.ms); }
  void value(Millis time) { integer(time.count()); }
  void value(Fence fence) { integer(static_cast<std::int64_t>(fence.value)); }
  void value(Offset offset) { integer(offset.value); }
  // Absent: null.
  template <class T>
  void value(const std::optional<T>& maybe) {
    if (maybe) {
      value(*maybe);
    } else {
      null();
    }
  }

  // One entry of a map.
  template <class T>
  void field(std::string_view name, const T& what) {
    value(name);
    value(what);
  }

 private:
  void header(char type, std::uint64_t number);
  void integer(std::int64_t number);

  std::string& out_;
  const Protocol protocol_;
};

}  // namespace tenure::wire
