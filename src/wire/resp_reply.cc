#include "wire/resp_reply.h"

#include <charconv>
#include <utility>

#include "wire/word.h"

namespace tenure::wire {
namespace {

constexpr int kDeepest = 8;  // the protocol's own replies have 4 levels

enum class Progress : std::uint8_t { kWhole, kNeedMore, kBroken };

// Reads one reply, and those inside it, from the left. One thread.
class ReplyReader {
 public:
  explicit ReplyReader(std::string_view bytes) : bytes_(bytes) {}

  Progress read(RespReply& reply, int depth);
  [[nodiscard]] std::size_t consumed() const { return at_; }
  [[nodiscard]] const std::string& fault() const { return fault_; }

 private:
  Progress broken(std::string fault) {
    fault_ = std::move(fault);
    return Progress::kBroken;
  }
  Progress read_line(std::string_view& line);
  Progress read_bulk(std::int64_t length, RespReply& reply);
  Progress read_items(std::int64_t count, RespReply& reply, int depth);

  std::string_view bytes_;
  std::size_t at_ = 0;
  std::string fault_;
};

Progress ReplyReader::read_line(std::string_view& line) {
  const std::size_t end = bytes_.find("\r\n", at_);
  if (end == std::string_view::npos) return Progress::kNeedMore;
  line = bytes_.substr(at_, end - at_);
  at_ = end + 2;
  if (line.empty()) return broken("expected a reply, found an empty line");
  return Progress::kWhole;
}

Progress ReplyReader::read_bulk(std::int64_t length, RespReply& reply) {
  const auto size = static_cast<std::size_t>(length);
  if (bytes_.size() - at_ < size + 2) return Progress::kNeedMore;
  reply.text = bytes_.substr(at_, size);
  if (bytes_.substr(at_ + size, 2) != "\r\n") return broken("expected CR LF behind a bulk string");
  at_ += size + 2;
  return Progress::kWhole;
}

Progress ReplyReader::read_items(std::int64_t count, RespReply& reply, int depth) {
  if (depth >= kDeepest) return broken("a reply is nested too deeply");
  // The announced count is not believed: each item takes at least three bytes.
  for (std::int64_t i = 0; i < count; ++i) {
    const Progress progress = read(reply.items.emplace_back(), depth + 1);
    if (progress != Progress::kWhole) return progress;
  }
  return Progress::kWhole;
}

Progress ReplyReader::read(RespReply& reply, int depth) {
  using Kind = RespReply::Kind;
  std::string_view line;
  if (const Progress progress = read_line(line); progress != Progress::kWhole) return progress;
  const char type = line.front();
  line.remove_prefix(1);
  if (type == '+' || type == '-' || type == ':' || type == '_') {
    reply.kind = type == '+' ? Kind::kSimple : type == '-' ? Kind::kError : type == ':' ? Kind::kInteger : Kind::kNull;
    reply.text = line;
    return Progress::kWhole;
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  const bool is_number = error == std::errc{} && end == line.data() + line.size() && number >= -1 && number < 1 << 30;
  if ((type != '$' && type != '*' && type != '%') || !is_number) {
    return broken(fmt::format("expected a reply, found {}", quote(std::string(1, type) + std::string(line))));
  }
  if (number == -1) return Progress::kWhole;
  reply.kind = type == '$' ? Kind::kBulk : type == '*' ? Kind::kArray : Kind::kMap;
  if (type == '$') return read_bulk(number, reply);
  return read_items(type == '%' ? 2 * number : number, reply, depth);
}

}  // namespace

const RespReply* RespReply::find(std::string_view name) const {
  if (kind != Kind::kMap) return nullptr;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    if (items[i].text == name) return &items[i + 1];
  }
  return nullptr;
}

Result<std::optional<FirstReply>> first_reply(std::string_view bytes) {
  ReplyReader reader(bytes);
  FirstReply first;
  const Progress progress = reader.read(first.reply, 0);
  if (progress == Progress::kNeedMore) return std::nullopt;
  if (progress == Progress::kBroken) return fail_with(ErrorCode::kErr, "{}", reader.fault());
  first.consumed = reader.consumed();
  return first;
}

}  // namespace tenure::wire
