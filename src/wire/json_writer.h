// Writes JSON, appending to a text that the caller owns.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tenure/types.h>

namespace tenure::wire {

// One thread. Whoever begins an object or an array ends it; in an object a name stands before each value.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  void begin_object() { begin('{'); }
  void end_object() { end('}'); }
  void begin_array() { begin('['); }
  void end_array() { end(']'); }
  void name(std::string_view text);

  void null() { literal("null"); }
  void value(bool yes) { literal(yes ? "true" : "false"); }
  // UTF-8.
  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(std::integral auto number) { literal(std::to_string(number)); }
  // Finite.
  void value(std::floating_point auto number) { literal(number_text(number)); }
  void value(Instant at) { value(at.ms); }
  void value(Millis time) { value(time.count()); }
  void value(Fence fence) { value(fence.value); }
  void value(Offset offset) { value(offset.value); }
  // Absent: null.
  template <class T>
  void value(const std::optional<T>& maybe) {
    if (maybe) {
      value(*maybe);
    } else {
      null();
    }
  }

  // One member of an object.
  template <class T>
  void field(std::string_view text, const T& what) {
    name(text);
    value(what);
  }
  // The same for bytes that need not be text: under this name if they are UTF-8, else in base64 under `<name>_base64`.
  void bytes(std::string_view text, std::optional<std::string_view> what);

 private:
  void begin(char bracket);
  void end(char bracket);
  void literal(std::string_view text);
  void separate();
  static std::string number_text(double number);

  std::string& out_;
  bool is_first_ = true;  // of its object, array or document, or behind a name: no comma is due
};

}  // namespace tenure::wire
