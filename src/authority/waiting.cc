// Those who wait, and how they are served: first come, first served, in the same critical section that set free what
// they wait for.
#include <algorithm>

#include "authority/engine.h"
#include "authority/validate.h"
#include "base/planted.h"

namespace tenure {
namespace {

bool is_nothing(const std::vector<TaskLease>& leases) { return leases.empty(); }
template <class T>
bool is_nothing(const std::optional<T>& reply) {
  return !reply.has_value();
}

}  // namespace

Ticket Engine::wait(const LeaseRequest& request, Millis block, Callback<std::vector<TaskLease>> done) {
  Ticket ticket = 0;
  do_round([&]() TENURE_REQUIRES(mutex_) {
    ticket = wait_in(lease_waiters_, request, TaskBook::print_of(request), block, std::move(done));
  });
  return ticket;
}

Ticket Engine::wait(const LockAcquire& request, Millis block, Callback<std::optional<LockGrant>> done) {
  Ticket ticket = 0;
  do_round([&]() TENURE_REQUIRES(mutex_) {
    ticket = wait_in(lock_waiters_, request, LockBook::print_of(request), block, std::move(done));
  });
  return ticket;
}

Ticket Engine::wait(const AwaitTask& request, Millis block, Callback<std::optional<TaskStatus>> done) {
  Ticket ticket = 0;
  do_round([&]() TENURE_REQUIRES(mutex_) { ticket = wait_in(task_waiters_, request, 0, block, std::move(done)); });
  return ticket;
}

template <class Request, class Wish>
Ticket Engine::wait_in(Waiters<Wish>& waiters, const Request& request, std::uint64_t print, Millis block,
                       Callback<ReplyOf<Request>> done) {
  using Reply = ReplyOf<Request>;
  auto fault = fault_in(request, settings_);
  if (!fault) fault = fault_in_wait(std::is_same_v<Request, LockAcquire> ? "wait" : "block", block);
  if (fault) {
    answer<Reply>(std::move(done), tl::unexpected(std::move(*fault)));
    return 0;
  }

  // The same request, waiting already: this one takes over its place, once time has done what was due.
  std::optional<std::string_view> request_id;
  if constexpr (requires { request.request_id; }) request_id = request.request_id;
  const auto is_waiting = [&] {
    const auto* older = request_id ? waiters.find_request(*request_id) : nullptr;
    return older != nullptr && older->wish.print == print;
  };
  bool takes_over = block > Millis{0} && !failure_ && is_waiting();
  if (takes_over) {
    stamp();
    touch(request);
    serve();
    takes_over = is_waiting();
  }
  if (!takes_over) {
    auto reply = process(request);
    bool at_once = block == Millis{0} || !reply || !is_nothing(*reply);
    // A repeated lease request whose leases have all ended has had its answer.
    if constexpr (std::is_same_v<Request, LeaseRequest>) {
      at_once = at_once || (request_id && state_->tasks().remembers(*request_id));
    }
    if (at_once) {
      answer<Reply>(std::move(done), std::move(reply));
      return 0;
    }
  }

  Wish wish(request, print, std::move(done));
  auto names = wish.names();
  for (const std::string& name : names) {
    if (takes_over || waiters.count(name) < settings_.waiters_max) continue;
    answer<Reply>(std::move(wish.done),
                  fail_with(ErrorCode::kBackpressure, "waiters for one name: expected fewer than {}, found {}",
                            settings_.waiters_max, waiters.count(name)));
    return 0;
  }
  const Ticket ticket = ++tickets_;
  typename Waiters<Wish>::Waiter waiter{ticket, now_ + block, std::move(names), std::move(wish)};
  if (takes_over) {
    answer_nothing<Wish>(waiters.take_over(std::move(waiter)));
  } else {
    waiters.add(std::move(waiter));
  }
  if constexpr (std::is_same_v<Request, LeaseRequest>) {
    for (const std::string_view queue : request.queues) watch_queue(std::string(queue));
  }
  return ticket;
}

template <class Wish>
void Engine::answer_nothing(typename Waiters<Wish>::Waiter waiter) {
  auto nothing = Wish::nothing();
  answer<decltype(nothing)>(std::move(waiter.wish.done), std::move(nothing));
}
template void Engine::answer_nothing<LeaseWish>(Waiters<LeaseWish>::Waiter);
template void Engine::answer_nothing<LockWish>(Waiters<LockWish>::Waiter);
template void Engine::answer_nothing<TaskWish>(Waiters<TaskWish>::Waiter);

bool Engine::cancel(Ticket ticket) {
  bool cancelled = false;
  if (is_planted(PlantedBug::kDeadWaiterGranted)) return cancelled;
  do_round([&]() TENURE_REQUIRES(mutex_) {
    const auto cancel_in = [&]<class Wish>(Waiters<Wish>& waiters) TENURE_REQUIRES(mutex_) {
      auto waiter = waiters.remove(ticket);
      if (waiter) answer_nothing<Wish>(std::move(*waiter));
      return waiter.has_value();
    };
    cancelled = cancel_in(lease_waiters_) || cancel_in(lock_waiters_) || cancel_in(task_waiters_);
  });
  return cancelled;
}

void Engine::close() {
  do_round([&]() TENURE_REQUIRES(mutex_) {
    is_closed_ = true;
    const std::size_t before = pending_.size();
    end_waits();
    if (company_ == Company::kSeveral) fail_pending(before, {ErrorCode::kUnavailable, "the authority is being closed"});
  });
}

void Engine::end_waits() {
  while (auto waiter = lease_waiters_.remove_any()) answer_nothing<LeaseWish>(std::move(*waiter));
  while (auto waiter = lock_waiters_.remove_any()) answer_nothing<LockWish>(std::move(*waiter));
  while (auto waiter = task_waiters_.remove_any()) answer_nothing<TaskWish>(std::move(*waiter));
}

// --- serving ---

void Engine::serve() {
  // Serving makes records, and those may set free more: the lists grow while they are walked.
  const auto serve_next = [&](std::vector<std::string>& names, auto serve_one) TENURE_REQUIRES(mutex_) {
    const std::string name = std::move(names.back());
    names.pop_back();
    --servings_;
    if ((this->*serve_one)(name)) names.push_back(name);
  };
  while (servings_ > 0 && !all_served()) {
    if (!freed_queues_.empty()) {
      serve_first_lease();
    } else if (!freed_locks_.empty()) {
      serve_next(freed_locks_, &Engine::serve_lock);
    } else {
      serve_next(ended_tasks_, &Engine::serve_task);
    }
  }
}

// Notes that there may be something for those who wait for the queue.
void Engine::free_queue(std::string_view queue) {
  if (lease_waiters_.empty()) return;
  if (const auto* first = lease_waiters_.first(queue)) freed_queues_.emplace(first->place, queue);
}

// Serves who came first of all that wait for one of the free queues: it may want several of them.
void Engine::serve_first_lease() {
  const auto [place, queue] = std::move(freed_queues_.extract(freed_queues_.begin()).value());
  --servings_;
  const auto* const first = lease_waiters_.first(queue);
  if (first == nullptr) return;
  if (!state_->tasks().can_grant(queue)) return watch_queue(queue);
  // Who was first when the queue was noted may be gone; and a delay that is over may concern somebody before this one.
  if (first->place != place || promote_for(first->wish)) return free_queue(queue);
  auto waiter = *lease_waiters_.remove(first->ticket);
  auto leases = decide_and_commit(waiter.wish.request());
  servings_ -= leases ? static_cast<int>(leases->size()) : 0;
  answer(std::move(waiter.wish.done), std::move(leases));
  free_queue(queue);
}

// As a request does that comes now, one that is served now finds the delayed tasks whose time has come; whether there
// are any.
bool Engine::promote_for(const LeaseWish& wish) {
  bool is_any = false;
  for (const std::string& queue : wish.queues) {
    if (state_->tasks().promote(queue, now_, kPromotionSlice) == 0) continue;
    free_queue(queue);
    is_any = true;
  }
  return is_any;
}

bool Engine::serve_lock(const std::string& lock) {
  while (const auto* first = lock_waiters_.first(lock)) {
    const LockName name = first->wish.request().lock;
    touch_lock(name);  // time may have passed since it was set free
    if (const Lock* held = state_->locks().find(name)) {
      // Whoever has it now re-enters with its other requests.
      first = lock_waiters_.first(waiting_name(*held));
      if (first == nullptr) break;
    }
    if (servings_-- <= 0) return true;
    if (is_planted(PlantedBug::kWaitersServedLastFirst)) first = lock_waiters_.last(lock);
    auto waiter = *lock_waiters_.remove(first->ticket);
    answer(std::move(waiter.wish.done), decide_and_commit(waiter.wish.request()));
  }
  return false;
}

bool Engine::serve_task(const std::string& task_id) {
  const Task* task = state_->tasks().find(task_id);
  if (task == nullptr || !is_terminal(task->state)) return false;
  while (const auto* first = task_waiters_.first(task_id)) {
    if (servings_-- <= 0) return true;
    auto waiter = *task_waiters_.remove(first->ticket);
    answer<std::optional<TaskStatus>>(std::move(waiter.wish.done), TaskBook::status(*task));
  }
  return false;
}

bool Engine::is_behind_others(const LeaseRequest& request) const {
  if (request.request_id && state_->tasks().remembers(*request.request_id)) return false;
  return std::any_of(request.queues.begin(), request.queues.end(), [this](std::string_view queue) {
    mutex_.assert_held();
    return lease_waiters_.count(queue) > 0 && state_->tasks().can_grant(queue);
  });
}

bool Engine::is_behind_others(const LockAcquire& request) const {
  if (request.request_id && state_->locks().remembers(*request.request_id)) return false;
  return state_->locks().find(request.lock) == nullptr && lock_waiters_.count(waiting_name(request.lock)) > 0;
}

}  // namespace tenure
