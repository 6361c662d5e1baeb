// What the authority's tests share: a world whose time, randomness and journal are in the test's hand, and boxes that
// keep what callbacks bring.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "authority/engine.h"
#include "base/bytes.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/entropy.h"
#include "core/record_codec.h"
#include "journal/memory_journal.h"

namespace tenure {

inline constexpr Instant kStart{1'000'000'000};
using Names = std::vector<std::string>;

// "OK", or the error's word on the wire.
template <class T>
std::string word(const Result<T>& result) {
  return result ? "OK" : std::string(to_string(result.error().code));
}

// The error's message; "OK" where there is none.
template <class T>
std::string why(const Result<T>& result) {
  return result ? "OK" : result.error().message;
}

// Keeps the answers that its callbacks are given. One thread; the callbacks may outlive it.
template <class Reply>
class Inbox {
 public:
  Callback<Reply> callback() {
    return [kept = kept_](Result<Reply> reply) { kept->push_back(std::move(reply)); };
  }
  [[nodiscard]] std::size_t size() const { return kept_->size(); }
  [[nodiscard]] bool answered() const { return !kept_->empty(); }
  // The one answer: there must be one, and no second.
  [[nodiscard]] const Result<Reply>& answer() const {
    TENURE_CHECK(size() == 1, "{} answers", size());
    return kept_->front();
  }
  // What the one answer says.
  [[nodiscard]] const Reply& reply() const {
    TENURE_CHECK(answer().has_value(), "{}", answer().error().message);
    return *answer();
  }

 private:
  std::shared_ptr<std::vector<Result<Reply>>> kept_ = std::make_shared<std::vector<Result<Reply>>>();
};

// A request that waits, or has waited.
template <class Reply>
struct Waiting : Inbox<Reply> {
  Ticket ticket = 0;
};
using LeaseWaiting = Waiting<std::vector<TaskLease>>;
using LockWaiting = Waiting<std::optional<LockGrant>>;
using TaskWaiting = Waiting<std::optional<TaskStatus>>;

inline LockAcquire acquire_by(std::string_view owner, std::string_view identifier = "1") {
  LockAcquire acquire;
  acquire.lock = {.domain = "d", .identifier = identifier};
  acquire.owner = owner;
  return acquire;
}
inline LockAcquire bound_acquire_by(std::string_view owner, std::string_view session,
                                    std::string_view identifier = "1") {
  LockAcquire acquire = acquire_by(owner, identifier);
  acquire.session = session;
  return acquire;
}
inline LockGiveBack release_of(std::string_view token, std::string_view identifier = "1") {
  LockGiveBack release;
  release.lock = {.domain = "d", .identifier = identifier};
  release.token = token;
  return release;
}
inline LockName lock_named(std::string_view identifier) { return {.domain = "d", .identifier = identifier}; }

// A journal that is durable only when asked to be, as a disk is, or when the test says so; counts what it is asked for.
// One thread.
class CountingJournal final : public Journal {
 public:
  enum Durable { kWhenAsked, kWhenTold };
  explicit CountingJournal(Durable durable = kWhenAsked) : when_(durable) {}

  Result<Done> start(std::uint64_t /*after*/, Visit /*visit*/) override { return Done{}; }
  [[nodiscard]] Result<Done> read(FrameRange /*range*/, Visit /*visit*/) const override { return Done{}; }
  void listen(Listener* listener) override { listener_ = listener; }
  std::uint64_t append(std::uint64_t /*epoch*/, Instant /*stamp*/, std::string_view /*payload*/) override {
    return ++appends;
  }
  [[nodiscard]] std::uint64_t durable() const override { return durable_; }
  void commit() override {
    ++commits;
    if (when_ == kWhenAsked) report(appends);
  }
  Result<Done> close() override { return Done{}; }
  [[nodiscard]] bool has_room() const override { return room; }
  void report(std::uint64_t sequence) {
    durable_ = sequence;
    listener_->on_durable(sequence);
  }

  std::uint64_t appends = 0;
  int commits = 0;
  bool room = true;

 private:
  const Durable when_;
  Listener* listener_ = nullptr;
  std::uint64_t durable_ = 0;
};

// An engine and all that it needs. Time stands still until it is moved. One thread, unless a test says otherwise.
struct World {
  explicit World(const Settings& with = {}) : settings(with) { start(); }

  Settings settings;
  std::unique_ptr<ManualClock> clock = std::make_unique<ManualClock>(kStart);
  SeededEntropy entropy{1};
  MemoryJournal journal{MemoryJournal::Keep::kFrames};
  std::unique_ptr<Engine> engine;

  void start() {
    auto started = Engine::start(settings, {*clock, entropy, journal});
    TENURE_CHECK(started.has_value(), "{}", started.error().message);
    engine = std::move(*started);
  }
  // A new engine on the same journal, at the wall clock's `at`.
  void restart(Instant at) {
    engine.reset();
    clock = std::make_unique<ManualClock>(at);
    start();
  }
  void restart() { restart(clock->wall()); }

  [[nodiscard]] Instant now() const { return engine->now(); }
  void advance(Millis by) const { clock->advance(by); }
  // Lets time pass, and does all that it asks for.
  Instant pass(Millis by) const {
    advance(by);
    Instant next = engine->run_due();
    while (next <= now()) next = engine->run_due();
    return next;
  }

  template <class Request>
  Result<ReplyOf<Request>> ask(const Request& request) {
    Inbox<ReplyOf<Request>> inbox;
    engine->ask(request, inbox.callback());
    return inbox.answer();
  }
  // What the answer says; it must not be an error.
  template <class Request>
  ReplyOf<Request> get(const Request& request) {
    auto reply = ask(request);
    TENURE_CHECK(reply.has_value(), "{}", reply.error().message);
    return std::move(*reply);
  }
  template <class Request>
  Waiting<ReplyOf<Request>> wait(const Request& request, Millis block) {
    Waiting<ReplyOf<Request>> waiting;
    waiting.ticket = engine->wait(request, block, waiting.callback());
    return waiting;
  }

  // --- the shortest words for what tests do most ---
  std::string submit(std::string_view queue, std::string_view payload = "p") {
    return get(Submission{.queue = queue, .payload = payload}).task_id;
  }
  std::vector<TaskLease> lease(std::string_view worker, std::vector<std::string_view> queues, std::int64_t count = 1) {
    return get(LeaseRequest{.worker = worker, .queues = std::move(queues), .count = count});
  }
  LeaseWaiting wait_for_task(std::string_view worker, std::vector<std::string_view> queues,
                             Millis block = std::chrono::minutes(1)) {
    return wait(LeaseRequest{.worker = worker, .queues = std::move(queues)}, block);
  }
  LockWaiting wait_for_lock(std::string_view owner, std::string_view identifier = "1",
                            Millis block = std::chrono::minutes(1)) {
    return wait(acquire_by(owner, identifier), block);
  }
  LockGrant acquire(std::string_view owner, std::string_view identifier = "1") {
    return get(acquire_by(owner, identifier)).value();
  }
  Result<std::uint32_t> release(const LockGrant& grant, std::string_view identifier = "1") {
    return ask(release_of(grant.token, identifier));
  }
  [[nodiscard]] bool is_held(std::string_view identifier = "1") {
    return get(GetLock{lock_named(identifier)}).has_value();
  }
  [[nodiscard]] TaskState state_of(std::string_view task_id) { return get(GetTask{task_id}).value().state; }

  // --- the journal ---
  // The records' names of every frame after the first `skip`.
  [[nodiscard]] std::vector<Names> frames(std::uint64_t skip = 0) const {
    std::vector<Names> frames;
    static_cast<void>(journal.read({.after = skip}, [&](const Frame& frame) -> Result<Done> {
      frames.push_back(names_in(frame.payload));
      return Done{};
    }));
    return frames;
  }
  [[nodiscard]] std::uint64_t frame_count() const { return frames().size(); }
  // All records' names after the first `skip` frames, one behind the other.
  [[nodiscard]] Names records(std::uint64_t skip = 0) const {
    Names names;
    for (const Names& frame : frames(skip)) names.insert(names.end(), frame.begin(), frame.end());
    return names;
  }
  [[nodiscard]] Digest digest() const {
    return engine->inspect([](const State& state) { return state.digest(); });
  }

  static Names names_in(std::string_view payload) {
    Names names;
    ByteReader in(payload);
    while (!in.at_end()) {
      const auto record = decode(in);
      TENURE_CHECK(record.has_value(), "{}", record.error().message);
      names.emplace_back(name_of(*record));
    }
    return names;
  }
};

}  // namespace tenure
