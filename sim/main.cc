// tenure-sim [--cluster] SEED | --seeds A..B [--jobs N]
//
// Runs the authority on a simulated world. See docs/simulation.md.
#include <cstdio>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <tenure/version.h>
#include "fleet.h"
#include "world.h"

namespace tenure::sim {
namespace {

// One line for each event.
int tell(const WorldKind& kind, std::uint64_t seed) {
  const Outcome outcome = kind.run_seed(seed, [](const std::string& line) { fmt::print("{}\n", line); });
  fmt::print("{}", outcome.tally.table());
  if (outcome.breach.empty()) {
    fmt::print("seed {}: {} events, nothing broken\n", seed, outcome.tally.events());
    return 0;
  }
  fmt::print("seed {}: broken after {} events: {}\n", seed, outcome.tally.events(), outcome.breach);
  return 1;
}

int run(int argc, char** argv) {
  CLI::App app("Runs the authority on a simulated world: clocks, files and callers that fail, all from one seed.");
  app.set_version_flag("--version", fmt::format("tenure-sim {}", kVersion));
  std::string seed;
  std::string range;
  unsigned jobs = 1;
  bool is_cluster = false;
  app.add_option("SEED", seed, "the seed to run, one line for each event");
  app.add_option("--seeds", range, "A..B: run these seeds, and tell how often everything occurred");
  app.add_flag("--cluster", is_cluster, "three nodes on an etcd instead of one server with a disk");
  app.add_option("--jobs", jobs, "processes that run seeds side by side")->check(CLI::Range(1, 256));
  CLI11_PARSE(app, argc, argv);
  const auto seeds = parse_seeds(seed.empty() ? range : seed);
  if (seed.empty() == range.empty() || !seeds) {
    fmt::print(stderr, "tenure-sim: expected one of SEED and --seeds A..B; see --help\n");
    return 2;
  }
  const WorldKind kind = world_kind(is_cluster);
  const std::string program = is_cluster ? fmt::format("{} --cluster", argv[0]) : argv[0];
  return range.empty() ? tell(kind, seeds->first) : run_fleet(kind, *seeds, jobs, program);
}

}  // namespace
}  // namespace tenure::sim

int main(int argc, char** argv) { return tenure::sim::run(argc, argv); }
