// What a lock and an unlock cost on a Hazelcast cluster of two members, through this client and through Hazelcast's own
// in Java, and on a Tenure server that makes each durable first: all on this machine, one after the other, with as many
// threads, each on keys of its own. How often a second, and how long those took that only one in a hundred exceeded.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <fmt/core.h>

#include <tenure/client.h>
#include <tenure/hazelcast.h>
#include "../tests/client/tenured.h"
#include "../tests/hazelcast/peer.h"
#include "base/check.h"
#include "common.h"

namespace tenure::bench {
namespace {

constexpr int kSeconds = 5;
constexpr int kThreads = 8;
constexpr int kKeys = 1000;

struct Cost {
  double per_second = 0;
  double slow_us = 0;
};

std::vector<double> cycle(LockBackend& locks, int number) {
  std::vector<double> times;
  const std::string owner = std::to_string(number);
  double begin = seconds();
  for (const double end = begin + kSeconds; begin < end;) {
    const std::string key = fmt::format("{}-{}", number, times.size() % kKeys);
    const LockName lock{.domain = "bench", .identifier = key};
    const auto grant = locks.acquire({.lock = lock, .owner = owner});
    locks.release({.lock = lock, .token = grant.value().token});
    const double now = seconds();
    times.push_back(now - begin);
    begin = now;
  }
  return times;
}

Cost measure(LockBackend& locks) {
  std::vector<std::vector<double>> times(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] { times[static_cast<std::size_t>(i)] = cycle(locks, i); });
  }
  for (auto& thread : threads) thread.join();
  std::vector<double> all;
  for (const auto& each : times) all.insert(all.end(), each.begin(), each.end());
  std::sort(all.begin(), all.end());
  return {.per_second = static_cast<double>(all.size()) / kSeconds, .slow_us = all[all.size() / 100 * 99] * 1e6};
}

// The member's process has a Java client in it, which measures itself.
Cost measure_java(testing::Peer& java) {
  const std::string answer = java.ask(fmt::format("cycles soft-locks {} {}", kThreads, kSeconds));
  const std::size_t blank = answer.find(' ');
  TENURE_CHECK(blank != std::string::npos, "the Java client answers: {}", answer);
  return {.per_second = std::stod(answer), .slow_us = std::stod(answer.substr(blank))};
}

void tell(const std::string& what, const Cost& cost) {
  row(what + ": lock and unlock", cost.per_second, "1/s");
  row(what + ": lock and unlock, p99", cost.slow_us, "us");
}

void run() {
  testing::Members& members = testing::Members::get();
  const auto hazelcast = hazelcast::connect({.addresses = members.addresses(), .cluster = members.cluster()});
  // Twice: the members compile what they do often.
  measure(*hazelcast);
  measure_java(members.one());
  tell("Hazelcast, C++ client", measure(*hazelcast));
  tell("Hazelcast, its Java client", measure_java(members.one()));
  members.kill();
  const testing::Tenured tenured;
  const auto client = Client::connect(tenured.address());
  measure(client->locks());
  tell("Tenure, C++ client", measure(client->locks()));
}

}  // namespace
}  // namespace tenure::bench

int main() {
  // NOLINTBEGIN(concurrency-mt-unsafe): before there are threads
  ::setenv("HAZELCAST_JAR", "build/hazelcast/hazelcast-5.7.0.jar", 0);
  ::setenv("HAZELCAST_PEER", "tests/hazelcast", 0);
  ::setenv("HAZELCAST_FLAG", "-XX:+TieredCompilation", 0);  // compiled as well as it can be
  // NOLINTEND(concurrency-mt-unsafe)
  if (!tenure::testing::can_start_members()) {
    fmt::print(stderr, "NOT MEASURED: there is no Hazelcast; scripts/hazelcast fetches it where it can\n");
    return 0;
  }
  tenure::bench::run();
}
