// One of several engines on a journal that elects its writer: it stands by and takes in what the others append, leads,
// and stands by again.
#include <fmt/format.h>

#include "authority/engine.h"
#include "authority/snapshots.h"
#include "authority/validate.h"

namespace tenure {
namespace {

Result<Done> expect_next(std::uint64_t last, const Frame& frame) {
  if (frame.sequence == last + 1) return Done{};
  return fail_with(ErrorCode::kInvalid, "the journal: expected frame {} next, found frame {}", last + 1,
                   frame.sequence);
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::stand_by(const Settings& settings, Ports ports) {
  if (auto fault = fault_in(settings)) return tl::unexpected(std::move(*fault));
  std::unique_ptr<Engine> engine(new Engine(settings, ports, Company::kSeveral, {}));
  engine->time_.emplace(ports.clock, Instant{});
  engine->refuse_with({ErrorCode::kUnavailable, "no node is known to lead"});
  return engine;
}

void Engine::refuse_with(const Failure& refusal) {
  const MutexLock lock(mutex_);
  refusal_ = refusal;
  if (!is_leading_) failure_ = refusal_;
}

void Engine::write_for(std::uint64_t records, const std::string& node) {
  const MutexLock lock(mutex_);
  readable_ = records;
  oldest_ = node;
}

bool Engine::is_leading() const {
  const MutexLock lock(mutex_);
  return is_leading_ && !failure_;
}

std::uint64_t Engine::applied() const {
  const MutexLock lock(mutex_);
  return appended_;
}

bool Engine::needs_load() const {
  const MutexLock lock(mutex_);
  return needs_load_;
}

Result<Done> Engine::catch_up() {
  if (!needs_load()) {
    auto read = ports_.journal.read({.after = applied()}, [this](const Frame& frame) { return take_in(frame); });
    if (read) return read;
    // The frames that it lacks may be gone: a snapshot has what they said.
    if (read.error().code == ErrorCode::kUnavailable && !has_newer_snapshot()) return read;
  }
  return load_anew();
}

bool Engine::has_newer_snapshot() const {
  const Snapshots* const snapshots = ports_.journal.snapshots();
  if (snapshots == nullptr) return false;
  const auto list = snapshots->list();
  return list && !list->empty() && list->front() > applied();
}

// Beside the state that is shown meanwhile, which nobody changes.
Result<Done> Engine::load_anew() {
  auto loaded = load(ports_.journal, Company::kSeveral);
  if (!loaded) return tl::unexpected(loaded.error());
  std::uint64_t last = loaded->origin.snapshot;
  const std::optional<std::uint64_t> told = followed_to();
  std::vector<DurableFrame> news;
  const auto read = ports_.journal.read({.after = last}, [&](const Frame& frame) -> Result<Done> {
    if (auto next = expect_next(last, frame); !next) return next;
    last = frame.sequence;
    if (told && last > *told) news.push_back({last, frame.stamp, std::string(frame.payload)});
    return replay_frame(*loaded->state, frame.sequence, frame.stamp, frame.payload);
  });
  if (!read) return without(loaded->origin.passed_over, read.error());
  const MutexLock lock(mutex_);
  state_.swap(loaded->state);
  origin_ = std::move(loaded->origin);
  // What it knew to be durable says nothing new of the time.
  if (last > durable_) time_->resume(state_->last_stamp());
  appended_ = handed_over_ = durable_ = last;
  durable_fence_ = state_->fence();
  needs_load_ = false;
  for (DurableFrame& frame : news) keep_for_followers(std::move(frame));
  return Done{};
}

// Nullopt: nobody wants to be told.
std::optional<std::uint64_t> Engine::followed_to() const {
  const MutexLock lock(mutex_);
  return is_followed_ ? std::optional(followed_to_) : std::nullopt;
}

void Engine::keep_for_followers(DurableFrame frame) {
  if (!is_followed_ || frame.sequence <= followed_to_) return;
  followed_to_ = frame.sequence;
  followed_.push_back(std::move(frame));
}

Result<Done> Engine::take_in(const Frame& frame) {
  const MutexLock lock(mutex_);
  if (auto next = expect_next(appended_, frame); !next) return next;
  needs_load_ = true;  // unless all of it can be applied
  if (auto replayed = replay_frame(*state_, frame.sequence, frame.stamp, frame.payload); !replayed) return replayed;
  needs_load_ = false;
  appended_ = handed_over_ = durable_ = frame.sequence;
  durable_fence_ = state_->fence();
  time_->follow(frame.stamp);
  if (is_followed_) keep_for_followers({frame.sequence, frame.stamp, std::string(frame.payload)});
  return Done{};
}

Result<Done> Engine::lead(std::uint64_t epoch) {
  if (needs_load()) {
    if (auto loaded = load_anew(); !loaded) return loaded;
  }
  {
    const MutexLock lock(mutex_);
    lost_.reset();
  }
  auto read = ports_.journal.start(applied(), [this](const Frame& frame) { return take_in(frame); });
  if (!read) return read;
  ports_.journal.listen(this);
  do_aside([&]() TENURE_REQUIRES(mutex_) {
    if (lost_) {
      read = tl::unexpected(*lost_);
      return;
    }
    epoch_ = epoch;
    undigested_ = 0;
    is_leading_ = true;
    failure_.reset();
    time_->settle();
    begin_serving();
  });
  if (!read) ports_.journal.listen(nullptr);
  return read;
}

void Engine::depose(const std::string& why) {
  do_aside([&]() TENURE_REQUIRES(mutex_) {
    if (!is_leading_) return;
    step_down({ErrorCode::kUnavailable,
               fmt::format("this node leads no more, and what was asked may have happened: {}", why)});
  });
  ports_.journal.listen(nullptr);
}

void Engine::go_on() {
  {
    const MutexLock lock(mutex_);
    if (!is_held_back_) return;
  }
  if (!tell_host()) hand_over();
}

// Whoever was not answered may have been served, or not: that is for the next leader to know.
void Engine::step_down(const Failure& lost) {
  learn_durable();
  end_waits();
  fail_pending(0, lost);
  is_leading_ = false;
  failure_ = refusal_;
  needs_load_ = needs_load_ || appended_ > durable_;
  handed_over_ = appended_;
  while (!followed_.empty() && followed_.back().sequence > durable_) followed_.pop_back();
  followed_to_ = std::min(followed_to_, durable_);
  state_->locks().watch(nullptr);
  forget_soft_state();
}

void Engine::fail_pending(std::size_t from, const Failure& failure) {
  for (std::size_t i = from; i < pending_.size(); ++i) {
    pending_[i] = {.sequence = 0,
                   .answer = [answer = std::move(pending_[i].answer), failure](const Failure* /*now*/) mutable {
                     answer(&failure);
                   }};
  }
}

void Engine::forget_soft_state() {
  sessions_.clear();
  session_ends_.clear();
  promotions_.clear();
  promotion_of_.clear();
  workers_.clear();
  freed_queues_.clear();
  freed_locks_.clear();
  ended_tasks_.clear();
  fences_.clear();
  promised_due_ = kNever;
  kept_.reset();
}

}  // namespace tenure
