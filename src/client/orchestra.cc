#include "client/orchestra.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/entropy.h"
#include "base/limits.h"
#include "base/text.h"

namespace tenure {
namespace {

std::string orchestra_id() {
  SystemEntropy entropy;
  return hex16(entropy.next()) + hex16(entropy.next());
}

}  // namespace

std::optional<std::string> OrderedSource::fetch(std::string_view /*domain*/, Offset /*offset*/) { return std::nullopt; }
void OrderedSource::done(std::string_view /*domain*/, Offset /*offset*/, bool /*is_processed*/) {}

Millis pause_before(std::uint32_t retry, const Backoff& backoff) {
  if (retry == 0) return Millis{0};
  Millis pause = std::min(backoff.initial, backoff.longest);
  for (std::uint32_t i = 1; i < retry && pause < backoff.longest; ++i) pause = std::min(pause * 2, backoff.longest);
  return pause;
}

Instant retry_due(Instant acquired_at, std::uint32_t retry_count, const Backoff& backoff) {
  Instant due = acquired_at;
  for (std::uint32_t retry = 1; retry <= retry_count; ++retry) due = due + pause_before(retry, backoff);
  return due;
}

Orchestra::Orchestra(WorkLeases& work, OrchestratorOptions options, const Clock& clock)
    : work_(work), options_(std::move(options)), clock_(clock), id_(orchestra_id()), retries_(clock), keeper_(clock) {
  if (options_.threads <= 0) throw std::invalid_argument("an orchestrator needs threads");
  if (options_.lease && (*options_.lease <= Millis{0} || *options_.lease > kLeaseMax)) {
    throw std::invalid_argument("a lease lasts 1 ms to 24 h");
  }
}

std::string Orchestra::new_request_id() { return fmt::format("{}/{}", id_, requests_.fetch_add(1)); }

void Orchestra::log(const std::string& line) {
  if (options_.log) {
    options_.log(line);
  } else {
    std::fputs((line + "\n").c_str(), stderr);
  }
}

OrchestratorTally Orchestra::run(OrderedSource& source, const Orchestrator::Handler& handler,
                                 const std::stop_token& stop) {
  source_ = &source;
  const std::stop_callback pass_on(stop, [this] { stopping_.request_stop(); });
  const std::stop_callback wake_all(stopping_.get_token(), [this] { wake(); });
  std::vector<std::thread> threads;
  for (int i = 0; i < options_.threads; ++i) threads.emplace_back([&] { work(handler); });
  try {
    read(source);
  } catch (...) {
    stopping_.request_stop();
    for (auto& thread : threads) thread.join();
    throw;
  }
  for (auto& thread : threads) thread.join();
  const MutexLock lock(mutex_);
  tally_.left = held_;
  return tally_;
}

void Orchestra::read(OrderedSource& source) {
  try {
    while (!stopping_.stop_requested()) {
      auto item = source.next(stopping_.get_token());
      if (!item) break;
      take_in(std::move(*item));
      const MutexLock lock(mutex_);
      // With nothing under way, only what is still to be read can set something going.
      while (held_ >= options_.buffer && turns_ > 0 && !stopping_.stop_requested()) changed_.wait(mutex_);
    }
  } catch (const Stopped&) {
    log("ordered work: stopped without the authority; the rest is left to the next run");
  }
  const MutexLock lock(mutex_);
  is_read_ = true;
  changed_.notify_all();
}

void Orchestra::work(const Orchestrator::Handler& handler) {
  while (const TurnPtr turn = next_turn()) attempt(turn, handler);
}

// Null: there will be none.
Orchestra::TurnPtr Orchestra::next_turn() {
  const MutexLock lock(mutex_);
  while (!stopping_.stop_requested()) {
    if (!ready_.empty()) {
      TurnPtr turn = std::move(ready_.front());
      ready_.pop_front();
      return turn;
    }
    if (is_read_ && turns_ == 0) return nullptr;
    changed_.wait(mutex_);
  }
  return nullptr;
}

void Orchestra::make_ready(const TurnPtr& turn) {
  const MutexLock lock(mutex_);
  ready_.push_back(turn);
  changed_.notify_all();
}

void Orchestra::ready_at(Millis due, const TurnPtr& turn) {
  if (due <= retries_.now()) {
    make_ready(turn);
  } else {
    retries_.set(due, [this, turn] { make_ready(turn); });
  }
}

void Orchestra::end_turn() {
  const MutexLock lock(mutex_);
  --turns_;
  changed_.notify_all();
}

void Orchestra::wake() {
  const MutexLock lock(mutex_);
  changed_.notify_all();
}

std::shared_ptr<Orchestra::Domain> Orchestra::domain_of(const std::string& name) {
  const MutexLock lock(mutex_);
  if (domains_.size() >= domains_max_) forget_idle_domains();
  auto& domain = domains_[name];
  if (!domain) {
    domain = std::make_shared<Domain>();
    domain->name = name;
  }
  return domain;
}

// Whoever uses a domain has it from here, or from who has it: one that only this map has changes no more.
void Orchestra::forget_idle_domains() {
  std::erase_if(domains_, [](const auto& entry) { return entry.second.use_count() == 1 && entry.second->is_idle; });
  domains_max_ = std::max(kDomainsKept, domains_.size() * 2);
}

std::size_t Orchestra::domain_count() {
  const MutexLock lock(mutex_);
  return domains_.size();
}

void Orchestra::note(std::uint64_t OrchestratorTally::* what) {
  const MutexLock lock(mutex_);
  ++(tally_.*what);
}

void Orchestra::settle() {
  retries_.settle();
  keeper_.settle();
}

Orchestrator::Orchestrator(WorkLeases& work, OrchestratorOptions options) {
  static const SystemClock clock;
  orchestra_ = std::make_unique<Orchestra>(work, std::move(options), clock);
}
Orchestrator::~Orchestrator() = default;
OrchestratorTally Orchestrator::run(OrderedSource& source, const Handler& handler, std::stop_token stop) {
  return orchestra_->run(source, handler, stop);
}

}  // namespace tenure
