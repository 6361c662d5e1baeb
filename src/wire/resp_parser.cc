#include "wire/resp_parser.h"

#include <algorithm>

#include "wire/inline_words.h"
#include "wire/word.h"

namespace tenure::wire {
namespace {

constexpr std::size_t kDigitsMax = 18;  // of an announced size: no overflow, and far beyond every limit

constexpr std::size_t kBytesKeptMax = 4096;  // from one request to the next; there may be many connections

constexpr std::size_t kBulkBytesMin = 6;  // "$0", and two ends of lines

// Reads the type, a few digits and the end of the line, and returns what is behind them; null: it is otherwise.
inline const char* skip_size(const char* at, const char* end, char type, std::size_t& size) {
  constexpr std::ptrdiff_t kDigits = 7;
  const auto digit_at = [](const char* place) {
    return static_cast<std::size_t>(static_cast<std::uint8_t>(*place)) - '0';
  };
  const auto is_end = [](const char* place) { return place[0] == '\r' && place[1] == '\n'; };
  // Nearly all are of one digit or two.
  if (end - at >= 5 && *at == type && digit_at(at + 1) <= 9) {
    if (is_end(at + 2)) {
      size = digit_at(at + 1);
      return at + 4;
    }
    if (digit_at(at + 2) <= 9 && is_end(at + 3)) {
      size = 10 * digit_at(at + 1) + digit_at(at + 2);
      return at + 5;
    }
  }
  if (end - at < 4 || *at != type || digit_at(++at) > 9) return nullptr;
  const char* const digits = at;
  size = digit_at(at);
  while (++at < end && digit_at(at) <= 9 && at - digits <= kDigits) size = 10 * size + digit_at(at);
  if (at - digits > kDigits || end - at < 2 || !is_end(at)) return nullptr;
  return at + 2;
}

// A browser can be made to send these here: what follows would be the attacker's words.
bool is_from_browser(std::string_view word) { return is_word(word, "POST") || is_word(word, "HOST:"); }

}  // namespace

RespParser::Step RespParser::next(std::string_view bytes) {
  std::size_t passed = 0;
  while (true) {
    const std::string_view rest = bytes.substr(passed);
    if (rest.empty()) return {.outcome = Outcome::kNeedMore, .consumed = passed};
    if (kind_ == Kind::kNone) begin_request(rest[0]);
    Step step = kind_ == Kind::kArray ? read_array(rest) : read_line(rest);
    step.consumed += passed;
    const bool is_empty = step.outcome == Outcome::kRequest && step.words.empty();
    if (!is_empty) return step;
    passed = step.consumed;
  }
}

void RespParser::begin_request(char first) {
  kind_ = first == '*' ? Kind::kArray : Kind::kLine;
  if (bytes_kept() <= kBytesKeptMax) return;
  pieces_.clear();
  pieces_.shrink_to_fit();
  words_.clear();
  words_.shrink_to_fit();
  unquoted_.clear();
  unquoted_.shrink_to_fit();
}

RespParser::Step RespParser::read_array(std::string_view bytes) {
  if (at_ == 0 && !is_skipping_ && read_at_once(bytes)) return end_request(Outcome::kRequest);
  Progress progress = has_count_ ? Progress::kDone : read_count(bytes);
  while (progress == Progress::kDone && words_left_ > 0) progress = read_bulk(bytes);
  if (progress == Progress::kNeedMore) return need_more();
  if (progress == Progress::kBroken) return {.outcome = Outcome::kBroken, .failure = &*failure_};
  if (is_skipping_) return end_request(Outcome::kRefused);
  words_.clear();
  for (const Piece& piece : pieces_) words_.push_back(bytes.substr(piece.begin, piece.size));
  return end_request(Outcome::kRequest);
}

// The usual case: a request that is all there and within the limits. False: it is not, and nothing has been read of it.
bool RespParser::read_at_once(std::string_view bytes) {
  const char* at = bytes.data();
  const char* const end = at + std::min(bytes.size(), limits_.request_bytes_max);
  std::size_t count = 0;
  at = skip_size(at, end, '*', count);
  if (at == nullptr || count > limits_.words_max || count * kBulkBytesMin > static_cast<std::size_t>(end - at)) {
    return false;
  }
  words_.resize(count);
  for (std::string_view& word : words_) {
    std::size_t size = 0;
    at = skip_size(at, end, '$', size);
    if (at == nullptr || static_cast<std::size_t>(end - at) < size + 2) return false;
    word = {at, size};
    at += size;
    if (at[0] != '\r' || at[1] != '\n') return false;
    at += 2;
  }
  at_ = static_cast<std::size_t>(at - bytes.data());
  return true;
}

RespParser::Step RespParser::read_line(std::string_view bytes) {
  // A longer line is given up at the same byte, however many have arrived.
  const std::size_t end = bytes.substr(0, limits_.line_bytes_max + 1).find('\n', at_);
  if (end == std::string_view::npos && bytes.size() > limits_.line_bytes_max) {
    break_off(ErrorCode::kErr, fmt::format("expected a line of at most {} bytes", limits_.line_bytes_max));
    return {.outcome = Outcome::kBroken, .failure = &*failure_};
  }
  if (end == std::string_view::npos) {
    at_ = bytes.size();
    return need_more();
  }
  at_ = end + 1;
  if (!split_line(bytes.substr(0, end), limits_.words_max, unquoted_, words_)) {
    failure_ = {ErrorCode::kErr, "Protocol error: expected quotes that are closed, with a blank behind them"};
    return end_request(Outcome::kRefused);
  }
  if (words_.size() > limits_.words_max) {
    failure_ = {ErrorCode::kErr,
                fmt::format("wrong number of arguments: expected a request of at most {} words, found more",
                            limits_.words_max)};
    return end_request(Outcome::kRefused);
  }
  if (!words_.empty() && is_from_browser(words_[0])) {
    break_off(ErrorCode::kErr, "expected a command, found HTTP, which is served at another port");
    return {.outcome = Outcome::kBroken, .failure = &*failure_};
  }
  return end_request(Outcome::kRequest);
}

RespParser::Progress RespParser::read_count(std::string_view bytes) {
  std::uint64_t count = 0;
  if (const Progress progress = read_number(bytes, count); progress != Progress::kDone) return progress;
  if (count > limits_.skipped_words_max) {
    return break_off(ErrorCode::kErr,
                     fmt::format("expected a request of at most {} words, found {}", limits_.words_max, count));
  }
  if (count > limits_.words_max) {
    is_skipping_ = true;
    failure_ = {ErrorCode::kErr,
                fmt::format("wrong number of arguments: expected a request of at most {} words, found {}",
                            limits_.words_max, count)};
  }
  has_count_ = true;
  words_left_ = count;
  return Progress::kDone;
}

RespParser::Progress RespParser::read_bulk(std::string_view bytes) {
  if (!bulk_) {
    if (at_ == bytes.size()) return Progress::kNeedMore;
    if (bytes[at_] != '$') {
      return break_off(ErrorCode::kErr,
                       fmt::format("expected '$' and a bulk string's length, found {}", quote(bytes.substr(at_, 1))));
    }
    std::uint64_t length = 0;
    if (const Progress progress = read_number(bytes, length); progress != Progress::kDone) return progress;
    if (const Progress progress = admit(length); progress != Progress::kDone) return progress;
    bulk_ = length;
  }
  const Progress progress = is_skipping_ ? skip_body(bytes) : read_body(bytes);
  if (progress != Progress::kDone) return progress;
  bulk_.reset();
  --words_left_;
  return Progress::kDone;
}

// Whether a request with this bulk string is still within the limits.
RespParser::Progress RespParser::admit(std::uint64_t length) {
  const std::uint64_t total = forgotten_ + at_ + length + 2;
  if (total <= limits_.request_bytes_max) return Progress::kDone;
  if (!is_skipping_) {
    is_skipping_ = true;
    failure_ = {ErrorCode::kTooLarge,
                fmt::format("request: expected at most {} bytes, found {} or more", limits_.request_bytes_max, total)};
  }
  return total <= limits_.skipped_bytes_max ? Progress::kDone : Progress::kBroken;
}

RespParser::Progress RespParser::read_body(std::string_view bytes) {
  const std::size_t begin = at_;
  const std::size_t length = *bulk_;
  if (bytes.size() - begin < length + 2) return Progress::kNeedMore;
  at_ += length;
  pieces_.push_back({begin, length});
  return read_end_of_line(bytes);
}

RespParser::Progress RespParser::skip_body(std::string_view bytes) {
  const std::size_t there = std::min<std::uint64_t>(*bulk_, bytes.size() - at_);
  at_ += there;
  *bulk_ -= there;
  return *bulk_ > 0 ? Progress::kNeedMore : read_end_of_line(bytes);
}

RespParser::Progress RespParser::read_end_of_line(std::string_view bytes) {
  if (bytes.size() - at_ < 2) return Progress::kNeedMore;
  if (bytes[at_] != '\r' || bytes[at_ + 1] != '\n') {
    return break_off(ErrorCode::kErr, fmt::format("expected CR LF, found {}", quote(bytes.substr(at_, 2))));
  }
  at_ += 2;
  return Progress::kDone;
}

// The number behind the one character at `at_`, up to its CR LF. Goes on only if all of it is there.
RespParser::Progress RespParser::read_number(std::string_view bytes, std::uint64_t& number) {
  const std::size_t begin = at_ + 1;
  std::size_t at = begin;
  for (; at < bytes.size() && bytes[at] >= '0' && bytes[at] <= '9'; ++at) {
    if (at - begin == kDigitsMax) return break_off(ErrorCode::kErr, "expected a size, found a number of 19 digits");
    number = number * 10 + static_cast<std::uint64_t>(bytes[at] - '0');
  }
  if (at == bytes.size()) return Progress::kNeedMore;
  if (at == begin || bytes[at] != '\r') {
    return break_off(ErrorCode::kErr,
                     fmt::format("expected a size as decimal digits and CR LF, found {}", quote(bytes.substr(at, 1))));
  }
  const std::size_t before = std::exchange(at_, at);
  const Progress progress = read_end_of_line(bytes);
  if (progress == Progress::kNeedMore) at_ = before;
  return progress;
}

RespParser::Progress RespParser::break_off(ErrorCode code, std::string message) {
  failure_ = {code, "Protocol error: " + std::move(message)};
  return Progress::kBroken;
}

// What is skipped need not be kept.
RespParser::Step RespParser::need_more() {
  if (!is_skipping_) return {.outcome = Outcome::kNeedMore};
  forgotten_ += at_;
  return {.outcome = Outcome::kNeedMore, .consumed = std::exchange(at_, 0)};
}

RespParser::Step RespParser::end_request(Outcome outcome) {
  Step step{.outcome = outcome, .consumed = std::exchange(at_, 0)};
  if (outcome == Outcome::kRequest) {
    step.words = words_;
  } else {
    step.failure = &*failure_;
  }
  kind_ = Kind::kNone;
  forgotten_ = 0;
  has_count_ = false;
  is_skipping_ = false;
  pieces_.clear();
  return step;
}

}  // namespace tenure::wire
