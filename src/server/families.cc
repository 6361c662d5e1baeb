#include "server/families.h"

#include <tenure/version.h>

namespace tenure::server {
namespace {

using Kind = Family::Kind;
using Sample = Family::Sample;

double number(std::uint64_t value) { return static_cast<double>(value); }
double number(Millis time) { return static_cast<double>(time.count()) / 1000; }

// One section's families, one after the other.
class Teller {
 public:
  Teller(std::vector<Family>& families, std::string_view section) : families_(families), section_(section) {}

  void gauge(std::string_view name, double value, std::string_view help) {
    add(name, help, Kind::kGauge, {{.value = value}});
  }
  void counter(std::string_view name, double value, std::string_view help) {
    add(name, help, Kind::kCounter, {{.value = value}});
  }
  void histogram(std::string_view name, const Histogram& histogram, std::string_view help) {
    add(name, help, Kind::kHistogram, {{.histogram = &histogram}});
  }
  void by_book(std::string_view name, const ByBook& values, std::string_view help, Kind kind = Kind::kCounter) {
    add(name, help, kind,
        {{.labels = {{"book", "task"}}, .value = number(values.tasks)},
         {.labels = {{"book", "work"}}, .value = number(values.work)},
         {.labels = {{"book", "lock"}}, .value = number(values.locks)}});
  }
  Family& add(std::string_view name, std::string_view help, Kind kind, std::vector<Sample> samples) {
    return families_.emplace_back(
        Family{.section = section_, .name = name, .help = help, .kind = kind, .samples = std::move(samples)});
  }

 private:
  std::vector<Family>& families_;
  const std::string_view section_;
};

void add_states(Family& family, std::string_view queue, const QueuePage::Entry& counts) {
  const auto add = [&](std::string_view state, std::uint64_t count) {
    family.samples.push_back({.name = queue, .labels = {{"state", state}}, .value = number(count)});
  };
  add("waiting", counts.waiting);
  add("delayed", counts.delayed);
  add("leased", counts.leased);
  add("completed", counts.completed);
  add("failed", counts.failed);
  add("dead", counts.dead);
}

void add_tasks_by_queue(Family& family, const EngineFigures& engine) {
  family.name_label = "queue";
  QueuePage::Entry rest = engine.tasks;
  for (const QueuePage::Entry& queue : engine.queues) {
    if (queue.queue == kOthers) continue;
    add_states(family, queue.queue, queue);
    rest.waiting -= queue.waiting;
    rest.delayed -= queue.delayed;
    rest.leased -= queue.leased;
    rest.completed -= queue.completed;
    rest.failed -= queue.failed;
    rest.dead -= queue.dead;
  }
  add_states(family, kOthers, rest);
}

void tell_server(Teller tell, const Standing& standing) {
  tell.add("tenure_build_info", "1, with the version as a label.", Kind::kGauge,
           {{.labels = {{"version", kVersion}}, .value = 1}});
  tell.gauge("tenure_start_time_seconds", number(Millis{standing.started_at.ms}),
             "When the server started, in seconds since the epoch.");
  tell.counter("tenure_restarts_total", number(standing.restarts),
               "How often a server was started on this folder again.");
  tell.gauge("tenure_replay_seconds", number(standing.replay_time), "What reading the journal took at the start.");
}

void tell_clients(Teller tell, const Standing& standing) {
  tell.gauge("tenure_connections", number(standing.connections), "Connections, over either protocol.");
  tell.gauge("tenure_connections_max", number(standing.connections_max), "As many as there may be.");
  tell.counter("tenure_connections_accepted_total", number(standing.accepted), "Connections accepted.");
  tell.counter("tenure_connections_rejected_total", number(standing.turned_away),
               "Connections turned away because there were too many.");
  tell.counter("tenure_sign_ins_refused_total", number(standing.refused_sign_ins), "Sign-ins refused.");
  std::vector<Sample> refused;
  for (const ErrorCode code : kErrorCodes) {
    refused.push_back(
        {.labels = {{"code", to_string(code)}}, .value = number(standing.refused[static_cast<std::size_t>(code)])});
  }
  tell.add("tenure_requests_refused_total", "Requests answered with an error, by its code.", Kind::kCounter,
           std::move(refused));
  tell.gauge("tenure_buffer_bytes", number(standing.buffer_bytes), "Memory of all connections' buffers.");
  tell.gauge("tenure_buffer_bytes_max", number(standing.buffer_bytes_max),
             "Beyond it the connection with the largest is closed.");
  const EngineFigures& engine = standing.engine;
  tell.add("tenure_waiters", "Requests that wait: for a task to lease, for a lock, for the end of a task.",
           Kind::kGauge,
           {{.labels = {{"kind", "lease"}}, .value = number(engine.lease_waiters)},
            {.labels = {{"kind", "lock"}}, .value = number(engine.lock_waiters)},
            {.labels = {{"kind", "task"}}, .value = number(engine.task_waiters)}});
}

void tell_work(Teller tell, const EngineFigures& engine) {
  add_tasks_by_queue(tell.add("tenure_tasks", "Tasks by queue and state.", Kind::kGauge, {}), engine);
  tell.gauge("tenure_queues", number(engine.queue_count), "Queues that have tasks or are paused.");
  tell.gauge("tenure_work_domains", number(engine.domains), "Domains of work leases.");
  tell.gauge("tenure_locks", number(engine.locks), "Locks that are held.");
  const Tally& tally = engine.tally;
  tell.counter("tenure_tasks_submitted_total", number(tally.tasks_submitted), "Tasks created.");
  tell.add("tenure_tasks_ended_total", "Tasks that have ended, by how.", Kind::kCounter,
           {{.labels = {{"state", "completed"}}, .value = number(tally.tasks_completed)},
            {.labels = {{"state", "failed"}}, .value = number(tally.tasks_failed)},
            {.labels = {{"state", "dead"}}, .value = number(tally.tasks_dead)}});
  tell.by_book("tenure_leases_granted_total", tally.leases_granted, "Leases granted: of tasks, offsets and locks.");
  tell.by_book("tenure_leases_expired_total", tally.leases_expired,
               "Leases that ran out before their holder was done.");
  tell.counter("tenure_late_reports_refused_total", number(tally.late_reports),
               "Reports of workers whose lease was over, or was never theirs.");
  tell.add("tenure_retries_total", "Failures after which there is another attempt.", Kind::kCounter,
           {{.labels = {{"book", "task"}}, .value = number(tally.retries.tasks)},
            {.labels = {{"book", "work"}}, .value = number(tally.retries.work)}});
}

void tell_memory(Teller tell, const Standing& standing) {
  tell.by_book("tenure_book_bytes", standing.engine.bytes, "Memory of the state, by book.", Kind::kGauge);
  tell.gauge("tenure_state_bytes_max", number(standing.state_bytes_max), "Beyond it new work is refused.");
}

void tell_journal(Teller tell, const Standing& standing) {
  const JournalFigures& journal = standing.journal;
  tell.gauge("tenure_journal_bytes", number(journal.segment_bytes), "What the journal's segments take on the disk.");
  tell.gauge("tenure_snapshot_bytes", number(journal.snapshot_bytes), "What snapshots take on the disk.");
  tell.gauge("tenure_disk_free_bytes", number(journal.free_bytes), "What is left of the journal's disk.");
  tell.gauge("tenure_journal_has_room", standing.has_room ? 1 : 0,
             "0: the disk is full, and only what was begun is finished.");
  tell.gauge("tenure_durable_frame", number(standing.durable), "The last frame of the journal that is durable.");
  tell.counter("tenure_journal_written_bytes_total", number(journal.written_bytes), "Bytes written to the journal.");
  tell.histogram("tenure_sync_seconds", journal.sync_seconds, "What it took to make one batch durable.");
  tell.histogram("tenure_batch_frames", journal.batch_frames, "Frames in one batch.");
  tell.counter("tenure_digest_checks_total", number(standing.engine.digest_checks),
               "How often the state was found to have the digest that the journal says.");
}

void tell_cluster(Teller tell, const NodeStanding& node) {
  tell.gauge("tenure_leading", node.role == NodeStanding::Role::kLeader ? 1 : 0, "1: this node leads.");
  tell.gauge("tenure_epoch", number(node.epoch), "Of the node that leads, as far as is known; 0: none is.");
  tell.gauge("tenure_applied_frame", number(node.applied), "The last frame of the journal that this node has.");
  tell.gauge("tenure_lag_frames", number(node.lag), "Frames that this node has yet to take in.");
  tell.gauge("tenure_nodes", number(node.peers.size()), "Nodes that take part.");
}

void tell_locks(Teller tell, const std::vector<DomainFigures>& domains) {
  std::vector<Sample> seconds;
  std::vector<Sample> attempts;
  std::vector<Sample> held;
  std::vector<Sample> expired;
  std::vector<Sample> active;
  for (const DomainFigures& domain : domains) {
    for (std::size_t i = 0; i < kOutcomes.size(); ++i) {
      if (!domain.attempts[i]) continue;
      const Histogram& attempt = *domain.attempts[i];
      seconds.push_back({.name = domain.domain, .labels = {{"result", kOutcomes[i]}}, .histogram = &attempt});
      attempts.push_back(
          {.name = domain.domain, .labels = {{"result", kOutcomes[i]}}, .value = number(attempt.count())});
    }
    held.push_back({.name = domain.domain, .histogram = &domain.held_seconds});
    expired.push_back({.name = domain.domain, .value = number(domain.expired)});
    active.push_back({.name = domain.domain, .value = number(domain.active)});
  }
  const auto add = [&](std::string_view name, std::string_view help, Kind kind, std::vector<Sample> samples) {
    tell.add(name, help, kind, std::move(samples)).name_label = "domain";
  };
  add("softlock_acquire_seconds", "From the request for a lock to its answer, by outcome.", Kind::kHistogram,
      std::move(seconds));
  add("softlock_acquire_attempts_total", "Requests for a lock, by outcome.", Kind::kCounter, std::move(attempts));
  add("softlock_held_time_seconds", "How long locks were held.", Kind::kHistogram, std::move(held));
  add("softlock_expired_total", "Locks that ran out before they were released.", Kind::kCounter, std::move(expired));
  add("softlock_active", "Locks that are held.", Kind::kGauge, std::move(active));
}

}  // namespace

std::vector<Family> families_of(const Standing& standing) {
  std::vector<Family> families;
  tell_server(Teller(families, "Server"), standing);
  tell_clients(Teller(families, "Clients"), standing);
  tell_memory(Teller(families, "State"), standing);
  tell_journal(Teller(families, "Journal"), standing);
  tell_work(Teller(families, "Work"), standing.engine);
  tell_locks(Teller(families, "Locks"), standing.domains);
  if (standing.node) tell_cluster(Teller(families, "Cluster"), *standing.node);
  return families;
}

}  // namespace tenure::server
