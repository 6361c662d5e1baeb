// What the client's tests share: soft locks on simulated time, and backends that fail as asked.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tenure/soft_lock.h>
#include "authority/faces.h"
#include "authority/testing.h"
#include "base/entropy.h"
#include "base/mutex.h"
#include "client/lock_desk.h"
#include "client/served_world.h"
#include "client/session_keeper.h"

namespace tenure {

// Runs it on a thread of its own and waits for its end.
template <class Work>
auto elsewhere(const Work& work) {
  decltype(work()) answer{};
  std::thread([&] { answer = work(); }).join();
  return answer;
}

// Returns once it is so; a hang is ended by the test's time limit.
template <class Condition>
void await(const Condition& condition) {
  while (!condition()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// An authority that may be cut off: then every call is Unavailable, and what was asked may have happened.
class ShakyLocks : public Locks {
 public:
  explicit ShakyLocks(Locks& locks) : locks_(locks) {}

  std::optional<LockGrant> acquire(const LockRequest& request, Millis wait, std::stop_token stop) override {
    ++acquires;
    fail_if_cut(request.lock);
    if (endings > 0) {
      --endings;
      throw LockExpired(ErrorCode::kExpired, "its lease has ended", std::string(request.lock.domain),
                        std::string(request.lock.identifier));
    }
    return locks_.acquire(request, wait, std::move(stop));
  }
  std::uint32_t release(const LockRelease& request) override {
    fail_if_cut(request.lock);
    return locks_.release(request);
  }
  bool force(const LockName& lock, std::optional<Fence> fence) override { return locks_.force(lock, fence); }
  bool is_locked(const LockName& lock) override { return locks_.is_locked(lock); }
  LockExtended extend(const LockExtension& request) override {
    ++extensions;
    fail_if_cut(request.lock);
    return locks_.extend(request);
  }
  std::optional<LockStatus> get(const LockName& lock) override { return locks_.get(lock); }
  LockPage list(const LockListing& request) override { return locks_.list(request); }

  std::atomic<bool> is_cut{false};
  std::atomic<int> acquires{0};
  std::atomic<int> endings{0};  // so many acquisitions were granted, unheard, and have ended
  std::atomic<int> extensions{0};

 private:
  void fail_if_cut(const LockName& lock) const {
    if (!is_cut) return;
    throw LockAcquisitionError(ErrorCode::kUnavailable, "cut off", std::string(lock.domain),
                               std::string(lock.identifier));
  }
  Locks& locks_;
};

// The same of a client, which keeps a session for its locks.
class ShakyClientLocks final : public ShakyLocks, public SessionKeeper {
 public:
  explicit ShakyClientLocks(Locks& locks) : ShakyLocks(locks), keeper_(dynamic_cast<SessionKeeper&>(locks)) {}
  std::string own_session(Millis grace) override { return keeper_.own_session(grace); }
  std::unique_ptr<Subscription> watch(std::string_view session, std::function<void()> lost) override {
    return keeper_.watch(session, std::move(lost));
  }

 private:
  SessionKeeper& keeper_;
};

// A medium that knows neither fences nor request ids nor extension.
class PlainLocks final : public LockBackend {
 public:
  explicit PlainLocks(Locks& locks) : locks_(locks) {}

  std::optional<LockGrant> acquire(const LockRequest& request, Millis wait, std::stop_token stop) override {
    LockRequest plain = request;
    plain.request_id.reset();
    auto grant = locks_.acquire(plain, wait, std::move(stop));
    if (grant) grant->fence.reset();
    return grant;
  }
  std::uint32_t release(const LockRelease& request) override { return locks_.release(request); }
  bool force(const LockName& lock, std::optional<Fence> fence) override { return locks_.force(lock, fence); }
  bool is_locked(const LockName& lock) override { return locks_.is_locked(lock); }

 private:
  Locks& locks_;
};

// Adds up what it is told, as "name{domain,result}". Thread-safe.
class TallyRegistry final : public MetricsRegistry {
 public:
  void count(std::string_view counter, const Labels& labels) override { add(counter, labels, 1); }
  void observe(std::string_view histogram, const Labels& labels, double seconds) override {
    add(std::string(histogram) + "_count", labels, 1);
    add(std::string(histogram) + "_sum", labels, seconds);
  }
  void move(std::string_view gauge, const Labels& labels, double by) override { add(gauge, labels, by); }

  double operator[](const std::string& series) {
    const MutexLock lock(mutex_);
    return sums_[series];
  }
  std::size_t size() {
    const MutexLock lock(mutex_);
    return sums_.size();
  }

 private:
  void add(std::string_view name, const Labels& labels, double by) {
    const std::string with = labels.result.empty() ? "" : "," + std::string(labels.result);
    const MutexLock lock(mutex_);
    sums_[std::string(name) + "{" + std::string(labels.domain) + with + "}"] += by;
  }
  Mutex mutex_;
  std::map<std::string, double> sums_ TENURE_GUARDED_BY(mutex_);
};

// Where the authority is: in the process, or behind a server.
enum class Where : std::uint8_t { kEmbedded, kClient };

// Soft locks over an authority whose time is in the test's hand.
class SoftLockTest : public ::testing::TestWithParam<Where> {
 public:
  static constexpr Millis kLease{5000};

 protected:
  static SoftLockSettings settings() {
    return {.lease = kLease, .log = [](const std::string&) {}};
  }
  SoftLockManager manager_of(SoftLockSettings with) { return manager_over(locks, std::move(with)); }
  // Its clock is the authority's.
  SoftLockManager manager_over(LockBackend& backend, SoftLockSettings with) {
    desks.push_back(
        std::make_shared<LockDesk>(backend, std::move(with), *world.clock, LockClient::of(backend, entropy)));
    return SoftLockManager(desks.back());
  }
  // The authority as another process sees it.
  Locks& another_client() {
    if (GetParam() == Where::kEmbedded) return *faces.emplace_back(std::make_unique<LockFace>(*world.engine));
    return clients.emplace_back(server.connect())->locks();
  }
  void join(std::string_view session) {
    if (GetParam() == Where::kEmbedded) {
      ASSERT_TRUE(world.engine->join(session, std::nullopt));
    } else {
      clients.front()->join(session);
    }
  }
  void leave(std::string_view session) {
    if (GetParam() == Where::kEmbedded) {
      ASSERT_TRUE(world.engine->leave(session));
    } else {
      clients.front()->leave(session);
    }
  }
  // Lets time pass for the authority and for holders.
  void pass(Millis time) {
    world.advance(time);
    for (const auto& desk : desks) desk->settle();
    server.run_due();
  }
  [[nodiscard]] std::uint64_t waiters(const std::string& domain, const std::string& identifier) {
    const auto status = authority.get({.domain = domain, .identifier = identifier});
    return status ? status->waiters : 0;
  }

 private:
  std::unique_ptr<ShakyLocks> make_shaky() {
    if (GetParam() == Where::kEmbedded) return std::make_unique<ShakyLocks>(authority);
    return std::make_unique<ShakyClientLocks>(authority);
  }

 protected:
  World world;
  client::ServedWorld server{world};  // nobody is there, where it is not wanted
  SeededEntropy entropy{7};
  std::vector<std::unique_ptr<LockFace>> faces;
  std::vector<std::unique_ptr<Client>> clients;
  Locks& authority = another_client();
  const std::unique_ptr<ShakyLocks> shaky = make_shaky();
  ShakyLocks& locks = *shaky;
  std::vector<std::shared_ptr<LockDesk>> desks;
  SoftLockManager manager = manager_of(settings());
};

}  // namespace tenure
