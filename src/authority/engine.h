// The engine: the only owner of state and journal, behind all three faces.
//
// A request goes: stamp -> expire what it touches -> decide -> append -> apply -> serve those who wait -> wait for the
// journal -> answer. All of it but the last two steps happens under one mutex, and nothing there touches a disk or a
// socket or takes longer than a millisecond. The engine never blocks and owns no thread: a request finishes by
// callback, on whatever thread reports durability, once everything it saw is durable (one that only looked, too).
// Answers come in no particular order. A callback may ask again, and must not block. Those who wait are queued
// continuations. Time passes only in `run_due`, and for the names a request touches; what is too much for one critical
// section is left to `run_due`, which is then due at once.
//
// If the journal fails, memory is ahead of what is durable: from then on every answer is UNAVAILABLE, and a new engine
// must be built by replay. On a journal that elects its writer the same engine stands by, leads and stands by again:
// what was not durable goes with the state, which is built anew.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>
#include <absl/container/inlined_vector.h>
#include <absl/functional/any_invocable.h>
#include <absl/functional/function_ref.h>
#include <absl/types/span.h>

#include <tenure/settings.h>
#include "authority/figures.h"
#include "authority/requests.h"
#include "authority/seen_workers.h"
#include "authority/waiters.h"
#include "authority/wishes.h"
#include "base/clock.h"
#include "base/entropy.h"
#include "base/mutex.h"
#include "base/result.h"
#include "core/state.h"
#include "journal/journal.h"

namespace tenure {

// Names a wait that may be cancelled; 0 names none.
using Ticket = std::uint64_t;

// Thread-safe; destroyed by none of its callbacks. Its destructor waits for calls that are about to return, so whoever
// has got an answer may destroy it; nothing new is asked by then.
class Engine final : private Journal::Listener {
 public:
  // The world outside; all of it outlives the engine.
  struct Ports {
    const Clock& clock;
    Entropy& entropy;
    Journal& journal;
    // Whether nobody else leads by now, on a journal that elects its writer: nothing is answered while that is not
    // certain. Called with the mutex held; null: always.
    std::function<bool()> is_certain{};
  };

  // Builds the state from the newest good snapshot and the frames after it. Fails, naming the place, if the journal
  // breaks an invariant.
  static Result<std::unique_ptr<Engine>> start(const Settings& settings, Ports ports);
  // What the state was built from.
  struct Origin {
    std::uint64_t snapshot = 0;              // the frame it was of; 0: there was none
    std::vector<std::string> passed_over{};  // what is wrong with snapshots that are newer
  };
  [[nodiscard]] const Origin& origin() const { return origin_; }

  // --- one of several, on a journal that elects its writer ---
  // Stands by, with an empty state at first, and refuses what is asked.
  static Result<std::unique_ptr<Engine>> stand_by(const Settings& settings, Ports ports);
  // These four are for one thread. While it stands by: takes in the durable frames that are new. At first, and after a
  // term that left something undurable, it builds the state from the newest snapshot on. UNAVAILABLE: the journal
  // cannot be read now; any other failure: it cannot be replayed.
  Result<Done> catch_up() TENURE_EXCLUDES(mutex_);
  // This node was elected: reads to the end, and serves. Time goes on from the last stamp, and nobody is connected.
  Result<Done> lead(std::uint64_t epoch) TENURE_EXCLUDES(mutex_);
  // It leads no more: whatever was asked and is not answered is UNAVAILABLE, all waits included. `on_failure` is told
  // each time that the journal says so first.
  void depose(const std::string& why) TENURE_EXCLUDES(mutex_);
  // What is answered while it stands by.
  void refuse_with(const Failure& refusal) TENURE_EXCLUDES(mutex_);
  // Of those who take part this node knows the fewest types of records, the first so many: what needs another one is
  // refused, and changes nothing, until it knows more or is gone.
  void write_for(std::uint64_t records, const std::string& node) TENURE_EXCLUDES(mutex_);
  // Leadership may be certain again: gives what was held back.
  void go_on() TENURE_EXCLUDES(mutex_);
  [[nodiscard]] bool is_leading() const TENURE_EXCLUDES(mutex_);
  // The last frame that is in the state.
  [[nodiscard]] std::uint64_t applied() const TENURE_EXCLUDES(mutex_);
  // Some of those were lost with its term: the next `catch_up` builds the state anew.
  [[nodiscard]] bool needs_load() const TENURE_EXCLUDES(mutex_);

  ~Engine() override;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // While there is one the engine is not destroyed.
  class Call {
   public:
    explicit Call(Engine& engine) : calls_(engine.calls_) { calls_.fetch_add(1, std::memory_order_relaxed); }
    ~Call() { calls_.fetch_sub(1, std::memory_order_release); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    std::atomic<int>& calls_;
  };

  // Asks, and hands over to the journal. The request is borrowed only until `ask` returns.
  template <class Request>
  void ask(const Request& request, Callback<ReplyOf<Request>> done) TENURE_EXCLUDES(mutex_);

  // The same for a caller that would wait for the answer: one that is durable by now is given back at once. Otherwise
  // nullopt, and the callback that `later` made is called.
  template <class Request>
  std::optional<Result<ReplyOf<Request>>> ask_now(const Request& request,
                                                  absl::FunctionRef<Callback<ReplyOf<Request>>()> later)
      TENURE_EXCLUDES(mutex_);

  // Whether the values of a request are known to be within their limits (validate.h): only of those who have looked
  // at each of them, while they read it, are they not looked at again.
  enum class Values : bool { kUnchecked, kChecked };

  // The same in two steps, so that many requests reach the journal in one hand-over. A lock that is refused because
  // somebody holds it is so before `put` returns, if that grant is durable: it does not wait for the frames of others.
  template <class Request>
  void put(const Request& request, Callback<ReplyOf<Request>> done, Values values = Values::kUnchecked)
      TENURE_EXCLUDES(mutex_);
  void hand_over() TENURE_EXCLUDES(mutex_);
  // Before that, for whoever has nothing better to do: what was put is made durable on this thread, if it is little and
  // the journal is quick. False: it was not.
  bool commit_here() TENURE_EXCLUDES(mutex_);
  // In the midst of putting many: the journal begins with what was put so far, if it has nothing to do and that is
  // much.
  void commit_ahead() { ports_.journal.commit_ahead(); }

  // Asks, and waits up to `block` for an answer that is not empty. The ticket is 0 when there was nothing to wait for.
  Ticket wait(const LeaseRequest& request, Millis block, Callback<std::vector<TaskLease>> done) TENURE_EXCLUDES(mutex_);
  Ticket wait(const LockAcquire& request, Millis block, Callback<std::optional<LockGrant>> done)
      TENURE_EXCLUDES(mutex_);
  Ticket wait(const AwaitTask& request, Millis block, Callback<std::optional<TaskStatus>> done) TENURE_EXCLUDES(mutex_);
  // Ends a wait with its empty answer. False: it has been answered, or will be without this.
  bool cancel(Ticket ticket) TENURE_EXCLUDES(mutex_);
  // Ends every wait; whatever is asked from now on is UNAVAILABLE. One of several answers so to those who wait, too:
  // they go on at the next leader.
  void close() TENURE_EXCLUDES(mutex_);

  // Sessions; see Authority::join.
  Result<Done> join(std::string_view session, std::optional<Millis> grace) TENURE_EXCLUDES(mutex_);
  Result<Done> leave(std::string_view session) TENURE_EXCLUDES(mutex_);

  // Does what time asks for, a bounded piece of it, and answers when it is next due: perhaps at once.
  Instant run_due() TENURE_EXCLUDES(mutex_);
  // Called, with the mutex held, when something is due earlier than `run_due` last said. It must not call back.
  void on_earlier_due(std::function<void()> wake) TENURE_EXCLUDES(mutex_);

  // Called once, without the mutex, when the journal has failed and what was pending has been answered; at once if that
  // was before. It must not destroy the engine.
  void on_failure(std::function<void(const Failure& failure)> tell) TENURE_EXCLUDES(mutex_);

  // For a host that has a loop: answers are given by the calls above alone, on their callers' threads, and `wake` is
  // told, on any thread, when there may be some for `hand_over` to give. It must not call back. Null: no more, none is
  // told when that returns, and what was ready has been given.
  void on_ready(std::function<void()> wake) TENURE_EXCLUDES(host_mutex_, mutex_);

  // Journals the state's digest, which every replay will compare. `done` is told its frame.
  void take_digest(Callback<std::uint64_t> done = {}) TENURE_EXCLUDES(mutex_);
  // Lifts the fence above all that may have been granted and lost.
  void raise_fence() TENURE_EXCLUDES(mutex_);

  // The authority's time.
  [[nodiscard]] Instant now() const;

  // Looks at the state; look(const State&).
  template <class Look>
  auto inspect(const Look& look) const TENURE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return look(*state_);
  }

  // For whoever tells others what is recorded. From now on every frame is kept until it is durable and taken; the
  // answer is the last one that is not kept.
  std::uint64_t follow() TENURE_EXCLUDES(mutex_);
  void unfollow() TENURE_EXCLUDES(mutex_);
  struct DurableFrame {
    std::uint64_t sequence;
    Instant stamp;
    std::string payload;
  };
  // Those that have become durable since, in their order.
  std::vector<DurableFrame> take_durable() TENURE_EXCLUDES(mutex_);

  // With at most so many queues.
  [[nodiscard]] EngineFigures figures(std::uint64_t queues_shown) const TENURE_EXCLUDES(mutex_);
  // Told with the mutex held, and at once of those that are held. It outlives the engine, or is replaced; null: no more
  // is told. While it stands by nothing is, and its next term begins without a watch.
  void watch_locks(LockWatch* watch) TENURE_EXCLUDES(mutex_);

  // Called after every record with the state and the record's bytes: for tests that prove each step.
  using Observer = std::function<void(const State& state, Instant stamp, std::string_view record)>;
  void observe(Observer observer) TENURE_EXCLUDES(mutex_);

 private:
  struct Session {
    std::uint64_t joined = 0;
    Millis grace{0};
    Instant ends_at = kNever;
  };
  // An answer that waits for the journal; given a failure, it answers that instead.
  using Answer = absl::AnyInvocable<void(const Failure*)>;
  struct Pending {
    std::uint64_t sequence;
    Answer answer;
  };

  // A state, and what it was built from.
  struct Loaded {
    std::unique_ptr<State> state = std::make_unique<State>();
    Origin origin{};
  };
  enum class Company : bool { kAlone, kSeveral };

  Engine(const Settings& settings, Ports ports, Company company, Loaded loaded);
  // Of the newest snapshot that is good; empty, if there is none.
  static Result<Loaded> load(Journal& journal, Company company);
  void begin_serving() TENURE_REQUIRES(mutex_);

  void on_durable(std::uint64_t sequence) override TENURE_EXCLUDES(mutex_);
  void on_failed(Journal::Outcome outcome, const std::string& why) override TENURE_EXCLUDES(mutex_);

  // --- engine.cc: a request's way ---
  Instant stamp() TENURE_REQUIRES(mutex_);
  [[nodiscard]] Moment moment() TENURE_REQUIRES(mutex_);
  template <class Request>
  Result<ReplyOf<Request>> process(const Request& request, Values values = Values::kUnchecked) TENURE_REQUIRES(mutex_);
  template <class Request>
  Result<ReplyOf<Request>> decide_and_commit(const Request& request) TENURE_REQUIRES(mutex_);
  template <class Reply>
  Result<Reply> commit_if_readable(Verdict<Reply> verdict) TENURE_REQUIRES(mutex_);
  template <class Request>
  std::optional<Failure> settle_waiting(const Request& request) TENURE_REQUIRES(mutex_);
  template <class Wish, class PrintOf>
  std::optional<Failure> settle_in(Waiters<Wish>& waiters, std::optional<std::string_view> request_id,
                                   const PrintOf& print_of) TENURE_REQUIRES(mutex_);
  void commit(const Records& records) TENURE_REQUIRES(mutex_);
  void append_and_apply(const Records& records) TENURE_REQUIRES(mutex_);
  void note(const Record& record) TENURE_REQUIRES(mutex_);
  template <class Reply>
  void answer(Callback<Reply> done, Result<Reply> reply) TENURE_REQUIRES(mutex_);

  // --- answers.cc: when they are given ---
  // Whether an answer that made no record rests on durable frames alone, though others may not be durable yet.
  template <class Request>
  bool is_settled(const Request& /*request*/, const Result<ReplyOf<Request>>& /*reply*/) TENURE_REQUIRES(mutex_) {
    return false;
  }
  bool is_settled(const LockAcquire& request, const Result<std::optional<LockGrant>>& reply) TENURE_REQUIRES(mutex_);
  Fence durable_fence() TENURE_REQUIRES(mutex_);
  // What a critical section leaves to be done once the mutex is let go: answers that are ready, and whether the journal
  // has something to make durable.
  struct Round {
    absl::InlinedVector<Answer, 2> ready;
    std::optional<Failure> failure;
    bool commit_needed = false;
  };
  // Does the work in a critical section, and then what that left to be done.
  template <class Work>
  void do_round(const Work& work) TENURE_EXCLUDES(mutex_) {
    const Call call(*this);
    Round round;
    {
      const MutexLock lock(mutex_);
      work();
      end_round(round);
    }
    finish(round, [] {});
  }
  // The same for threads that are not the host's: if there is one, answers are left to it.
  template <class Work>
  void do_aside(const Work& work) TENURE_EXCLUDES(mutex_) {
    const Call call(*this);
    Round round;
    {
      const MutexLock lock(mutex_);
      work();
      hand_over_in(round);
    }
    if (round.commit_needed) ports_.journal.commit();
    if (!tell_host()) hand_over();
  }
  void end_round(Round& round) TENURE_REQUIRES(mutex_);
  void hand_over_in(Round& round) TENURE_REQUIRES(mutex_);
  void take_ready(Round& round) TENURE_REQUIRES(mutex_);
  void finish(Round& round, absl::FunctionRef<void()> first) TENURE_EXCLUDES(mutex_);
  struct Giving;
  [[nodiscard]] Giving* giving() const;
  void learn_durable() TENURE_REQUIRES(mutex_);
  void wake_if_due_earlier() TENURE_REQUIRES(mutex_);
  void tell_failure() TENURE_EXCLUDES(mutex_);
  // False: there is no host to be told.
  bool tell_host() TENURE_EXCLUDES(host_mutex_);

  [[nodiscard]] bool is_certain() const TENURE_REQUIRES(mutex_) {
    return failure_ || !ports_.is_certain || ports_.is_certain();
  }

  // --- following.cc: one of several ---
  [[nodiscard]] bool has_newer_snapshot() const TENURE_EXCLUDES(mutex_);
  Result<Done> load_anew() TENURE_EXCLUDES(mutex_);
  Result<Done> take_in(const Frame& frame) TENURE_EXCLUDES(mutex_);
  [[nodiscard]] std::optional<std::uint64_t> followed_to() const TENURE_EXCLUDES(mutex_);
  void keep_for_followers(DurableFrame frame) TENURE_REQUIRES(mutex_);
  void step_down(const Failure& lost) TENURE_REQUIRES(mutex_);
  // Whatever becomes of the journal, these answers are the failure.
  void fail_pending(std::size_t from, const Failure& failure) TENURE_REQUIRES(mutex_);
  void forget_soft_state() TENURE_REQUIRES(mutex_);

  // --- touch.cc: what time did to the names a request touches; and what only looks ---
  static constexpr std::uint64_t kPromotionSlice = 256;  // delayed tasks whose time has come, in one go
  void touch_task(std::string_view task_id) TENURE_REQUIRES(mutex_);
  void touch_queues(absl::Span<const std::string_view> queues) TENURE_REQUIRES(mutex_);
  int expire_in(std::string_view queue, int most) TENURE_REQUIRES(mutex_);
  void touch_domain(std::string_view domain) TENURE_REQUIRES(mutex_);
  void touch_lock(const LockName& lock) TENURE_REQUIRES(mutex_);
  template <class Request>
  void touch(const Request& request) TENURE_REQUIRES(mutex_);
  Result<GetTask::Reply> look(const GetTask& query) TENURE_REQUIRES(mutex_);
  Result<GetHistory::Reply> look(const GetHistory& query) TENURE_REQUIRES(mutex_);
  Result<ListTasks::Reply> look(const ListTasks& query) TENURE_REQUIRES(mutex_);
  Result<ListQueues::Reply> look(const ListQueues& query) TENURE_REQUIRES(mutex_);
  Result<ListWorkers::Reply> look(const ListWorkers& query) TENURE_REQUIRES(mutex_);
  Result<InspectDomain::Reply> look(const InspectDomain& query) TENURE_REQUIRES(mutex_);
  Result<ListBacklog::Reply> look(const ListBacklog& query) TENURE_REQUIRES(mutex_);
  Result<ListFailedOffsets::Reply> look(const ListFailedOffsets& query) TENURE_REQUIRES(mutex_);
  Result<ListDone::Reply> look(const ListDone& query) TENURE_REQUIRES(mutex_);
  Result<ListDomains::Reply> look(const ListDomains& query) TENURE_REQUIRES(mutex_);
  Result<GetLock::Reply> look(const GetLock& query) TENURE_REQUIRES(mutex_);
  Result<ListLocks::Reply> look(const ListLocks& query) TENURE_REQUIRES(mutex_);
  Result<AwaitTask::Reply> look(const AwaitTask& query) TENURE_REQUIRES(mutex_);

  // --- waiting.cc: those who wait ---
  template <class Request, class Wish>
  Ticket wait_in(Waiters<Wish>& waiters, const Request& request, std::uint64_t print, Millis block,
                 Callback<ReplyOf<Request>> done) TENURE_REQUIRES(mutex_);
  template <class Wish>
  void answer_nothing(typename Waiters<Wish>::Waiter waiter) TENURE_REQUIRES(mutex_);
  void end_waits() TENURE_REQUIRES(mutex_);
  // Serves those for whom something became free, as many as fit into one critical section.
  static constexpr int kServeSlice = 64;  // names looked at and things granted: well below a millisecond's worth
  void serve() TENURE_REQUIRES(mutex_);
  [[nodiscard]] bool all_served() const TENURE_REQUIRES(mutex_) {
    return freed_queues_.empty() && freed_locks_.empty() && ended_tasks_.empty();
  }
  void free_queue(std::string_view queue) TENURE_REQUIRES(mutex_);
  void serve_first_lease() TENURE_REQUIRES(mutex_);
  bool promote_for(const LeaseWish& wish) TENURE_REQUIRES(mutex_);
  // True: there are more to be served than now.
  bool serve_lock(const std::string& lock) TENURE_REQUIRES(mutex_);
  bool serve_task(const std::string& task_id) TENURE_REQUIRES(mutex_);
  // Whether others who came first are still to be served with what this one asks for.
  [[nodiscard]] bool is_behind_others(const LeaseRequest& request) const TENURE_REQUIRES(mutex_);
  [[nodiscard]] bool is_behind_others(const LockAcquire& request) const TENURE_REQUIRES(mutex_);

  // --- upkeep.cc: time ---
  // How many things a call of run_due may do.
  std::size_t due_for_one_call() TENURE_REQUIRES(mutex_);
  // Does some of the things left, and answers when the next is due; `left` is 0 once nothing is left to be done now.
  Instant do_due_slice(std::size_t& left) TENURE_REQUIRES(mutex_);
  // How many things it did; 0: nothing is due.
  std::size_t do_next_due() TENURE_REQUIRES(mutex_);
  std::size_t forget_some() TENURE_REQUIRES(mutex_);
  bool end_one_wait() TENURE_REQUIRES(mutex_);
  bool end_one_session() TENURE_REQUIRES(mutex_);
  bool promote_one_queue() TENURE_REQUIRES(mutex_);
  void watch_queue(const std::string& queue) TENURE_REQUIRES(mutex_);
  [[nodiscard]] bool is_joined(std::string_view session) const TENURE_REQUIRES(mutex_);
  [[nodiscard]] bool is_over(std::string_view session) const TENURE_REQUIRES(mutex_);
  void end_session(const std::string& name) TENURE_REQUIRES(mutex_);
  void end_when_left(const std::string& name, Session& session) TENURE_REQUIRES(mutex_);
  [[nodiscard]] Instant next_expiry() const TENURE_REQUIRES(mutex_);
  [[nodiscard]] Instant next_due() const TENURE_REQUIRES(mutex_);

  const Settings settings_;
  const Ports ports_;
  const Company company_;
  Origin origin_;
  std::atomic<int> calls_ = 0;  // under way

  mutable Mutex mutex_;
  std::optional<AuthorityTime> time_;  // set once, before anybody asks
  std::unique_ptr<State> state_ TENURE_GUARDED_BY(mutex_);
  bool is_leading_ TENURE_GUARDED_BY(mutex_);
  bool needs_load_ TENURE_GUARDED_BY(mutex_);              // the state is not what the journal says
  std::uint64_t epoch_ TENURE_GUARDED_BY(mutex_) = 0;      // of leadership, on a journal that has it
  Failure refusal_ TENURE_GUARDED_BY(mutex_);              // while it stands by
  std::optional<Failure> lost_ TENURE_GUARDED_BY(mutex_);  // what the journal said in this term
  bool is_held_back_ TENURE_GUARDED_BY(mutex_) = false;    // an answer, since leadership was not certain
  std::uint64_t readable_ TENURE_GUARDED_BY(mutex_) = std::variant_size_v<Record>;  // types of records, by all nodes
  std::string oldest_ TENURE_GUARDED_BY(mutex_);                                    // the node that knows no more
  Instant now_ TENURE_GUARDED_BY(mutex_);
  std::string scratch_ TENURE_GUARDED_BY(mutex_);
  std::string payload_ TENURE_GUARDED_BY(mutex_);
  std::uint64_t appended_ TENURE_GUARDED_BY(mutex_) = 0;     // the last frame given to the journal
  std::uint64_t undigested_ TENURE_GUARDED_BY(mutex_) = 0;   // frames since the last digest
  std::uint64_t handed_over_ TENURE_GUARDED_BY(mutex_) = 0;  // the last the journal was asked to make durable
  std::uint64_t durable_ TENURE_GUARDED_BY(mutex_) = 0;
  struct FenceMark {
    std::uint64_t sequence;  // once this frame is durable,
    Fence fence;             // all grants up to this one are
  };
  std::deque<FenceMark> fences_ TENURE_GUARDED_BY(mutex_);  // of hand-overs that are under way
  Fence durable_fence_ TENURE_GUARDED_BY(mutex_);
  std::optional<Fence> refused_for_ TENURE_GUARDED_BY(mutex_);  // the acquisition decided last, for this grant
  std::uint64_t prolonged_ TENURE_GUARDED_BY(mutex_) = 0;       // the last frame by which a lock is held for longer
  std::optional<Failure> failure_ TENURE_GUARDED_BY(mutex_);    // nothing is served
  bool is_closed_ TENURE_GUARDED_BY(mutex_) = false;
  int servings_ TENURE_GUARDED_BY(mutex_) = 0;             // left in this critical section
  std::deque<Pending> pending_ TENURE_GUARDED_BY(mutex_);  // in the order of their frames
  Observer observer_ TENURE_GUARDED_BY(mutex_);
  bool is_followed_ TENURE_GUARDED_BY(mutex_) = false;
  std::deque<DurableFrame> followed_ TENURE_GUARDED_BY(mutex_);  // not taken yet
  std::uint64_t followed_to_ TENURE_GUARDED_BY(mutex_) = 0;      // the last that was among them
  Tally tally_ TENURE_GUARDED_BY(mutex_);

  // Soft state: gone with a restart.
  Waiters<LeaseWish> lease_waiters_ TENURE_GUARDED_BY(mutex_);
  Waiters<LockWish> lock_waiters_ TENURE_GUARDED_BY(mutex_);
  Waiters<TaskWish> task_waiters_ TENURE_GUARDED_BY(mutex_);
  Ticket tickets_ TENURE_GUARDED_BY(mutex_) = 0;
  absl::btree_map<std::string, Session, std::less<>> sessions_ TENURE_GUARDED_BY(mutex_);
  absl::btree_set<std::pair<Instant, std::string>> session_ends_ TENURE_GUARDED_BY(mutex_);
  // When queues that are waited for have their next delayed task; one instant each.
  absl::btree_set<std::pair<Instant, std::string>> promotions_ TENURE_GUARDED_BY(mutex_);
  absl::btree_map<std::string, Instant, std::less<>> promotion_of_ TENURE_GUARDED_BY(mutex_);
  SeenWorkers workers_ TENURE_GUARDED_BY(mutex_);
  Instant promised_due_ TENURE_GUARDED_BY(mutex_) = kNever;      // what run_due last said,
  std::optional<std::uint64_t> kept_ TENURE_GUARDED_BY(mutex_);  // and how many things had been kept when it began
  std::function<void()> wake_ TENURE_GUARDED_BY(mutex_);
  std::function<void(const Failure& failure)> tell_failure_ TENURE_GUARDED_BY(mutex_);
  // What records have set free for those who wait, and who has not been served yet.
  absl::btree_set<std::pair<std::uint64_t, std::string>> freed_queues_ TENURE_GUARDED_BY(mutex_);  // by who is first
  std::vector<std::string> freed_locks_ TENURE_GUARDED_BY(mutex_);
  std::vector<std::string> ended_tasks_ TENURE_GUARDED_BY(mutex_);

  Mutex host_mutex_;
  std::function<void()> wake_host_ TENURE_GUARDED_BY(host_mutex_);
};

}  // namespace tenure
