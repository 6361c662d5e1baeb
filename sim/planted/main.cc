// tenure-sim-planted BUG SEED | BUG A..B | --list
//
// Plants a bug, and runs a seed, telling its story; or looks for the first of the seeds that catches it, and fails if
// none does. A bug of several nodes is looked for where there are several. See docs/simulation.md.
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/planted.h"
#include "fleet.h"
#include "world.h"

namespace tenure {
namespace {

std::optional<PlantedBug> planted;
bool is_of_cluster = false;

}  // namespace

bool is_planted(PlantedBug bug) { return planted == bug; }

bool plant(std::string_view name) {
#define TENURE_X(symbol, text) \
  if (name == (text)) planted = PlantedBug::symbol;
  TENURE_PLANTED(TENURE_X)
  is_of_cluster = !planted.has_value();
  TENURE_PLANTED_IN_CLUSTER(TENURE_X)
#undef TENURE_X
  return planted.has_value();
}

namespace sim {
namespace {

void list() {
#define TENURE_X(symbol, text) fmt::print("{}\n", text);
  TENURE_PLANTED(TENURE_X)
  TENURE_PLANTED_IN_CLUSTER(TENURE_X)
#undef TENURE_X
}

int tell(std::uint64_t seed) {
  const Outcome outcome =
      world_kind(is_of_cluster).run_seed(seed, [](const std::string& line) { fmt::print("{}\n", line); });
  fmt::print("seed {}: {}\n", seed, outcome.breach.empty() ? "nothing broken" : outcome.breach);
  return outcome.breach.empty() ? 1 : 0;
}

int hunt(const std::string& bug, Seeds seeds) {
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    const std::string breach = run_apart(world_kind(is_of_cluster), seed);
    if (breach.empty()) continue;
    fmt::print("{}: caught by seed {}: {}\n", bug, seed, breach);
    return 0;
  }
  fmt::print("{}: not caught by seeds {}..{}\n", bug, seeds.first, seeds.last);
  return 1;
}

int run(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--list") {
    list();
    return 0;
  }
  const auto seeds = argc == 3 ? parse_seeds(argv[2]) : std::nullopt;
  if (!seeds || !plant(argv[1])) {
    fmt::print(stderr, "usage: tenure-sim-planted BUG SEED | BUG A..B | --list\n");
    return 2;
  }
  return seeds->count() == 1 ? tell(seeds->first) : hunt(argv[1], *seeds);
}

}  // namespace
}  // namespace sim
}  // namespace tenure

int main(int argc, char** argv) { return tenure::sim::run(argc, argv); }
