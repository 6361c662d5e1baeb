// Does the work of somebody else's log: for each domain one offset at a time and in order, domains side by side.
//
//   tenure::Orchestrator orchestrator(authority->work(), {.threads = 8});
//   orchestrator.run(source, [](const tenure::OrderedWork& work) { book(work.domain, work.payload, work.fence); });
//
// The authority remembers what is done, what waits and what was given up, so the log may be read again from anywhere:
// no offset is done twice that was reported. One orchestrator for a domain: see docs/ordered-processing.md.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <tenure/export.h>
#include <tenure/types.h>
#include <tenure/work_lease.h>

namespace tenure {

struct OrderedItem {
  std::string domain;
  Offset offset;
  std::string payload;
};

// A log, as far as an orchestrator reads it.
class TENURE_API OrderedSource {
 public:
  OrderedSource() = default;
  OrderedSource(const OrderedSource&) = delete;
  OrderedSource& operator=(const OrderedSource&) = delete;
  virtual ~OrderedSource() = default;

  // The next item, in the log's order; nullopt: there are no more. May wait, until told to stop. On one thread.
  virtual std::optional<OrderedItem> next(const std::stop_token& stop) = 0;
  // The payload of an offset that an earlier run has left and that comes before all others of its domain. nullopt: it
  // cannot be had now, and the domain rests until next() brings it. On any thread.
  virtual std::optional<std::string> fetch(std::string_view domain, Offset offset);
  // The offset is processed or given up, now or by an earlier run; within a domain in the order that it was. Once more
  // if next() brings it after that. On any thread. Neither this nor fetch() may call the orchestrator.
  virtual void done(std::string_view domain, Offset offset, bool is_processed);
};

// The pause before the n-th retry doubles from `initial` to `longest`.
struct Backoff {
  Millis initial = std::chrono::seconds(1);
  Millis longest = std::chrono::minutes(5);
};
// Before the retry of this number; 1 is the first.
TENURE_API Millis pause_before(std::uint32_t retry, const Backoff& backoff);
// When an offset that was first acquired then, and has failed so often, is to be tried again: the same for whoever
// computes it, also after a restart. What the attempts themselves took is part of the pauses.
TENURE_API Instant retry_due(Instant acquired_at, std::uint32_t retry_count, const Backoff& backoff);

// What a handler is given.
struct OrderedWork {
  std::string domain;
  Offset offset;
  std::string payload;
  std::uint32_t attempt = 0;  // 1 is the first
  Fence fence;
  // With a lease time: asked to stop when the lease is, or may be, lost. Otherwise never.
  std::stop_token lost;
};

struct OrchestratorOptions {
  int threads = 4;
  std::size_t buffer = 10'000;  // items read and not done; a source that gives nothing else may exceed it
  // With one, a domain whose orchestrator vanished is free after that time, and leases are renewed while they are
  // worked on. Without, as the contract has it, it waits for an orchestrator that comes back.
  std::optional<Millis> lease{};
  Backoff backoff{};
  // Told what goes wrong and is tried again. Absent: standard error. On any thread.
  std::function<void(const std::string& line)> log{};
};

struct OrchestratorTally {
  std::uint64_t processed = 0;
  std::uint64_t retried = 0;
  std::uint64_t given_up = 0;
  std::uint64_t skipped = 0;  // done by an earlier run
  std::uint64_t lost = 0;     // leases that ended before their report
  std::uint64_t left = 0;     // items read and not done when the run ended
};

class Orchestra;

// Thread-safe. The work leases outlive it.
class TENURE_API Orchestrator {
 public:
  // An exception is a failure: the offset is tried again after a pause, before anything else of its domain, until the
  // authority gives it up.
  using Handler = std::function<void(const OrderedWork&)>;

  // Throws std::invalid_argument without threads, or with a lease outside 1 ms .. 24 h.
  explicit Orchestrator(WorkLeases& work, OrchestratorOptions options = {});
  // Nobody runs it any more.
  ~Orchestrator();
  Orchestrator(const Orchestrator&) = delete;
  Orchestrator& operator=(const Orchestrator&) = delete;

  // Works until the source has ended and all that can be done is, or until told to stop: then handlers under way are
  // finished and reported, and what waits for its turn or its retry is left to the next run. Once.
  OrchestratorTally run(OrderedSource& source, const Handler& handler, std::stop_token stop = {});

 private:
  std::unique_ptr<Orchestra> orchestra_;
};

}  // namespace tenure
