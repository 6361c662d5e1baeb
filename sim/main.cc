#include <cstdlib>
#include <fmt/format.h>
#include "world.h"
int main(int argc, char** argv) {
  const std::uint64_t a = std::strtoull(argv[1], nullptr, 10);
  const std::uint64_t b = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : a;
  tenure::sim::Tally sum;
  for (auto s = a; s <= b; ++s) {
    auto o = tenure::sim::run_seed(s, a == b ? tenure::sim::Story::Listener([](const std::string& l) { fmt::print("{}\n", l); }) : nullptr);
    if (!o.breach.empty()) fmt::print("seed {}: {}\n", s, o.breach);
    for (auto& l : o.tally.lines()) sum.add(l);
  }
  if (a != b) fmt::print("{}events {}\n", sum.table(), sum.events());
}
