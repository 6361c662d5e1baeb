// The task book: durable tasks, each leased to one worker at a time. See docs/semantics.md for the life cycle.
//
// Two sides that never mix: `decide` reads and answers with records; `apply` writes and is all that replay calls. The
// rest are views. One thread: the authority's mutex guards it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>
#include <absl/container/inlined_vector.h>
#include <absl/functional/function_ref.h>

#include <tenure/settings.h>
#include <tenure/tasks.h>
#include "base/hash.h"
#include "base/table.h"
#include "core/archive.h"
#include "core/deadlines.h"
#include "core/decision.h"
#include "core/late_sum.h"
#include "core/record.h"

namespace tenure {

struct Queue;
struct Story;
struct Task;

inline constexpr std::string_view kDefaultQueue = "default";
inline constexpr std::uint8_t kDefaultPriority = 4;
inline constexpr std::size_t kAttemptsKept = 20;
inline constexpr std::string_view kPoison = "poison";

// One grant of a task, and how it ended.
struct Attempt {
  std::uint64_t task = 0;  // the task's number
  std::uint32_t attempt = 0;
  std::uint32_t extensions = 0;
  std::uint32_t late = 0;
  AttemptOutcome outcome = AttemptOutcome::kLeased;
  bool retried = false;  // a failure that sent the task back to WAITING
  bool is_summed = false;
  Token token;
  Instant granted_at;
  Instant ended_at;
  std::string worker;
  std::string reason;
  Digest digest{};  // if it is summed, its own part of the state's, so that it need not be made anew to be taken out

  template <class V>
  void fields(V&& visit) const {
    visit("task", task);
    visit("attempt", attempt);
    visit("extensions", extensions);
    visit("late", late);
    visit("outcome", outcome);
    visit("retried", retried);
    visit("token", token);
    visit("granted_at", granted_at);
    visit("ended_at", ended_at);
    visit("worker", worker);
    visit("reason", reason);
  }
};

// Somebody who holds leases.
struct Lessee : TableLink<Lessee> {
  std::string name;
  std::uint64_t leases = 0;
};

// What a task has beyond waiting: its lease, its attempts, its end. Made when first needed.
struct Story : Keepsake, TableLink<Story> {
  explicit Story(Task& of) : Keepsake(Remembered::kTask), task(of) {}

  Task& task;
  Digest digest;  // the task's part of the state's, if it is not late
  Alarm alarm;
  Instant expires_at;  // these four are the current lease's
  Instant window_ends_at;
  Millis lease_time{0};
  Lessee* lessee = nullptr;
  std::uint32_t late_unknown = 0;  // refused reports whose lease id is none of the attempts'
  bool has_result = false;
  bool has_reason = false;
  std::uint64_t result_hash = 0;
  std::string result;
  std::string reason;
  absl::InlinedVector<Attempt, 1> attempts;  // oldest first, the last kAttemptsKept

  template <class V>
  void fields(V&& visit) const {
    visit("kept_since", kept_since);
    visit("kept_order", kept_order);
    visit("expires_at", expires_at);
    visit("window_ends_at", window_ends_at);
    visit("lease_time", lease_time);
    visit("late_unknown", late_unknown);
    visit("has_result", has_result);
    visit("has_reason", has_reason);
    visit("result_hash", result_hash);
    visit("reason", reason);
  }
};

// Where a task lies in its queue; always in exactly one of the queue's maps.
enum class Place : std::uint8_t { kDelayed, kParked, kReady, kLeased, kEnded };

// The tasks of one queue and key that have not ended, in order of submission. Only the head competes for workers; the
// others are parked.
struct KeyLine : TableLink<KeyLine> {
  Queue* queue = nullptr;
  std::uint64_t order = 0;
  std::uint64_t tasks = 0;
  Task* head = nullptr;
  std::string key;
};

// A task is one allocation: this, and behind it the bytes of its id, payload and key.
struct Task : TableLink<Task> {
  static constexpr std::int64_t kNoInstant = std::numeric_limits<std::int64_t>::min();

  TaskState state = TaskState::kWaiting;
  std::uint8_t priority = kDefaultPriority;
  Place place = Place::kReady;
  std::uint8_t id_size = 0;
  std::uint64_t number = 0;  // in the order of submission
  Queue* queue = nullptr;
  KeyLine* line = nullptr;  // null without a key
  std::unique_ptr<Story> story;
  std::int64_t created_at = 0;
  std::int64_t not_before = kNoInstant;
  std::int64_t backoff_initial = 0;
  std::int64_t backoff_max = 0;
  std::uint64_t payload_hash = 0;
  std::uint32_t window_ms = 0;
  std::uint32_t retries = 0;
  std::uint32_t attempts_max = 0;  // 0: no limit
  std::uint32_t attempt = 0;
  std::uint32_t failures = 0;
  std::uint32_t payload_size = 0;
  std::uint8_t key_size = 0;
  bool has_key = false;
  std::uint32_t late = kNotLate;

  static Task* make(std::string_view id, std::string_view payload, std::optional<std::string_view> key);
  static void destroy(Task* task);

  [[nodiscard]] std::string_view id() const { return {text(), id_size}; }
  [[nodiscard]] std::string_view payload() const { return {text() + id_size, payload_size}; }
  [[nodiscard]] std::string_view key() const { return {text() + id_size + payload_size, key_size}; }
  [[nodiscard]] std::uint64_t bytes() const { return sizeof(Task) + id_size + payload_size + key_size; }
  // The current attempt; the task must be LEASED.
  [[nodiscard]] Attempt& current() const { return story->attempts.back(); }

  template <class V>
  void fields(V&& visit) const;

 private:
  Task() = default;
  ~Task() = default;
  [[nodiscard]] const char* text() const { return reinterpret_cast<const char*>(this + 1); }
  [[nodiscard]] char* text() { return reinterpret_cast<char*>(this + 1); }
};

struct Queue {
  std::string name;
  std::uint64_t order = 0;  // unique; of its creation
  bool paused = false;
  Alarm alarm;  // of the earliest lease
  // The places, empty in a bare state. Keys end with the task's number, so that within each the order of submission
  // holds.
  absl::btree_map<std::pair<std::int64_t, std::uint64_t>, Task*> delayed;  // by not_before
  absl::btree_map<std::pair<std::uint64_t, std::uint64_t>, Task*> parked;  // by key line
  absl::btree_set<std::pair<std::int64_t, std::uint64_t>> parked_delayed;  // those of them that are not yet due either
  absl::btree_map<std::uint64_t, Task*> ready;                             // by rank: priority, then number
  Deadlines<Story> leased;
  absl::btree_map<std::uint64_t, Task*> completed;
  absl::btree_map<std::uint64_t, Task*> failed;
  absl::btree_map<std::uint64_t, Task*> dead;

  // Of those that have ended so.
  [[nodiscard]] absl::btree_map<std::uint64_t, Task*>& ended(TaskState state) {
    if (state == TaskState::kCompleted) return completed;
    return state == TaskState::kFailed ? failed : dead;
  }

  // Whether time may have something to do here: a lease that ends, a delay that is over.
  [[nodiscard]] bool is_due(Instant now) const {
    return leased.next() < now || (!delayed.empty() && delayed.begin()->first.first <= now.ms) ||
           (!parked_delayed.empty() && parked_delayed.begin()->first <= now.ms);
  }
  // Whether it is not paused and has a task that is due.
  [[nodiscard]] bool can_grant() const { return !paused && !ready.empty(); }
  [[nodiscard]] bool is_empty() const {
    return !paused && delayed.empty() && parked.empty() && ready.empty() && leased.map().empty() && completed.empty() &&
           failed.empty() && dead.empty();
  }

  template <class V>
  void fields(V&& visit) const {
    visit("name", name);
    visit("paused", paused);
  }
};

template <class V>
void Task::fields(V&& visit) const {
  visit("id", id());
  visit("queue", std::string_view(queue->name));
  visit("number", number);
  visit("state", state);
  visit("priority", priority);
  visit("created_at", created_at);
  visit("not_before", not_before);
  visit("backoff_initial", backoff_initial);
  visit("backoff_max", backoff_max);
  visit("payload_hash", payload_hash);
  visit("payload_size", payload_size);
  visit("window_ms", window_ms);
  visit("retries", retries);
  visit("attempts_max", attempts_max);
  visit("attempt", attempt);
  visit("failures", failures);
  visit("has_key", has_key);
  visit("key", key());
  if (story != nullptr) story->fields(visit);
}

// The remembered answer to a task request: the task that a submission made, or the leases that a lease request got.
struct TaskAnswer {
  std::string task_id;
  absl::InlinedVector<Fence, 1> leases;

  [[nodiscard]] std::uint64_t bytes() const { return task_id.size() + leases.size() * sizeof(Fence); }

  template <class V>
  void fields(V&& visit) const {
    visit("task_id", task_id);
    visit("leases", leases.size());
    visit("lease_ids", std::string_view(reinterpret_cast<const char*>(leases.data()), leases.size() * sizeof(Fence)));
  }
};

struct QueuePause {
  std::string_view queue;
  bool paused = true;
};

class TaskBook {
 public:
  explicit TaskBook(Common& common);
  TaskBook(const TaskBook&) = delete;
  TaskBook& operator=(const TaskBook&) = delete;
  ~TaskBook();

  // --- decide ---
  [[nodiscard]] Verdict<Submitted> decide(const Submission& request, const Moment& moment) const;
  [[nodiscard]] Verdict<std::vector<TaskLease>> decide(const LeaseRequest& request, const Moment& moment) const;
  [[nodiscard]] Verdict<std::optional<Extended>> decide(const TaskExtension& request, const Moment& moment) const;
  [[nodiscard]] Verdict<Report> decide(const Completion& request, const Moment& moment) const;
  [[nodiscard]] Verdict<std::optional<TaskState>> decide(const FailureReport& request, const Moment& moment) const;
  [[nodiscard]] Verdict<Done> decide(const TaskKill& request, const Moment& moment) const;
  [[nodiscard]] Verdict<Submitted> decide(const Resubmission& request, const Moment& moment) const;
  [[nodiscard]] Verdict<Done> decide(const QueuePause& request, const Moment& moment) const;
  // The end of a lease by time, and with it the poison limit.
  [[nodiscard]] static Records decide_expiry(const Task& task);
  // What is to be forgotten next, a frame's worth.
  [[nodiscard]] Records decide_forgetting(const Settings& settings, Instant now) const;

  // --- apply ---
  Broken apply(const record::TaskCreated& record, Instant stamp);
  Broken apply(const record::LeaseGranted& record, Instant stamp);
  Broken apply(const record::LeaseExtended& record, Instant stamp);
  Broken apply(const record::TaskCompleted& record, Instant stamp);
  Broken apply(const record::TaskFailed& record, Instant stamp);
  Broken apply(const record::TaskCancelled& record, Instant stamp);
  Broken apply(const record::LeaseExpired& record, Instant stamp);
  Broken apply(const record::TaskDead& record, Instant stamp);
  Broken apply(const record::QueuePaused& record, Instant stamp);
  Broken apply(const record::QueueResumed& record, Instant stamp);
  Broken forget_task(std::string_view task_id);
  Broken forget_request(std::string_view request_id) { return requests_.forget(request_id); }

  // --- portraits ---
  // Calls visit(Portrait) for every entity; a task's attempts come behind it.
  void visit_portraits(absl::FunctionRef<void(const Portrait&)> visit) const;
  // Many tasks are to come, and then finish_loading; at most so many.
  void begin_loading(std::uint64_t most);
  void finish_loading();
  Broken load(const portrait::Task& from, Instant now);
  Broken load(const portrait::Attempt& from, Instant now);
  Broken load(const portrait::PausedQueue& from);
  Broken load(const portrait::Request& from);
  Archive& archive() { return archive_; }

  // --- time: keeps the order of what is due; no part of the state ---
  // A task whose lease has ended, of one queue or of any; null when there is none.
  const Task* first_expired(std::string_view queue, Instant now);
  const Task* first_expired(Instant now);
  [[nodiscard]] const Task* expired(std::string_view task_id, Instant now) const;
  // Makes tasks that have become due ready, at most `most` of them; answers how many.
  std::uint64_t promote(std::string_view queue, Instant now, std::uint64_t most);
  // When a lease may end next.
  [[nodiscard]] Instant next_expiry() const { return expiries_.next(); }
  // When a delayed task of the queue becomes due next.
  [[nodiscard]] Instant next_promotion(std::string_view queue) const;

  // --- views ---
  [[nodiscard]] const Task* find(std::string_view task_id) const;
  [[nodiscard]] const Queue* find_queue(std::string_view name) const { return look_for_queue(name); }
  // The fingerprint of a lease request: its worker and queues.
  [[nodiscard]] static std::uint64_t print_of(const LeaseRequest& request);
  // Whether the answer to this request id is known.
  [[nodiscard]] bool remembers(std::string_view request_id) const { return requests_.find(request_id) != nullptr; }
  // Whether there is such a queue, and it can.
  [[nodiscard]] bool can_grant(std::string_view queue) const;
  [[nodiscard]] Result<std::vector<TaskAttempt>> history(std::string_view task_id) const;
  [[nodiscard]] static TaskStatus status(const Task& task);
  [[nodiscard]] Result<TaskPage> list(const TaskListing& request) const;
  [[nodiscard]] Result<QueuePage> queues(const Paging& paging) const;
  [[nodiscard]] std::uint64_t leases_of(std::string_view worker) const;
  [[nodiscard]] std::uint64_t bytes() const { return bytes_ + archive_.bytes(); }
  [[nodiscard]] const Archive& archive() const { return archive_; }
  [[nodiscard]] std::uint64_t tasks() const { return tasks_.size(); }
  // What all queues have together, under no name.
  [[nodiscard]] const QueuePage::Entry& totals() const { return totals_; }
  [[nodiscard]] std::uint64_t queue_count() const { return queues_.size(); }

  // Calls visit(Entity, const T&) for every entity of the digest.
  template <class Visit>
  void visit_entities(const Visit& visit) const;
  // Adds those to the digest that are late.
  void sum_up() const {
    late_.clear([this](Task& task) { sum_up(task); });
  }

 private:
  // As Forgotten names it.
  static std::string_view name_of(const Keepsake& kept);

  // What `decide` and the views use.
  void make_id(const Moment& moment) const;
  [[nodiscard]] Verdict<Submitted> create(record::TaskCreated record, std::optional<std::string_view> id,
                                          const Moment& moment) const;
  [[nodiscard]] std::vector<TaskLease> repeat_leases(const TaskAnswer& answer, Instant now) const;
  [[nodiscard]] static TaskLease lease_of(const Task& task, Instant now);
  // By which tasks and lessees are found, and leases.
  [[nodiscard]] static std::uint32_t hash_of(std::string_view name) { return static_cast<std::uint32_t>(hash64(name)); }
  [[nodiscard]] static std::uint32_t hash_of(Fence fence) {
    return static_cast<std::uint32_t>(fence.value * 0x9e3779b97f4a7c15U >> 32);
  }
  [[nodiscard]] const Task* find(std::string_view task_id, std::uint32_t hash) const;
  [[nodiscard]] const Story* lease(Fence fence) const;
  [[nodiscard]] Lessee* lessee(std::string_view name) const;

  // What `apply` uses.
  Task* find_mutable(std::string_view task_id) { return const_cast<Task*>(find(task_id)); }
  Task* first_expired(Queue& queue, Instant now);
  // `changing` takes the task's hash out of the digest; after `changed` it is late, and so are those of its attempts
  // that were `changing` meanwhile.
  void changing(Task& task);
  void changed(Task& task);
  void changing(Attempt& attempt);
  void sum_up(Task& task) const;
  Story& story_of(Task& task);
  [[nodiscard]] Queue* look_for_queue(std::string_view name) const;
  Queue& queue_of(std::string_view name);
  void drop_if_empty(Queue& queue);
  void place(Task& task, Instant stamp);
  void unplace(Task& task);
  [[nodiscard]] std::uint64_t& total_ended(TaskState state);
  void arm(Queue& queue);
  void join_line(Task& task, std::string_view key);
  void leave_line(Task& task, Instant stamp);
  void lead_line(Task& task, Instant stamp);
  void hold_lease(Task& task);
  void give_up_lease(Story& story);
  [[nodiscard]] static std::uint64_t footprint(const Task& task);
  [[nodiscard]] static std::uint64_t footprint(const Queue& queue);
  [[nodiscard]] Broken check_lease(const Task* task, Token lease_id) const;
  void end_attempt(Task& task, AttemptOutcome outcome, std::string_view reason, Instant stamp);
  void end_task(Task& task, TaskState state, Instant stamp);
  void set_reason(Task& task, std::string_view reason);
  void expire(Task& task, Instant stamp);
  void remember_lease(const record::LeaseGranted& record, Instant stamp);
  void fetch_next(const Queue& queue) const;

  Common& common_;
  Archive archive_;
  RequestMemories<TaskAnswer> requests_;
  Table<Task> tasks_;
  mutable const Task* task_found_ = nullptr;  // the last that was found, while it is there
  mutable LateSum<Task> late_;
  absl::btree_map<std::string, std::unique_ptr<Queue>, std::less<>> queues_;
  mutable Queue* queue_found_ = nullptr;  // the last that was looked for
  Table<KeyLine> lines_;
  Table<Story> leases_;  // current leases by fence
  Deadlines<Queue> expiries_;
  Table<Lessee> lessees_;
  // Ready tasks, while many are loaded. They come in the order of their ids, which is any order to their queues: there
  // they are put when all are known, one behind the other.
  struct Arrival {
    std::uint64_t rank;
    Queue* queue;
    Task* task;
  };
  std::vector<Arrival> arrivals_;
  bool is_loading_ = false;
  std::uint64_t orders_ = 0;  // queues and key lines ever created
  std::uint64_t bytes_ = 0;   // of tasks that have not ended
  QueuePage::Entry totals_;   // whatever is said of a queue, of all of them
};

template <class Visit>
void TaskBook::visit_entities(const Visit& visit) const {
  tasks_.visit_all([&](const Task& task) {
    visit(Entity::kTask, task);
    if (task.story == nullptr) return;
    for (const Attempt& attempt : task.story->attempts) visit(Entity::kAttempt, attempt);
  });
  for (const auto& [name, queue] : queues_) {
    if (queue->paused) visit(Entity::kPausedQueue, *queue);
  }
  requests_.visit_all([&](const auto& memory) { visit(Entity::kRequest, memory); });
}

}  // namespace tenure
