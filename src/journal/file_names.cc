#include "journal/file_names.h"

#include <charconv>

#include <fmt/core.h>

namespace tenure {
namespace {

constexpr std::size_t kDigits = 20;

}  // namespace

std::string numbered_name(std::uint64_t sequence, std::string_view suffix) {
  return fmt::format("{:020}{}", sequence, suffix);
}

std::optional<std::uint64_t> number_in(std::string_view name, std::string_view suffix) {
  if (name.size() != kDigits + suffix.size() || !name.ends_with(suffix)) return std::nullopt;
  std::uint64_t number = 0;
  const std::string digits(name.substr(0, kDigits));
  const auto [end, error] = std::from_chars(digits.c_str(), digits.c_str() + kDigits, number);
  if (error != std::errc() || end != digits.c_str() + kDigits) return std::nullopt;
  return number;
}

std::string path_of(const std::string& folder, std::string_view name) { return fmt::format("{}/{}", folder, name); }

}  // namespace tenure
