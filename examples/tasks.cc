// A producer submits mails, a worker sends them: some at once, one after a retry, one never.
#include <atomic>
#include <cstdio>
#include <string>
#include <thread>

#include <tenure/authority.h>
#include <tenure/worker.h>

namespace {

using namespace std::chrono_literals;

tenure::Outcome send(const tenure::Job& job) {
  if (job.payload == "to nobody") return tenure::Outcome::failed_for_good("no such address");
  if (job.payload == "to a busy server" && job.attempt == 1) throw std::runtime_error("try again later");
  if (job.lost.stop_requested()) return tenure::Outcome::failed("no longer ours");
  return tenure::Outcome::done("sent " + job.payload);
}

}  // namespace

int main() {
  auto authority = tenure::Authority::in_memory();
  tenure::Tasks& tasks = authority->tasks();

  std::string ids[3];
  const char* const mails[] = {"to a reader", "to a busy server", "to nobody"};
  for (int i = 0; i < 3; ++i) {
    ids[i] = tasks.submit({.queue = "mail", .payload = mails[i], .backoff_initial = 10ms}).task_id;
  }

  tenure::Worker worker(tasks, {.name = "w1", .queues = {"mail"}, .concurrency = 2, .lease = 30s});
  tenure::WorkerTally tally;
  std::thread working([&] { tally = worker.run(send); });
  for (const std::string& id : ids) {
    const auto task = tasks.wait(id, 1min);
    std::printf("%s: %s\n", std::string(to_string(task->state)).c_str(),
                task->result.value_or(task->reason.value_or("")).c_str());
  }
  worker.stop();  // what runs is finished and reported
  working.join();
  return tally.completed == 2 && tally.failed == 1 && tally.failed_for_good == 1 ? 0 : 1;
}
