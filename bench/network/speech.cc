#include "speech.h"

#include <array>
#include <stdexcept>

#include <fmt/core.h>

#include "speeches.h"

namespace tenure::bench {
namespace {

struct Entry {
  std::string_view peer;
  std::string_view work;
  std::unique_ptr<Speech> (*make)(const Plan& plan);
  bool is_pipelined = true;  // whether a connection may have more than one lane
};

constexpr std::array kEntries = {
    Entry{"tenure", "lock", make_tenure_lock},
    Entry{"tenure", "acquire", make_tenure_acquire},
    Entry{"tenure", "contended", make_tenure_contended},
    Entry{"tenure", "hand-over", make_tenure_hand_over, false},  // behind one that waits nothing is begun
    Entry{"tenure", "task", make_tenure_task},
    Entry{"tenure", "task-batch", make_tenure_task_batch},
    Entry{"tenure", "work", make_tenure_work},
    Entry{"redis", "lock", make_redis_lock},
    Entry{"redis", "contended", make_redis_contended},
    Entry{"redis", "task", make_redis_task},
    Entry{"bare", "lock", make_bare_lock},
    Entry{"bare", "contended", make_bare_contended},
    Entry{"bare", "task", make_bare_task},
    Entry{"beanstalkd", "task", make_beanstalkd_task},
    Entry{"nats", "task", make_nats_task, false},  // its answers come in any order
};

}  // namespace

std::unique_ptr<Speech> make_speech(const Plan& plan) {
  std::string known;
  for (const Entry& entry : kEntries) {
    known += fmt::format("{}{} {}", known.empty() ? "" : ", ", entry.peer, entry.work);
    if (entry.peer != plan.peer || entry.work != plan.work) continue;
    if (plan.depth > 1 && !entry.is_pipelined)
      throw std::runtime_error(fmt::format("expected depth 1, which is all this work has, found {}", plan.depth));
    return entry.make(plan);
  }
  throw std::runtime_error(fmt::format("expected one of {}; found {} {}", known, plan.peer, plan.work));
}

}  // namespace tenure::bench
