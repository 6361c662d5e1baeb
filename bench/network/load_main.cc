// tenure-load: drives a peer with one kind of work for some seconds and prints what was measured as a line of JSON.
#include <cstdio>
#include <exception>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "load.h"
#include "speech.h"

namespace {

using tenure::bench::Figures;
using tenure::bench::Plan;

void print(const Plan& plan, const Figures& figures) {
  fmt::print(
      "{{\"peer\": \"{}\", \"work\": \"{}\", \"connections\": {}, \"depth\": {}, \"seconds\": {:.3f}, \"cycles\": {}, "
      "\"cycles_per_second\": {:.1f}, \"p50_us\": {:.1f}, \"p99_us\": {:.1f}, \"max_us\": {:.1f}}}\n",
      plan.peer, plan.work, plan.connections, plan.depth, figures.seconds, figures.cycles,
      static_cast<double>(figures.cycles) / figures.seconds, figures.p50_us, figures.p99_us, figures.max_us);
}

}  // namespace

int main(int argc, char** argv) {
  Plan plan;
  plan.run = fmt::format("{}", getpid());
  std::uint16_t port = 0;
  CLI::App app("Drives a server of this machine with cycles of one kind of work; prints a line of JSON.");
  app.add_option("--peer", plan.peer, "tenure, redis, bare, beanstalkd or nats")->required();
  app.add_option("--work", plan.work, "lock, task, ...: a wrong one lists all")->required();
  app.add_option("--port", port, "the peer's port at 127.0.0.1")->required();
  app.add_option("--connections", plan.connections)->check(CLI::Range(1, 10'000))->capture_default_str();
  app.add_option("--depth", plan.depth, "cycles under way on each connection")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--seconds", plan.seconds)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--warm-up", plan.warm_up_seconds, "seconds before those that count")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    const auto speech = make_speech(plan);
    print(plan, tenure::bench::Load(plan, *speech, port).run());
  } catch (const std::exception& error) {
    fmt::print(stderr, "tenure-load: {} {}: {}\n", plan.peer, plan.work, error.what());
    return 1;
  }
}
