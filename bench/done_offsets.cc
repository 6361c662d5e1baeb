// What 16 million processed offsets of one domain, in order, cost in the work book.
#include "authority/engine.h"
#include "common.h"
#include "journal/memory_journal.h"

int main() {
  using namespace tenure;
  constexpr std::int64_t kOffsets = 16'000'000;
  SystemClock clock;
  SystemEntropy entropy;
  MemoryJournal journal(MemoryJournal::Keep::kNothing);
  const auto engine = Engine::start({}, {clock, entropy, journal});
  const double begin = bench::seconds();
  for (std::int64_t i = 0; i < kOffsets; ++i) {
    std::string token;
    (*engine)->ask(WorkRequest{.domain = "orders", .offset = Offset{i}},
                   [&](Result<AcquireResult> got) { token = std::get<Acquired>(got.value()).token; });
    (*engine)->ask(WorkSuccess{.domain = "orders", .token = token}, [](const Result<SucceedResult>&) {});
  }
  const double cycles = static_cast<double>(kOffsets) / (bench::seconds() - begin);
  const auto bytes = (*engine)->inspect([](const State& state) { return state.work().bytes(); });
  bench::row("16 million processed offsets of one domain, in order", static_cast<double>(bytes), "bytes", "-", "1024");
  bench::row("work cycles on that domain by callback, 1 thread", cycles, "cycles/s");
}
