#include "hazelcast/message.h"

#include <bit>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"

namespace tenure::hazelcast {
namespace {

static_assert(std::endian::native == std::endian::little, "integers are sent as they lie in memory");

constexpr std::size_t kFrameHeader = 6;
constexpr std::size_t kFlagsAt = 4;
constexpr std::size_t kCorrelationAt = 4;
constexpr std::size_t kFirstFrameMin = 12;
constexpr std::size_t kUuidBytes = 17;

template <class Word>
void append(std::string& to, Word word) {
  const std::size_t begin = to.size();
  to.resize(begin + sizeof word);
  std::memcpy(to.data() + begin, &word, sizeof word);
}

template <class Word>
void overwrite(std::string& in, std::size_t at, Word word) {
  std::memcpy(in.data() + at, &word, sizeof word);
}

std::optional<Uuid> uuid_at(const char* bytes) {
  if (*bytes != 0) return std::nullopt;
  return Uuid{.high = load<std::uint64_t>(bytes + 1), .low = load<std::uint64_t>(bytes + 9)};
}

}  // namespace

std::string to_string(const Uuid& uuid) {
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", uuid.high >> 32, (uuid.high >> 16) & 0xFFFF,
                     uuid.high & 0xFFFF, uuid.low >> 48, uuid.low & 0xFFFF'FFFF'FFFF);
}

std::uint32_t Message::type() const { return load<std::uint32_t>(frames.front().content.data()); }
std::int64_t Message::correlation() const { return load<std::int64_t>(frames.front().content.data() + kCorrelationAt); }

// --- writing ---

MessageWriter::MessageWriter(std::uint32_t type, std::int32_t partition) {
  frame(flags::kWhole, {});
  append(bytes_, type);
  append(bytes_, std::int64_t{0});
  append(bytes_, partition);
}

MessageWriter& MessageWriter::int64(std::int64_t value) {
  append(bytes_, value);
  return *this;
}

MessageWriter& MessageWriter::byte(std::uint8_t value) {
  append(bytes_, value);
  return *this;
}

MessageWriter& MessageWriter::uuid(const Uuid& value) {
  append(bytes_, std::uint8_t{0});
  append(bytes_, value.high);
  append(bytes_, value.low);
  return *this;
}

MessageWriter& MessageWriter::text(std::string_view value) {
  close_frame();
  frame(0, value);
  return *this;
}

MessageWriter& MessageWriter::null() {
  close_frame();
  frame(flags::kNull, {});
  return *this;
}

MessageWriter& MessageWriter::begin() {
  close_frame();
  frame(flags::kBegin, {});
  return *this;
}

MessageWriter& MessageWriter::end() {
  close_frame();
  frame(flags::kEnd, {});
  return *this;
}

std::string MessageWriter::take(std::int64_t correlation) {
  close_frame();
  const auto last = load<std::uint16_t>(bytes_.data() + frame_ + kFlagsAt);
  overwrite(bytes_, frame_ + kFlagsAt, static_cast<std::uint16_t>(last | flags::kFinal));
  overwrite(bytes_, kFrameHeader + kCorrelationAt, correlation);
  return std::move(bytes_);
}

void MessageWriter::frame(std::uint16_t flags, std::string_view content) {
  frame_ = bytes_.size();
  append(bytes_, std::uint32_t{0});
  append(bytes_, flags);
  bytes_ += content;
}

void MessageWriter::close_frame() { overwrite(bytes_, frame_, static_cast<std::uint32_t>(bytes_.size() - frame_)); }

// --- reading ---

std::string_view MessageReader::fixed(std::size_t at, std::size_t size) {
  if (at + size > fixed_.size()) is_ok_ = false;
  return is_ok_ ? fixed_.substr(at, size) : std::string_view{};
}

std::uint8_t MessageReader::byte(std::size_t at) {
  const auto bytes = fixed(at, 1);
  return bytes.empty() ? std::uint8_t{0} : load<std::uint8_t>(&bytes.front());
}

std::int32_t MessageReader::int32(std::size_t at) {
  const auto bytes = fixed(at, sizeof(std::int32_t));
  return bytes.empty() ? 0 : load<std::int32_t>(&bytes.front());
}

std::optional<Uuid> MessageReader::uuid(std::size_t at) {
  const auto bytes = fixed(at, kUuidBytes);
  return bytes.empty() ? std::nullopt : uuid_at(&bytes.front());
}

const Frame* MessageReader::next() {
  if (next_ >= frames_.size()) is_ok_ = false;
  return is_ok_ ? &frames_[next_++] : nullptr;
}

std::string MessageReader::text() {
  auto text = text_or_null();
  if (!text) is_ok_ = false;
  return std::move(text).value_or("");
}

std::optional<std::string> MessageReader::text_or_null() {
  const Frame* const frame = next();
  if (frame == nullptr || (frame->flags & flags::kNull) != 0) return std::nullopt;
  if ((frame->flags & (flags::kBegin | flags::kEnd)) != 0) {
    is_ok_ = false;
    return std::nullopt;
  }
  return frame->content;
}

std::vector<std::int32_t> MessageReader::int32s() {
  const std::string bytes = text();
  std::vector<std::int32_t> numbers(bytes.size() / sizeof(std::int32_t));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = load<std::int32_t>(bytes.data() + i * sizeof(std::int32_t));
  }
  return numbers;
}

std::vector<std::optional<Uuid>> MessageReader::uuids() {
  const std::string bytes = text();
  std::vector<std::optional<Uuid>> uuids(bytes.size() / kUuidBytes);
  for (std::size_t i = 0; i < uuids.size(); ++i) uuids[i] = uuid_at(bytes.data() + i * kUuidBytes);
  return uuids;
}

void MessageReader::begin() {
  const Frame* const frame = next();
  if (frame != nullptr && (frame->flags & flags::kBegin) == 0) is_ok_ = false;
}

void MessageReader::begin_with_values() {
  begin();
  const Frame* const frame = next();
  if (frame != nullptr) fixed_ = frame->content;
}

bool MessageReader::at_end() const {
  return !is_ok_ || next_ >= frames_.size() || (frames_[next_].flags & flags::kEnd) != 0;
}

void MessageReader::end() {
  while (is_ok_ && !at_end()) skip();
  next();
}

// A loop, not a recursion: who sends decides how deep it goes.
void MessageReader::skip() {
  int depth = 0;
  do {
    const Frame* const frame = next();
    if (frame == nullptr) return;
    if ((frame->flags & flags::kBegin) != 0) ++depth;
    if ((frame->flags & flags::kEnd) != 0) --depth;
  } while (depth > 0);
  if (depth < 0) is_ok_ = false;
}

// --- cutting ---

Result<std::optional<Frame>> MessageStream::next_frame() {
  const std::string_view rest = std::string_view(input_).substr(begin_);
  if (rest.size() < kFrameHeader) return std::nullopt;
  const auto length = load<std::uint32_t>(&rest.front());
  if (length < kFrameHeader) {
    return fail_with(ErrorCode::kUnavailable, "a frame's length: expected {} or more, found {}", kFrameHeader, length);
  }
  if (message_bytes_ + length > kMessageBytesMax) {
    return fail_with(ErrorCode::kUnavailable, "a message: expected at most {} bytes, found more", kMessageBytesMax);
  }
  if (rest.size() < length) return std::nullopt;
  Frame frame{.flags = load<std::uint16_t>(rest.data() + kFlagsAt),
              .content = std::string(rest.substr(kFrameHeader, length - kFrameHeader))};
  begin_ += length;
  message_bytes_ += length;
  return frame;
}

Result<std::optional<Message>> MessageStream::next() {
  while (true) {
    auto frame = next_frame();
    if (!frame) return tl::unexpected(frame.error());
    if (!*frame) break;
    if (message_.frames.empty()) {
      if (((*frame)->flags & flags::kWhole) != flags::kWhole) {
        return fail_with(ErrorCode::kUnavailable, "expected a whole message, found a fragment");
      }
      if ((*frame)->content.size() < kFirstFrameMin) {
        return fail_with(ErrorCode::kUnavailable, "a first frame: expected {} bytes or more, found {}", kFirstFrameMin,
                         (*frame)->content.size());
      }
    }
    if (message_.frames.size() == kFramesMax) {
      return fail_with(ErrorCode::kUnavailable, "a message: expected at most {} frames, found more", kFramesMax);
    }
    const bool is_final = ((*frame)->flags & flags::kFinal) != 0;
    message_.frames.push_back(std::move(**frame));
    if (!is_final) continue;
    message_bytes_ = 0;
    return std::exchange(message_, {});
  }
  input_.erase(0, std::exchange(begin_, 0));
  return std::nullopt;
}

}  // namespace tenure::hazelcast
