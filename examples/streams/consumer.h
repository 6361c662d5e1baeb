// What consumers of any log have in common: several processes share its domains by means of locks, each takes up a
// domain where the one before has left it, and the ledger they write to is told by a fence whose turn it is.
#pragma once

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <tenure/client.h>
#include <tenure/ordered.h>
#include <tenure/soft_lock.h>

namespace streams {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kPause = 200ms;  // between looks for something new
constexpr std::chrono::milliseconds kClaim = 5s;     // after which the domains of a process that died are free

// The domains that this process works on. It holds a lock for each, so no other process does.
class Claims {
 public:
  Claims(tenure::Authority& authority, std::vector<std::string> domains, std::stop_source& stop)
      : manager_(tenure::SoftLockManager::builder(authority.locks())
                     .lease_time(kClaim)
                     .on_expired([stop](const tenure::LockEvent& /*lost*/) mutable { stop.request_stop(); })
                     .build()),
        unclaimed_(std::move(domains)) {}
  ~Claims() {
    for (auto& lock : locks_) lock.unlock();
  }
  Claims(const Claims&) = delete;
  Claims& operator=(const Claims&) = delete;

  // Claims what nobody holds, now and then: a domain is free at first, and again when its process is gone. On the
  // thread that destroys this, since locks belong to threads.
  std::vector<std::string> claim() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_claim_) return {};
    next_claim_ = now + kPause;
    std::vector<std::string> claimed;
    std::erase_if(unclaimed_, [&](const std::string& domain) {
      auto lock = manager_.get_lock("streams", domain);
      if (!lock.try_lock()) return false;
      lock.keep_alive();
      const std::lock_guard guard(mutex_);
      fences_.emplace(domain, lock.fence().value());
      locks_.push_back(std::move(lock));
      claimed.push_back(domain);
      return true;
    });
    return claimed;
  }

  // Greater than those of all who held the domain before. On any thread.
  tenure::Fence fence(const std::string& domain) const {
    const std::lock_guard guard(mutex_);
    return fences_.at(domain);
  }

 private:
  tenure::SoftLockManager manager_;
  std::vector<std::string> unclaimed_;
  std::vector<tenure::SoftLock> locks_;
  std::chrono::steady_clock::time_point next_claim_;
  mutable std::mutex mutex_;
  std::map<std::string, tenure::Fence> fences_;
};

// Where to go on reading: nothing before it is to be done. The authority's journal knows, not the log.
inline tenure::Offset first_undone(tenure::WorkLeases& work, const std::string& domain, tenure::Offset first) {
  const auto status = work.inspect(domain);
  if (!status) return first;
  const auto begin = std::max(first, status->trimmed_below);
  const auto done = work.done(domain, {.count = 1}).intervals;
  return done.empty() || done[0].first > begin ? begin : tenure::Offset{std::max(begin.value, done[0].last.value + 1)};
}

// The ledger is whoever reads standard output; it refuses older fences than it has seen (tenure/fence_guard.h).
inline void book(const tenure::OrderedWork& work, tenure::Fence fence) {
  const std::string line = work.domain + " " + std::to_string(work.offset.value) + " " + std::to_string(fence.value) +
                           " " + work.payload + "\n";
  if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) throw std::runtime_error("the ledger is gone");
}

// Works until SIGTERM, or until a claim is lost: then others have taken over, and it is time to start afresh.
// `make_source` is given claims and work leases.
template <class MakeSource>
int consume(const std::string& tenured, const std::vector<std::string>& domains, const MakeSource& make_source) {
  sigset_t ending;
  ::sigemptyset(&ending);
  ::sigaddset(&ending, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &ending, nullptr);  // all threads: they are yet to be made
  std::stop_source stop;
  bool is_told = false;
  std::jthread listener([&](const std::stop_token& over) {
    const timespec pause{.tv_sec = 0, .tv_nsec = std::chrono::nanoseconds(kPause).count()};
    while (!over.stop_requested() && !is_told) is_told = ::sigtimedwait(&ending, nullptr, &pause) == SIGTERM;
    if (is_told) stop.request_stop();
  });
  try {
    const auto authority = tenure::Client::connect(tenured);
    Claims claims(*authority, domains, stop);
    const auto source = make_source(claims, authority->work());
    tenure::Orchestrator orchestrator(authority->work(), {.threads = 4});
    orchestrator.run(
        *source, [&](const tenure::OrderedWork& work) { book(work, claims.fence(work.domain)); }, stop.get_token());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  listener.request_stop();
  listener.join();
  return is_told ? 0 : 1;
}

}  // namespace streams
