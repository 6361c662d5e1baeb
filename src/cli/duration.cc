#include "cli/duration.h"

#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace tenure::cli {
namespace {

struct Unit {
  std::string_view name;
  double ms;
};
// Longer names first.
constexpr std::array<Unit, 5> kUnits{{{"ms", 1}, {"s", 1e3}, {"m", 60e3}, {"h", 3600e3}, {"d", 86400e3}}};
constexpr double kLongestMs = 1e14;

tl::unexpected<Failure> no_duration(std::string_view text) {
  return fail_with(ErrorCode::kInvalid, "expected a time with its unit, like 250ms, 30s, 5m or 12h, found '{}'", text);
}

}  // namespace

Result<Millis> parse_duration(std::string_view text) {
  std::string_view rest = text;
  double sum = 0;
  do {
    double number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number, std::chars_format::fixed);
    if (error != std::errc{} || !(number >= 0)) return no_duration(text);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    const Unit* found = nullptr;
    for (const Unit& unit : kUnits) {
      if (found == nullptr && rest.starts_with(unit.name)) found = &unit;
    }
    if (found == nullptr) return no_duration(text);
    rest.remove_prefix(found->name.size());
    sum += number * found->ms;
  } while (!rest.empty());
  if (sum > kLongestMs) return no_duration(text);
  return Millis{std::llround(sum)};
}

std::string short_duration(Millis time) {
  const auto ms = std::max<std::int64_t>(time.count(), 0);
  const auto seconds = ms / 1000;
  if (ms < 1000) return fmt::format("{}ms", ms);
  if (ms < 10'000) return fmt::format("{}.{}s", seconds, ms / 100 % 10);
  if (seconds < 60) return fmt::format("{}s", seconds);
  if (seconds < 3600) return fmt::format("{}m{:02}s", seconds / 60, seconds % 60);
  if (seconds < 86'400) return fmt::format("{}h{:02}m", seconds / 3600, seconds / 60 % 60);
  return fmt::format("{}d{:02}h", seconds / 86'400, seconds / 3600 % 24);
}

}  // namespace tenure::cli
