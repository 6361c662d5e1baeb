#include "symbols.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/text.h"
#include "words.h"

namespace tenure::scenario {
namespace {

constexpr std::size_t kSecretDigits = 16;
constexpr std::size_t kDigestDigits = 32;
constexpr std::size_t kInstantDigits = 13;
// Instants in free text are told from other numbers by being this close to the start.
constexpr Millis kNear = std::chrono::hours(24 * 500);

bool is_alnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

std::size_t count_while(std::string_view text, std::size_t at, int (*is)(int)) {
  std::size_t end = at;
  while (end < text.size() && is(static_cast<unsigned char>(text[end])) != 0) ++end;
  return end - at;
}

bool is_instant(std::string_view name) {
  return name.ends_with("_at") || name.ends_with("_expiry") || name == "not_before" || name == "last_seen" ||
         name == "stamp";
}

}  // namespace

std::string Symbols::instant_text(Instant instant) const {
  const Millis since = instant - start_;
  return since < Millis{0} ? duration_text(since) : "+" + duration_text(since);
}

std::string Symbols::symbol_of(char kind, const std::string& text) {
  const auto found = symbols_.find(text);
  if (found != symbols_.end()) return found->second;
  std::string symbol = fmt::format("{}{}", kind, ++counts_[kind]);
  symbols_[text] = symbol;
  texts_[symbol] = text;
  return symbol;
}

std::string Symbols::resolve(const std::string& word) const {
  const std::size_t dollar = word.starts_with('$') ? 0 : word.find("=$") + 1;
  if (dollar == 0 && !word.starts_with('$')) return word;
  const auto found = texts_.find(word.substr(dollar + 1));
  if (found == texts_.end()) throw ScriptError(fmt::format("'{}' stands for nothing yet", word));
  return word.substr(0, dollar) + found->second;
}

// A number in free text, and what follows it: <fence>-<16 hex>, an instant, or just a number.
std::string Symbols::replace_number(std::string_view text, std::size_t& at) {
  const std::size_t begin = at;
  const std::size_t digits = count_while(text, begin, std::isdigit);
  const std::size_t hex = count_while(text, begin, std::isxdigit);
  const std::size_t dash = begin + digits;
  if (dash < text.size() && text[dash] == '-' && count_while(text, dash + 1, std::isalnum) == kSecretDigits &&
      count_while(text, dash + 1, std::isxdigit) == kSecretDigits) {
    at = dash + 1 + kSecretDigits;
    return symbol_of(text.substr(begin, digits) == "0" ? 'T' : 'L', std::string(text.substr(begin, at - begin)));
  }
  at = begin + count_while(text, begin, std::isalnum);
  std::string whole(text.substr(begin, at - begin));
  if (hex == kDigestDigits && whole.size() == hex) return symbol_of('D', whole);
  const auto number = parse_integer(whole);
  if (!number || whole.size() != kInstantDigits) return whole;
  const Instant instant{*number};
  return std::max(instant - start_, start_ - instant) < kNear ? instant_text(instant) : whole;
}

std::string Symbols::replace(std::string_view text) {
  std::string replaced;
  for (std::size_t at = 0; at < text.size();) {
    const bool starts_word = at == 0 || !is_alnum(text[at - 1]);
    if (starts_word && std::isxdigit(static_cast<unsigned char>(text[at])) != 0) {
      replaced += replace_number(text, at);
    } else {
      replaced.push_back(text[at++]);
    }
  }
  return replaced;
}

std::string Symbols::show(const AnswerField& field) {
  if (field.name.empty()) return replace(*field.value);
  const auto number = parse_integer(*field.value);
  if (number && field.name.ends_with("_ms")) {
    return fmt::format("{}={}", field.name.substr(0, field.name.size() - 3), duration_text(Millis{*number}));
  }
  if (number && is_instant(field.name)) return fmt::format("{}={}", field.name, instant_text(Instant{*number}));
  return fmt::format("{}={}", field.name, replace(quoted_if_needed(*field.value)));
}

std::string Symbols::show(const AnswerLine& line) {
  std::string text;
  for (const AnswerField& field : line) {
    if (!field.value) continue;
    if (!text.empty()) text.push_back(' ');
    text += show(field);
  }
  return text;
}

}  // namespace tenure::scenario
