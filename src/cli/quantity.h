// Numbers as a glance takes them in.
#pragma once

#include <string>

#include <fmt/format.h>

namespace tenure::cli {

// 512 B, 1.5 KiB, 24 MiB
inline std::string bytes_text(double bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  return bytes < 10 && unit > 0 ? fmt::format("{:.1f} {}", bytes, kUnits[unit])
                                : fmt::format("{:.0f} {}", bytes, kUnits[unit]);
}

// 7, 950, 12.3k, 4.5M
inline std::string amount_text(double amount) {
  if (amount < 10 && amount != static_cast<double>(static_cast<long>(amount))) return fmt::format("{:.1f}", amount);
  if (amount < 10'000) return fmt::format("{:.0f}", amount);
  return amount < 1e6 ? fmt::format("{:.1f}k", amount / 1e3) : fmt::format("{:.1f}M", amount / 1e6);
}

}  // namespace tenure::cli
