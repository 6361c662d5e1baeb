// Tenure's tasks. A cycle submits a batch, leases as many from the queue that all lanes share, and completes them:
// since each lane submits before it leases, there are always enough.
#include <string>
#include <vector>

#include <fmt/core.h>

#include "expect.h"
#include "resp_speech.h"
#include "speeches.h"

namespace tenure::bench {
namespace {

constexpr std::size_t kTaskPayloadBytes = 100;
constexpr std::size_t kTaskBatch = 32;

struct LeasedTask {
  std::string_view task_id;
  std::string_view lease_id;
};

// One of the maps that TASK.LEASE answers with.
LeasedTask read_lease(RespReader& reader, std::string_view reply) {
  const auto map = reader.next();
  expect(map && map->kind == '*' && map->number > 0 && map->number % 2 == 0, "a leased task's fields", reply);
  LeasedTask task;
  for (std::int64_t i = 0; i < map->number; i += 2) {
    const auto field = reader.next();
    const auto value = reader.next();
    expect(field && value, "a field and its value", reply);
    if (field->text == "task_id") task.task_id = value->text;
    if (field->text == "lease_id") task.lease_id = value->text;
  }
  expect(!task.task_id.empty() && !task.lease_id.empty(), "task_id and lease_id", reply);
  return task;
}

class TenureTasks : public RespSpeech {
 public:
  TenureTasks(const Plan& plan, std::size_t batch) : batch_(batch), steps_(plan.lanes()) {
    const std::string queue = fmt::format("bench-{}", plan.run);
    append_request(submit_, {"TASK.SUBMIT", queue, std::string(kTaskPayloadBytes, 'x')});
    const std::string count = fmt::format("{}", batch);
    for (Lane lane = 0; lane < plan.lanes(); ++lane)
      append_request(leases_.emplace_back(),
                     {"TASK.LEASE", fmt::format("worker-{}", lane), "1", queue, "COUNT", count});
  }

  void begin(Lane lane, Turn& turn) override {
    steps_[lane] = {.awaited = batch_};
    for (std::size_t i = 0; i < batch_; ++i) turn.ask() += submit_;
  }

  void take(Lane lane, std::string_view reply, Turn& turn) override {
    Step& step = steps_[lane];
    if (step.is_leasing) {
      step = {.awaited = batch_, .is_completing = true};
      return complete_all(reply, turn);
    }
    if (step.is_completing) {
      expect(reply == "+COMMITTED\r\n", "COMMITTED", reply);
    } else {
      expect(reply.ends_with("\r\nCREATED\r\n"), "a task's id and CREATED", reply);
    }
    if (--step.awaited > 0) return;
    if (step.is_completing) return turn.finish(batch_);
    step.is_leasing = true;
    turn.ask() += leases_[lane];
  }

 private:
  // Submitting at first.
  struct Step {
    std::size_t awaited = 0;
    bool is_leasing = false;
    bool is_completing = false;
  };

  void complete_all(std::string_view reply, Turn& turn) const {
    RespReader reader(reply);
    const auto array = reader.next();
    expect(array && array->kind == '*' && array->number == static_cast<std::int64_t>(batch_),
           "as many tasks as asked for", reply);
    for (std::size_t i = 0; i < batch_; ++i) {
      const LeasedTask task = read_lease(reader, reply);
      append_request(turn.ask(), {"TASK.COMPLETE", task.task_id, task.lease_id});
    }
  }

  std::size_t batch_;
  std::string submit_;
  std::vector<std::string> leases_;  // by lane
  std::vector<Step> steps_;          // by lane
};

}  // namespace

std::unique_ptr<Speech> make_tenure_task(const Plan& plan) { return std::make_unique<TenureTasks>(plan, 1); }
std::unique_ptr<Speech> make_tenure_task_batch(const Plan& plan) {
  return std::make_unique<TenureTasks>(plan, kTaskBatch);
}

}  // namespace tenure::bench
