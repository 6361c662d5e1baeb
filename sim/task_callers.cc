// Those who submit tasks, and those who do them.
#include "callers.h"

namespace tenure::sim {
namespace {

constexpr std::uint64_t kQueues = 3;
constexpr std::size_t kRemembered = 20;

}  // namespace

// --- clients ---

void Client::act() {
  const std::uint64_t which = dice_.roll(20);
  if (which < 10) return submit();
  if (which < 14) return ask_about(some_task());
  if (which == 14) return ask(TaskKill{.task_id = keep(some_task()), .reason = "not wanted"});
  if (which == 15) {
    Resubmission request{.task_id = keep(some_task())};
    if (dice_.one_in(2)) request.request_id = keep("again-" + std::string(request.task_id));
    return ask(request, [this](const Result<Submitted>& reply) {
      if (reply) ports_.gossip.tasks.push_back(reply->task_id);
    });
  }
  if (which == 16) return ask(QueuePause{.queue = keep(some("q", kQueues)), .paused = dice_.one_in(3)});
  if (which == 17) return ask(AwaitTask{keep(some_task())}, [](const auto&) {}, Millis{dice_.between(50, 900)});
  if (which == 18) {
    ListTasks query;
    query.queue = keep(some("q", kQueues));
    return ask(query);
  }
  ask(ListQueues{});
}

std::string Client::some_task() {
  const auto& tasks = ports_.gossip.tasks;
  return tasks.empty() || dice_.one_in(12)
             ? "no-task"
             : tasks[tasks.size() - 1 - dice_.roll(std::min<std::size_t>(tasks.size(), 40))];
}

void Client::ask_about(const std::string& task) {
  if (dice_.one_in(3)) return ask(GetHistory{keep(task)});
  ask(GetTask{keep(task)});
}

void Client::submit() {
  Submission task;
  const bool is_huge = dice_.one_in(40);
  std::string queue = some("q", kQueues);
  std::string payload(is_huge ? 5000 : dice_.roll(90), static_cast<char>('a' + dice_.roll(26)));
  if (!used_.empty() && dice_.one_in(8)) {
    // The same once more, or another request under the same id.
    const Used& used = dice_.pick(used_);
    task.request_id = keep(used.request_id);
    queue = used.queue;
    payload = used.payload;
    if (dice_.one_in(3)) {
      ports_.tally.count(Fault::kForeignRequestId);
      payload += "x";
    }
  } else if (dice_.one_in(2)) {
    used_.push_back({new_request_id(), queue, payload});
    if (used_.size() > kRemembered) used_.erase(used_.begin());
    task.request_id = keep(used_.back().request_id);
  }
  task.queue = keep(std::move(queue));
  task.payload = keep(std::move(payload));
  if (dice_.one_in(6)) task.id = keep(fmt::format("T{}", dice_.roll(200)));
  task.window = Millis{dice_.one_in(60) ? 0 : dice_.between(400, 4000)};
  task.retries = dice_.between(0, 2);
  task.backoff_initial = Millis{dice_.between(0, 200)};
  task.backoff_max = Millis{400};
  task.priority = dice_.between(2, 6);
  if (dice_.one_in(5)) task.attempts = dice_.between(1, 3);
  if (dice_.one_in(4)) task.delay = Millis{dice_.between(1, 900)};
  if (dice_.one_in(3)) task.key = keep(some("k", 2));
  ask(task, [this](const Result<Submitted>& reply) {
    if (reply) ports_.gossip.tasks.push_back(reply->task_id);
  });
}

// --- workers ---

void Worker::act() {
  if (dice_.one_in(7)) return misbehave();
  if (leases_.empty() || dice_.one_in(4)) return lease();
  if (dice_.one_in(6)) return stall(Millis{dice_.between(300, 2500)});
  if (dice_.one_in(3)) {
    const Claim& claim = dice_.pick(leases_);
    TaskExtension request{.task_id = keep(claim.name), .lease_id = keep(claim.token)};
    if (dice_.one_in(2)) request.lease = some_lease();
    return ask(request);
  }
  const Claim claim = take(leases_);
  done_.push_back(claim);
  if (done_.size() > kRemembered) done_.erase(done_.begin());
  report(claim);
}

void Worker::lease() {
  LeaseRequest request{.worker = keep(name_), .queues = {}};
  const auto first = static_cast<unsigned char>(name_.back());
  for (std::uint64_t i = 0; i < kQueues; ++i) {
    if (!dice_.one_in(3)) request.queues.push_back(keep("q" + std::to_string((i + first) % kQueues)));
  }
  if (request.queues.empty()) request.queues.push_back(keep("q0"));
  request.count = dice_.between(1, 3);
  request.lease = dice_.one_in(60) ? Millis{0} : some_lease();
  if (dice_.one_in(2)) request.request_id = keep(new_request_id());
  ask(
      request,
      [this](const Result<std::vector<TaskLease>>& reply) {
        if (!reply) return;
        for (const TaskLease& granted : *reply) leases_.push_back({granted.task_id, granted.lease_id});
      },
      Millis{dice_.one_in(2) ? 0 : dice_.between(50, 1200)});
}

void Worker::report(const Claim& claim) {
  if (dice_.one_in(4)) {
    return ask(FailureReport{
        .task_id = keep(claim.name), .lease_id = keep(claim.token), .reason = "it broke", .final = dice_.one_in(6)});
  }
  Completion request{.task_id = keep(claim.name), .lease_id = keep(claim.token)};
  if (dice_.one_in(2)) request.result = keep(std::string(dice_.roll(40), 'r'));
  ask(request);
}

void Worker::misbehave() {
  if (!done_.empty() && dice_.one_in(2)) {
    ports_.tally.count(Fault::kRepeatedClaim);
    return report(dice_.pick(done_));
  }
  if (!leases_.empty()) {
    Claim claim = dice_.pick(leases_);
    if (dice_.one_in(2)) {
      claim.token = wrong_token(claim);
      return report(claim);
    }
    // It sleeps past its lease, and reports all the same.
    ports_.tally.count(Fault::kLateClaim);
    stall(Millis{dice_.between(800, 3000)});
    return;
  }
  ask(Completion{.task_id = keep("no-task"), .lease_id = keep(Token{Fence{1}, 1}.text())});
}

// --- the finisher ---

void Finisher::act() {
  ask(ListQueues{}, [this](const Result<QueuePage>& reply) {
    if (!reply) return;
    for (const auto& entry : reply->queues) {
      if (entry.paused) ask(QueuePause{.queue = keep(entry.queue), .paused = false});
    }
  });
  finish_tasks();
  ask(ListDomains{}, [this](const Result<DomainPage>& reply) {
    if (!reply) return;
    for (const std::string& domain : reply->domains) finish_domain(domain);
  });
}

void Finisher::finish_tasks() {
  LeaseRequest request{.worker = keep(name_), .queues = {keep("q0"), keep("q1"), keep("q2")}};
  request.count = 50;
  request.lease = Millis{2000};
  ask(request, [this](const Result<std::vector<TaskLease>>& reply) {
    if (!reply) return;
    for (const TaskLease& lease : *reply) {
      ask(Completion{.task_id = keep(lease.task_id), .lease_id = keep(lease.lease_id)});
    }
  });
}

void Finisher::finish_domain(const std::string& name) {
  ask(InspectDomain{keep(name)}, [this, name](const Result<std::optional<DomainStatus>>& reply) {
    if (!reply || !*reply) return;
    const DomainStatus& domain = **reply;
    const auto offset = domain.in_flight ? domain.offset : domain.backlog_head;
    if (!offset) return;
    ask(WorkRequest{.domain = keep(name), .offset = *offset}, [this, name](const Result<AcquireResult>& got) {
      const auto* const acquired = got ? std::get_if<Acquired>(&*got) : nullptr;
      if (acquired != nullptr) ask(WorkSuccess{.domain = keep(name), .token = keep(acquired->token)});
    });
  });
}

}  // namespace tenure::sim
