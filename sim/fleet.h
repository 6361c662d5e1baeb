// Many seeds, in processes side by side: one that dies takes no other with it, and the seed that killed it is known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "world.h"

namespace tenure::sim {

struct Seeds {
  std::uint64_t first = 0;
  std::uint64_t last = 0;

  [[nodiscard]] std::uint64_t count() const { return last - first + 1; }
};

// "3..7"; a single number is a range of one. Nullopt: it is neither.
std::optional<Seeds> parse_seeds(std::string_view text);

// A run of so many seeds in which something never occurred has failed.
inline constexpr std::uint64_t kSeedsForAll = 200;

// One server, or several.
struct WorldKind {
  Where where;
  Outcome (*run_seed)(std::uint64_t seed, const Story::Listener& listener);
};
WorldKind world_kind(bool is_cluster);

// Runs them all; prints failures with the command that repeats them and the end of their story, then the table. The
// exit status: 0 if nothing was broken and nothing is missing.
int run_fleet(const WorldKind& kind, Seeds seeds, unsigned jobs, const std::string& program);

// Runs one in a process of its own. What was broken; empty: nothing.
std::string run_apart(const WorldKind& kind, std::uint64_t seed);

}  // namespace tenure::sim
