// When answers are given, and by whom: none before everything it rests on is durable.
#include <fmt/format.h>

#include "authority/engine.h"
#include "base/planted.h"

namespace tenure {

void Engine::learn_durable() {
  if (durable_ < appended_ && !failure_) durable_ = std::max(durable_, ports_.journal.durable());
}

// Of every lock that is held the grant was a frame; by its fence it is known whether that is durable.
Fence Engine::durable_fence() {
  learn_durable();
  while (!fences_.empty() && fences_.front().sequence <= durable_) {
    durable_fence_ = fences_.front().fence;
    fences_.pop_front();
  }
  return durable_fence_;
}

bool Engine::is_settled(const LockAcquire& request, const Result<std::optional<LockGrant>>& reply) {
  if (!reply || *reply || request.request_id) return false;
  if (!refused_for_) return false;  // it is kept for others, who came first
  if (is_planted(PlantedBug::kRefusedBeforeDurable)) return true;
  return *refused_for_ <= durable_fence() && prolonged_ <= durable_;
}

// The answers that are being given on a thread. A callback that asks again leaves its answer to the loop that gave it
// its own: a chain of such callbacks does not nest ever deeper.
struct Engine::Giving {
  explicit Giving(const Engine* of) : engine(of), outer(innermost) { innermost = this; }
  ~Giving() { innermost = outer; }
  Giving(const Giving&) = delete;
  Giving& operator=(const Giving&) = delete;

  const Engine* engine;
  Giving* outer;
  bool more = false;  // asked for by a callback

  static thread_local Giving* innermost;
};
thread_local Engine::Giving* Engine::Giving::innermost = nullptr;

Engine::Giving* Engine::giving() const {
  Giving* giving = Giving::innermost;
  while (giving != nullptr && giving->engine != this) giving = giving->outer;
  return giving;
}

void Engine::end_round(Round& round) {
  hand_over_in(round);
  if (giving() == nullptr) take_ready(round);
}

void Engine::hand_over_in(Round& round) {
  wake_if_due_earlier();
  learn_durable();
  round.commit_needed = !failure_ && appended_ > std::max(handed_over_, durable_);
  handed_over_ = appended_;
  if (fences_.empty() ? state_->fence() > durable_fence_ : state_->fence() > fences_.back().fence) {
    fences_.push_back({appended_, state_->fence()});
  }
}

void Engine::take_ready(Round& round) {
  round.failure = failure_;
  is_held_back_ = !pending_.empty() && !is_certain();
  if (is_held_back_) return;
  const auto is_ready = [this](const Pending& pending) TENURE_REQUIRES(mutex_) {
    return failure_ || pending.sequence <= durable_ || is_planted(PlantedBug::kAnswerBeforeDurable);
  };
  while (!pending_.empty() && is_ready(pending_.front())) {
    round.ready.push_back(std::move(pending_.front().answer));
    pending_.pop_front();
  }
}

// Gives `first` and the answers that are ready.
void Engine::finish(Round& round, absl::FunctionRef<void()> first) {
  if (round.commit_needed) ports_.journal.commit();
  if (Giving* outer = giving()) {
    outer->more = true;
    return;
  }
  Giving giving(this);
  first();
  while (true) {
    for (Answer& answer : round.ready) answer(round.failure ? &*round.failure : nullptr);
    round.ready.clear();
    if (!giving.more) break;
    giving.more = false;
    const MutexLock lock(mutex_);
    take_ready(round);
  }
}

void Engine::wake_if_due_earlier() {
  if (!wake_ || !is_leading_) return;
  const Instant due = next_due();
  if (due >= promised_due_) return;
  promised_due_ = due;
  wake_();
}

void Engine::hand_over() {
  do_round([] {});
}

// With so few everybody who asks is likely to wait for just these. With more of them others are on their way, too, and
// their requests are read meanwhile.
bool Engine::commit_here() {
  constexpr std::uint64_t kFramesMax = 128;
  const Call call(*this);
  {
    const MutexLock lock(mutex_);
    learn_durable();
    if (failure_ || appended_ <= handed_over_ || appended_ - durable_ > kFramesMax) return false;
  }
  return ports_.journal.commit_here();
}

void Engine::on_ready(std::function<void()> wake) {
  const bool is_end = wake == nullptr;
  {
    const MutexLock lock(host_mutex_);
    wake_host_ = std::move(wake);
  }
  if (is_end) hand_over();
}

bool Engine::tell_host() {
  const MutexLock lock(host_mutex_);
  if (wake_host_) wake_host_();
  return wake_host_ != nullptr;
}

// Commits nothing: what was put is handed over by whoever put it. A host asks the journal itself how far it has got.
void Engine::on_durable(std::uint64_t sequence) {
  if (tell_host()) return;
  const Call call(*this);
  Round round;
  {
    const MutexLock lock(mutex_);
    durable_ = std::max(durable_, sequence);
    if (giving() == nullptr) take_ready(round);
  }
  finish(round, [] {});
}

void Engine::on_failed(Journal::Outcome outcome, const std::string& why) {
  const Call call(*this);
  {
    const MutexLock lock(mutex_);
    lost_ =
        Failure{ErrorCode::kUnavailable,
                fmt::format("the journal has failed{}: {}",
                            outcome == Journal::Outcome::kUnknown ? ", what was asked may have happened" : "", why)};
    if (company_ == Company::kAlone) {
      failure_ = lost_;
      end_waits();
    } else if (is_leading_) {
      step_down(*lost_);
    }
  }
  if (!tell_host()) hand_over();
  tell_failure();
}

void Engine::on_failure(std::function<void(const Failure& failure)> tell) {
  {
    const MutexLock lock(mutex_);
    tell_failure_ = std::move(tell);
  }
  tell_failure();
}

// One of several may fail again in another term.
void Engine::tell_failure() {
  std::function<void(const Failure& failure)> tell;
  std::optional<Failure> failure;
  {
    const MutexLock lock(mutex_);
    failure = company_ == Company::kAlone ? failure_ : lost_;
    if (!failure || !tell_failure_) return;
    tell = tell_failure_;
    if (company_ == Company::kAlone) tell_failure_ = nullptr;
  }
  tell(*failure);
}

}  // namespace tenure
