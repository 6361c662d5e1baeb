// Messages of Hazelcast's Open Binary Client Protocol, version 2. A message is a row of frames, integers are
// little-endian:
//
//   frame  := length:u32 flags:u16 content       the length counts itself and the flags
//   first  := type:u32 correlation:u64 rest      rest of a request or an event: partition:i32, then values of fixed
//   size
//                                                rest of an answer: backups:u8, then values of fixed size
//   others := a text, a row of values of fixed size, nothing (flagged null), or a structure: a frame flagged begin, its
//             frames, a frame flagged end
//
// The last frame of a message is flagged final. Who reads skips what stands at the end of a first frame or a structure
// and is not known: that is how the protocol grows.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tenure::hazelcast {

struct Uuid {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  friend auto operator<=>(const Uuid&, const Uuid&) = default;
};
// 8-4-4-4-12 hexadecimal digits.
std::string to_string(const Uuid& uuid);

namespace flags {
inline constexpr std::uint16_t kWhole = 0xC000;  // not a fragment of a longer message
inline constexpr std::uint16_t kFinal = 1 << 13;
inline constexpr std::uint16_t kBegin = 1 << 12;
inline constexpr std::uint16_t kEnd = 1 << 11;
inline constexpr std::uint16_t kNull = 1 << 10;
inline constexpr std::uint16_t kEvent = 1 << 9;
}  // namespace flags

struct Frame {
  std::uint16_t flags = 0;
  std::string content;
};

// As it was received; the first frame has its type and correlation. Immutable.
struct Message {
  std::vector<Frame> frames;

  [[nodiscard]] std::uint32_t type() const;
  [[nodiscard]] std::int64_t correlation() const;
  [[nodiscard]] bool is_event() const { return (frames.front().flags & flags::kEvent) != 0; }
};

// Where the values of fixed size begin in the first frame's content.
inline constexpr std::size_t kRequestValues = 16;
inline constexpr std::size_t kEventValues = 16;
inline constexpr std::size_t kAnswerValues = 13;

// Writes a request: first the values of fixed size, then texts and structures. One thread.
class MessageWriter {
 public:
  explicit MessageWriter(std::uint32_t type, std::int32_t partition = -1);

  MessageWriter& int64(std::int64_t value);
  MessageWriter& byte(std::uint8_t value);
  MessageWriter& uuid(const Uuid& value);
  // From here on, frames.
  MessageWriter& text(std::string_view value);
  MessageWriter& null();
  MessageWriter& begin();
  MessageWriter& end();

  // The bytes to be sent; the writer is of no more use.
  std::string take(std::int64_t correlation);

 private:
  void frame(std::uint16_t flags, std::string_view content);
  void close_frame();

  std::string bytes_;
  std::size_t frame_ = 0;  // where the last frame begins
};

// Reads a message from its beginning. After the first fault every read gives zero or nothing, and ok() is false. One
// thread.
class MessageReader {
 public:
  // The message outlives it.
  explicit MessageReader(const Message& message) : frames_(message.frames), fixed_(message.frames.front().content) {}

  // Of fixed size, in the first frame or in that of a structure that was begun.
  std::uint8_t byte(std::size_t at);
  std::int32_t int32(std::size_t at);
  std::optional<Uuid> uuid(std::size_t at);

  // The next value.
  std::string text();
  std::optional<std::string> text_or_null();
  std::vector<std::int32_t> int32s();
  std::vector<std::optional<Uuid>> uuids();
  // A list or a map: what follows are its values, until at_end().
  void begin();
  // A structure with values of fixed size, which `byte` and the others read from now on.
  void begin_with_values();
  // True also after a fault.
  [[nodiscard]] bool at_end() const;
  // Leaves the structure, whatever is left in it.
  void end();
  // Over one value, whatever it is.
  void skip();

  [[nodiscard]] bool ok() const { return is_ok_; }

 private:
  std::string_view fixed(std::size_t at, std::size_t size);
  const Frame* next();

  const std::vector<Frame>& frames_;
  std::string_view fixed_;
  std::size_t next_ = 1;
  bool is_ok_ = true;
};

// Cuts what is received into messages. One thread.
class MessageStream {
 public:
  // No member has so much to say to a client of locks, even of a thousand members.
  static constexpr std::size_t kMessageBytesMax = std::size_t{32} << 20;
  static constexpr std::size_t kFramesMax = std::size_t{1} << 17;

  void feed(std::string_view bytes) { input_ += bytes; }
  // nullopt: not until more is fed. A failure is final.
  Result<std::optional<Message>> next();

 private:
  Result<std::optional<Frame>> next_frame();

  std::string input_;
  std::size_t begin_ = 0;  // what stands before is read
  Message message_;        // its frames so far
  std::size_t message_bytes_ = 0;
};

}  // namespace tenure::hazelcast
