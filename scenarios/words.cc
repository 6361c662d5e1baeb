#include "words.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "subject.h"

namespace tenure::scenario {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t ms;
};
constexpr std::array<Unit, 5> kUnits = {{{"ms", 1}, {"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}}};

struct DurationOption {
  std::string_view word;
  std::size_t values;
};
constexpr std::array<DurationOption, 8> kDurationOptions = {
    {{"LEASE", 1}, {"BLOCK", 1}, {"WAIT", 1}, {"WINDOW", 1}, {"DELAY", 1}, {"GRACE", 1}, {"WALL", 1}, {"BACKOFF", 2}}};

bool is_plain(char c) { return c > ' ' && c < 0x7f && c != '"' && c != '\\'; }

// Takes words off a line, one after the other.
class Splitter {
 public:
  explicit Splitter(std::string_view line) : left_(line) {}

  bool next(std::string& word) {
    left_.remove_prefix(std::min(left_.find_first_not_of(' '), left_.size()));
    if (left_.empty()) return false;
    word.clear();
    while (!left_.empty() && left_.front() != ' ') {
      if (left_.front() == '"') {
        take_quoted(word);
      } else if (left_.front() == '{') {
        take_repeated(word);
      } else {
        word.push_back(left_.front());
        left_.remove_prefix(1);
      }
    }
    return true;
  }

 private:
  char take() {
    if (left_.empty()) throw ScriptError("a quote is not closed");
    const char c = left_.front();
    left_.remove_prefix(1);
    return c;
  }

  void take_quoted(std::string& word) {
    take();
    for (char c = take(); c != '"'; c = take()) word.push_back(c == '\\' ? take_escape() : c);
  }

  char take_escape() {
    const char c = take();
    if (c == 'n') return '\n';
    if (c == '"' || c == '\\') return c;
    unsigned value = 0;
    const std::string_view digits = left_.substr(0, 2);
    const auto read = std::from_chars(digits.begin(), digits.end(), value, 16);
    if (c != 'x' || digits.size() != 2 || read.ptr != digits.end())
      throw ScriptError("expected \\n, \\\", \\\\ or \\xNN");
    left_.remove_prefix(2);
    return static_cast<char>(value);
  }

  // {a*256}: the text between brace and star, that many times.
  void take_repeated(std::string& word) {
    const std::size_t end = left_.find('}');
    const std::size_t star = left_.find('*');
    if (end == std::string_view::npos || star > end) throw ScriptError("expected {text*count}");
    const auto count = parse_integer(left_.substr(star + 1, end - star - 1));
    if (!count || *count < 0) throw ScriptError("expected {text*count}");
    for (std::int64_t i = 0; i < *count; ++i) word.append(left_.substr(1, star - 1));
    left_.remove_prefix(end + 1);
  }

  std::string_view left_;
};

}  // namespace

std::vector<std::string> split_words(std::string_view line) {
  std::vector<std::string> words;
  Splitter splitter(line);
  for (std::string word; splitter.next(word);) words.push_back(word);
  return words;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Millis> parse_duration(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  double total = 0;
  while (!text.empty()) {
    double number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (read.ec != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    const auto* unit =
        std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& each) { return text.starts_with(each.name); });
    if (unit == kUnits.end()) return std::nullopt;
    text.remove_prefix(unit->name.size());
    total += number * static_cast<double>(unit->ms);
  }
  return Millis{std::llround(is_negative ? -total : total)};
}

std::string duration_text(Millis duration) {
  std::string text = duration < Millis{0} ? "-" : "";
  std::int64_t left = std::abs(duration.count());
  for (const auto& [name, ms] : {Unit{"h", 3'600'000}, Unit{"m", 60'000}}) {
    if (left >= ms) text += fmt::format("{}{}", left / ms, name);
    left %= ms;
  }
  if (left == 0 && duration.count() != 0) return text;
  std::string seconds = fmt::format("{}.{:03}", left / 1000, left % 1000);
  seconds.erase(seconds.find_last_not_of('0') + 1);
  if (seconds.ends_with('.')) seconds.pop_back();
  return text + seconds + "s";
}

std::string quoted_if_needed(std::string_view text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (is_plain(c) || c == ' ') {
      quoted.push_back(c);
    } else if (c == '"' || c == '\\') {
      quoted.append(1, '\\').append(1, c);
    } else {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return quoted + "\"";
}

void translate_durations(std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto* option = std::find_if(kDurationOptions.begin(), kDurationOptions.end(),
                                      [&](const DurationOption& each) { return each.word == words[i]; });
    if (option == kDurationOptions.end()) continue;
    for (std::size_t value = i + 1; value <= i + option->values && value < words.size(); ++value) {
      if (const auto duration = parse_duration(words[value])) words[value] = std::to_string(duration->count());
    }
  }
}

}  // namespace tenure::scenario
