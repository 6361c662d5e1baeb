#include "authority/engine.h"

#include <algorithm>
#include <thread>

#include "authority/snapshots.h"
#include "authority/validate.h"
#include "base/check.h"
#include "base/planted.h"
#include "core/record_codec.h"

namespace tenure {
namespace {

// Frames: a replay that goes wrong is seen soon, and the cost is not.
constexpr std::uint64_t kDigestEvery = 10'000;

// A frame that never reaches the journal: only ever by a planted bug.
bool is_kept_back([[maybe_unused]] const Record& first) {
  if (is_planted(PlantedBug::kExpiryWithoutRecord)) return std::holds_alternative<record::LeaseExpired>(first);
  if (is_planted(PlantedBug::kAppliedNotAppended)) return std::holds_alternative<record::LockExtended>(first);
  if (is_planted(PlantedBug::kForgottenWithoutRecord)) return std::holds_alternative<record::Forgotten>(first);
  return false;
}

}  // namespace

Engine::Engine(const Settings& settings, Ports ports, Company company, Loaded loaded)
    : settings_(settings),
      ports_(std::move(ports)),
      company_(company),
      origin_(std::move(loaded.origin)),
      state_(std::move(loaded.state)),
      is_leading_(company == Company::kAlone),
      needs_load_(company == Company::kSeveral),
      appended_(origin_.snapshot) {}

Result<Engine::Loaded> Engine::load(Journal& journal, Company company) {
  std::vector<std::string> passed_over;
  if (const Snapshots* snapshots = journal.snapshots()) {
    const auto list = snapshots->list();
    if (!list) return tl::unexpected(list.error());
    for (const std::uint64_t sequence : *list) {
      Loaded loaded;
      const auto done = load_snapshot(*snapshots, sequence, *loaded.state);
      // One that others keep may be read a moment later.
      if (!done && company == Company::kSeveral && done.error().code == ErrorCode::kUnavailable) {
        return tl::unexpected(done.error());
      }
      if (!done) {
        passed_over.push_back(done.error().message);
        continue;
      }
      loaded.origin = {.snapshot = sequence, .passed_over = std::move(passed_over)};
      return loaded;
    }
  }
  Loaded nothing;
  nothing.origin.passed_over = std::move(passed_over);
  return nothing;
}

Result<std::unique_ptr<Engine>> Engine::start(const Settings& settings, Ports ports) {
  if (auto fault = fault_in(settings)) return tl::unexpected(std::move(*fault));
  auto loaded = load(ports.journal, Company::kAlone);
  if (!loaded) return tl::unexpected(loaded.error());
  std::unique_ptr<Engine> engine(new Engine(settings, ports, Company::kAlone, std::move(*loaded)));
  const MutexLock lock(engine->mutex_);
  const auto replayed = ports.journal.start(engine->origin_.snapshot, [&](const Frame& frame) {
    engine->mutex_.assert_held();
    engine->appended_ = frame.sequence;
    return replay_frame(*engine->state_, frame.sequence, frame.stamp, frame.payload);
  });
  if (!replayed) return without(engine->origin_.passed_over, replayed.error());
  engine->time_.emplace(ports.clock, engine->state_->last_stamp());
  engine->begin_serving();
  ports.journal.listen(engine.get());
  return engine;
}

// The state is whole, and all of it durable.
void Engine::begin_serving() {
  handed_over_ = durable_ = appended_;
  durable_fence_ = state_->fence();
  // What was noted of frames that were never durable is about others now.
  fences_.clear();
  prolonged_ = 0;
  stamp();
  if (is_planted(PlantedBug::kFenceResetAtRestart)) {
    static_cast<void>(state_->apply(now_, record::FenceRaised{Fence{0}}));
  }
  // Nobody is connected yet: every session of a bound lock has its grace from now on.
  for (const auto& [name, grace] : state_->locks().sessions()) {
    sessions_[name].grace = grace;
    end_when_left(name, sessions_[name]);
  }
}

Engine::~Engine() {
  ports_.journal.listen(nullptr);
  while (calls_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
}

Instant Engine::now() const { return time_->now(); }

Instant Engine::stamp() {
  now_ = std::max(time_->now(), state_->last_stamp());
  servings_ = kServeSlice;
  return now_;
}

Moment Engine::moment() {
  return {.now = now_,
          .entropy = ports_.entropy,
          .settings = settings_,
          .state_bytes = state_->bytes(),
          .has_room = ports_.journal.has_room(),
          .scratch = scratch_};
}

// --- a request's way ---

template <class Request>
void Engine::ask(const Request& request, Callback<ReplyOf<Request>> done) {
  const Call call(*this);
  Round round;
  std::optional<Result<ReplyOf<Request>>> reply;
  Callback<ReplyOf<Request>> at_once;
  {
    const MutexLock lock(mutex_);
    reply.emplace(process(request));
    learn_durable();
    // What is durable by now is answered without a detour.
    if (pending_.empty() && appended_ <= durable_ && giving() == nullptr && is_certain()) {
      at_once = std::move(done);
    } else {
      answer<ReplyOf<Request>>(std::move(done), std::move(*reply));
    }
    end_round(round);
  }
  finish(round, [&] {
    if (at_once) at_once(std::move(*reply));
  });
}

template <class Request>
std::optional<Result<ReplyOf<Request>>> Engine::ask_now(const Request& request,
                                                        absl::FunctionRef<Callback<ReplyOf<Request>>()> later) {
  const Call call(*this);
  Round round;
  std::optional<Result<ReplyOf<Request>>> reply;
  {
    const MutexLock lock(mutex_);
    reply.emplace(process(request));
    learn_durable();
    if (appended_ > durable_ || !is_certain()) {
      answer<ReplyOf<Request>>(later(), std::move(*reply));
      reply.reset();
    }
    end_round(round);
  }
  finish(round, [] {});
  return reply;
}

template <class Request>
void Engine::put(const Request& request, Callback<ReplyOf<Request>> done, Values values) {
  std::optional<Result<ReplyOf<Request>>> reply;
  Callback<ReplyOf<Request>> at_once;
  {
    const MutexLock lock(mutex_);
    reply.emplace(process(request, values));
    if (is_settled(request, *reply) && is_certain()) {
      at_once = std::move(done);
    } else {
      answer<ReplyOf<Request>>(std::move(done), std::move(*reply));
    }
  }
  if (at_once) at_once(std::move(*reply));
}

template <class Request>
Result<ReplyOf<Request>> Engine::process(const Request& request, Values values) {
  if (failure_) return tl::unexpected(*failure_);
  if (is_closed_) return fail_with(ErrorCode::kUnavailable, "the authority is being closed");
  if (values == Values::kUnchecked) {
    if (auto fault = fault_in(request, settings_)) return tl::unexpected(std::move(*fault));
  }
  stamp();
  if (auto fault = settle_waiting(request)) return tl::unexpected(std::move(*fault));
  touch(request);
  if (!all_served()) serve();
  refused_for_.reset();
  if constexpr (requires { is_behind_others(request); }) {
    if (!all_served() && is_behind_others(request)) return ReplyOf<Request>();
  }
  if constexpr (Query<Request>) {
    return look(request);
  } else {
    auto reply = decide_and_commit(request);
    const auto refused_for = refused_for_;
    if (!all_served()) serve();
    refused_for_ = refused_for;
    return reply;
  }
}

// What time did to the names that a request touches is recorded before the request is decided, at the same stamp.
template <class Request>
void Engine::touch(const Request& request) {
  if constexpr (std::is_same_v<Request, LeaseRequest>) {
    workers_.see(request.worker, now_);
    touch_queues(request.queues);
  } else if constexpr (std::is_same_v<Request, ListTasks>) {
    touch_queues({std::string_view(request.queue)});
  } else if constexpr (requires { request.task_id; }) {
    touch_task(request.task_id);
  } else if constexpr (requires { request.lock; }) {
    touch_lock(request.lock);
  } else if constexpr (requires { std::string_view(request.domain); }) {
    touch_domain(request.domain);
  }
}

template <class Request>
Result<ReplyOf<Request>> Engine::decide_and_commit(const Request& request) {
  if constexpr (std::is_same_v<Request, LockAcquire>) {
    // A request that is known has its answer, whatever has become of its session.
    const bool is_known = request.request_id && state_->locks().remembers(*request.request_id);
    if (request.session && !is_known && !is_joined(*request.session)) {
      return fail_with(ErrorCode::kInvalid, "session '{}': expected one that was joined, found none", *request.session);
    }
    if (request.session && !is_known) {
      LockAcquire bound = request;
      bound.grace = sessions_.find(*request.session)->second.grace;
      return commit_if_readable(decide(*state_, bound, moment()));
    }
  }
  return commit_if_readable(decide(*state_, request, moment()));
}

// While others are not upgraded yet, a node may be asked for what they could not read.
template <class Reply>
Result<Reply> Engine::commit_if_readable(Verdict<Reply> verdict) {
  for (const Record& record : verdict.records) {
    if (record.index() < readable_) continue;
    return fail_with(ErrorCode::kUnavailable, "this needs {}, which node {} does not know: upgrade it first",
                     name_of(record), oldest_);
  }
  commit(verdict.records);
  refused_for_ = verdict.refused_for;
  return std::move(verdict.reply);
}

// Of a request that is never the same as one that waits.
constexpr std::optional<std::uint64_t> kNoPrint;

// A request whose id belongs to one that waits: if it is the same request, the older's wait ends.
template <class Request>
std::optional<Failure> Engine::settle_waiting(const Request& request) {
  if constexpr (std::is_same_v<Request, LeaseRequest>) {
    return settle_in(lease_waiters_, request.request_id, [&] { return TaskBook::print_of(request); });
  } else if constexpr (std::is_same_v<Request, Submission> || std::is_same_v<Request, Resubmission>) {
    return settle_in(lease_waiters_, request.request_id, [] { return kNoPrint; });
  } else if constexpr (std::is_same_v<Request, LockAcquire>) {
    return settle_in(lock_waiters_, request.request_id, [&] { return LockBook::print_of(request); });
  } else if constexpr (std::is_same_v<Request, LockGiveBack>) {
    return settle_in(lock_waiters_, request.request_id, [] { return kNoPrint; });
  } else {
    return std::nullopt;
  }
}

template <class Wish, class PrintOf>
std::optional<Failure> Engine::settle_in(Waiters<Wish>& waiters, std::optional<std::string_view> request_id,
                                         const PrintOf& print_of) {
  const auto* older = request_id ? waiters.find_request(*request_id) : nullptr;
  if (older == nullptr) return std::nullopt;
  if (older->wish.print != print_of()) {
    return Failure{ErrorCode::kInvalid,
                   fmt::format("request id '{}': expected the request that waits with it, found another", *request_id)};
  }
  answer_nothing<Wish>(*waiters.remove(older->ticket));
  return std::nullopt;
}

// One decision's records are one frame. Every so many frames one more says what the digest is by then.
void Engine::commit(const Records& records) {
  if (records.empty()) return;
  try {
    append_and_apply(records);
  } catch (...) {
    // Out of memory: nobody knows how much of it is in the state.
    failure_ = Failure{ErrorCode::kUnavailable, "a change could not be finished; the journal knows whether it counts"};
    throw;
  }
  if (++undigested_ == kDigestEvery) {
    undigested_ = 0;
    commit({record::DigestTaken{state_->digest()}});
  }
}

void Engine::append_and_apply(const Records& records) {
  payload_.clear();
  for (const Record& record : records) encode(record, payload_);
  if (!is_kept_back(records.front())) appended_ = ports_.journal.append(epoch_, now_, payload_);
  if (is_followed_) keep_for_followers({appended_, now_, payload_});
  for (const Record& record : records) {
    // Before it is applied: what a record views may be gone afterwards.
    note(record);
    tally_.count(record);
    std::string bytes;
    if (observer_) encode(record, bytes);
    const Broken broken = state_->apply(now_, record);
    TENURE_CHECK(broken == nullptr, "frame {}, {}: {}", appended_, name_of(record), broken);
    if (observer_) observer_(*state_, now_, bytes);
  }
}

// Notes what a record may set free for those who wait, and what those who are refused rest on.
void Engine::note(const Record& record) {
  const auto free_queue_of = [&](std::string_view task_id) TENURE_REQUIRES(mutex_) {
    if (!lease_waiters_.empty()) free_queue(state_->tasks().find(task_id)->queue->name);
  };
  const auto free_lock = [this](const auto& fact) TENURE_REQUIRES(mutex_) {
    if (!lock_waiters_.empty()) freed_locks_.push_back(waiting_name({fact.domain, fact.identifier, fact.space}));
  };
  const auto end_task = [&](std::string_view task_id) TENURE_REQUIRES(mutex_) {
    if (!task_waiters_.empty()) ended_tasks_.emplace_back(task_id);
    free_queue_of(task_id);  // the next of its key may be due
  };
  if (const auto* created = std::get_if<record::TaskCreated>(&record)) {
    free_queue(created->queue.value_or(kDefaultQueue));
  } else if (const auto* expired = std::get_if<record::LeaseExpired>(&record)) {
    free_queue_of(expired->task_id);
  } else if (const auto* completed = std::get_if<record::TaskCompleted>(&record)) {
    end_task(completed->task_id);
  } else if (const auto* failed = std::get_if<record::TaskFailed>(&record)) {
    end_task(failed->task_id);
  } else if (const auto* dead = std::get_if<record::TaskDead>(&record)) {
    end_task(dead->task_id);
  } else if (const auto* resumed = std::get_if<record::QueueResumed>(&record)) {
    free_queue(resumed->queue);
  } else if (std::holds_alternative<record::LockExtended>(record) ||
             std::holds_alternative<record::LockReentered>(record)) {
    prolonged_ = appended_;
  } else if (const auto* released = std::get_if<record::LockReleased>(&record)) {
    free_lock(*released);
  } else if (const auto* lapsed = std::get_if<record::LockExpired>(&record)) {
    free_lock(*lapsed);
  } else if (const auto* forced = std::get_if<record::LockForced>(&record)) {
    free_lock(*forced);
  }
}

template <class Reply>
void Engine::answer(Callback<Reply> done, Result<Reply> reply) {
  pending_.push_back({appended_, [done = std::move(done), reply = std::move(reply)](const Failure* failure) mutable {
                        if (failure != nullptr) {
                          done(tl::unexpected(*failure));
                        } else {
                          done(std::move(reply));
                        }
                      }});
}

// --- system records ---

void Engine::take_digest(Callback<std::uint64_t> done) {
  do_aside([&]() TENURE_REQUIRES(mutex_) {
    Result<std::uint64_t> frame = tl::unexpected(failure_.value_or(Failure{}));
    if (!failure_) {
      stamp();
      commit({record::DigestTaken{state_->digest()}});
      frame = appended_;
    }
    if (done) answer<std::uint64_t>(std::move(done), std::move(frame));
  });
}

void Engine::raise_fence() {
  do_round([&]() TENURE_REQUIRES(mutex_) {
    if (failure_) return;
    stamp();
    const auto seconds = static_cast<std::uint64_t>(std::max<std::int64_t>(ports_.clock.wall().ms / 1000, 0));
    const std::uint64_t by_count = state_->fence().value + (std::uint64_t{1} << 32);
    commit({record::FenceRaised{Fence{std::max(by_count, seconds << 22)}}});
  });
}

std::uint64_t Engine::follow() {
  const MutexLock lock(mutex_);
  is_followed_ = true;
  followed_to_ = appended_;
  return appended_;
}

void Engine::unfollow() {
  const MutexLock lock(mutex_);
  is_followed_ = false;
  followed_.clear();
}

std::vector<Engine::DurableFrame> Engine::take_durable() {
  const MutexLock lock(mutex_);
  learn_durable();
  std::vector<DurableFrame> taken;
  while (!followed_.empty() && followed_.front().sequence <= durable_) {
    taken.push_back(std::move(followed_.front()));
    followed_.pop_front();
  }
  return taken;
}

void Engine::observe(Observer observer) {
  const MutexLock lock(mutex_);
  observer_ = std::move(observer);
}

// --- everything that can be asked ---

#define TENURE_ASK(Request)                                                       \
  template void Engine::ask<Request>(const Request&, Callback<ReplyOf<Request>>); \
  template std::optional<Result<ReplyOf<Request>>> Engine::ask_now<Request>(      \
      const Request&, absl::FunctionRef<Callback<ReplyOf<Request>>()>);           \
  template void Engine::put<Request>(const Request&, Callback<ReplyOf<Request>>, Values);
TENURE_ASK(Submission)
TENURE_ASK(LeaseRequest)
TENURE_ASK(TaskExtension)
TENURE_ASK(Completion)
TENURE_ASK(FailureReport)
TENURE_ASK(TaskKill)
TENURE_ASK(Resubmission)
TENURE_ASK(QueuePause)
TENURE_ASK(WorkRequest)
TENURE_ASK(WorkSuccess)
TENURE_ASK(WorkFailure)
TENURE_ASK(WorkExtension)
TENURE_ASK(WorkTrim)
TENURE_ASK(LockAcquire)
TENURE_ASK(LockGiveBack)
TENURE_ASK(LockExtension)
TENURE_ASK(LockForce)
TENURE_ASK(GetTask)
TENURE_ASK(GetHistory)
TENURE_ASK(ListTasks)
TENURE_ASK(ListQueues)
TENURE_ASK(ListWorkers)
TENURE_ASK(InspectDomain)
TENURE_ASK(ListBacklog)
TENURE_ASK(ListFailedOffsets)
TENURE_ASK(ListDone)
TENURE_ASK(ListDomains)
TENURE_ASK(GetLock)
TENURE_ASK(ListLocks)
TENURE_ASK(AwaitTask)
#undef TENURE_ASK

// For waiting.cc.
template Result<std::vector<TaskLease>> Engine::process(const LeaseRequest&, Values);
template Result<std::optional<LockGrant>> Engine::process(const LockAcquire&, Values);
template Result<std::optional<TaskStatus>> Engine::process(const AwaitTask&, Values);
template Result<std::vector<TaskLease>> Engine::decide_and_commit(const LeaseRequest&);
template Result<std::optional<LockGrant>> Engine::decide_and_commit(const LockAcquire&);
template void Engine::touch(const LeaseRequest&);
template void Engine::touch(const LockAcquire&);
template void Engine::touch(const AwaitTask&);
template void Engine::answer(Callback<std::vector<TaskLease>>, Result<std::vector<TaskLease>>);
template void Engine::answer(Callback<std::optional<LockGrant>>, Result<std::optional<LockGrant>>);
template void Engine::answer(Callback<std::optional<TaskStatus>>, Result<std::optional<TaskStatus>>);

}  // namespace tenure
