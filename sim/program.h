// A program that uses the client library: the library's own lines, deadlines and decisions on a simulated network and a
// clock of its own, in one thread. What the library does on threads (switchboard.h, lock_desk.h, workshop.h) is played
// here; what it decides is asked of the same code.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <absl/functional/any_invocable.h>

#include "cable.h"
#include "caller.h"
#include "client/call.h"
#include "client/line.h"
#include "client/local_lease.h"
#include "client/lock_errands.h"
#include "machine_clock.h"
#include "wire/requests.h"

namespace tenure::sim {

// One thread.
class Program final : public Caller, private client::Line::Exchange {
 public:
  Program(std::string name, Ports ports, std::uint64_t seed);

 private:
  // A lock, a task or an offset, and until when it may be counted on.
  enum class Kind : std::uint8_t { kLock, kTask, kWork };
  struct Hold {
    Kind kind;
    std::string name;  // of the lock, task or domain
    std::string token;
    Millis lease;
    Millis deadline;
    Beliefs::Number belief = 0;
    std::uint32_t count = 1;  // of a lock that was re-entered
    bool is_lost = false;
  };
  using HoldNumber = std::uint64_t;
  // A request that grants something, from its first try on.
  struct Attempt {
    CallLaw::Number call;
    std::string name;  // of the lock or domain; of a task not known yet
    Millis lease;
    Millis sent;  // before the first try
    Beliefs::Basis basis;
    Millis wait_until{0};
    std::string request_id{};
    std::string who{};  // the owner or worker
    std::vector<std::string> queues{};
    Offset offset{};
  };
  // What came of it.
  struct Granted {
    std::string name;
    std::string token;
    Millis remaining;
  };

  void act() override;
  void forget() override;

  // --- program.cc: the library's loop ---
  using Errand = absl::AnyInvocable<void()>;
  Result<std::unique_ptr<client::Stream>> dial() override;
  [[nodiscard]] std::string address() const override { return address_; }
  void move_to(const std::string& address) override;
  void move_on() override;
  [[nodiscard]] Millis connect_timeout() const override { return Millis{200}; }
  Millis backoff(int failures) override;
  client::Line::Exchange& exchange() { return *this; }
  template <class Use>
  void for_each_line(const Use& use);
  void on_ready(int descriptor);
  void drive();
  void plan_wake();
  void put(std::shared_ptr<client::Call> call, bool has_own_line);
  void end_some_wait();
  // Asks, under this call's number. then(const Result<Reply>&, bool is_repeated) is told the answer.
  template <class R, class Then>
  void send(CallLaw::Number call, const R& request, Then then, Millis block = Millis{0});
  void note_answer(CallLaw::Number call, const client::Answer& answer);
  CallLaw::Number begin_call() { return ports_.checker.calls().begin(process()); }
  // One life of it.
  [[nodiscard]] std::string process() const { return fmt::format("{}.{}", name_, life()); }
  [[nodiscard]] Millis now() const { return clock_.boot(); }

  // --- program_holds.cc: what it holds ---
  [[nodiscard]] Attempt begin_attempt(std::string name, Millis lease);
  // Decides what a grant is good for: `count_anew` asks the same once more, and tells what it is told.
  // Absent where it cannot be asked about; kEnded: it is not held any more.
  enum class Count : std::uint8_t { kSame, kUnknown, kEnded };
  using Counted = absl::AnyInvocable<void(Count count, const Granted& same)>;
  using CountAnew = absl::AnyInvocable<void(Counted)>;
  void take(Kind kind, const Attempt& attempt, const Granted& granted, CountAnew count_anew);
  void enter(Kind kind, const Attempt& attempt, const Granted& granted, Millis deadline, Beliefs::Basis basis);
  [[nodiscard]] HoldNumber find(Kind kind, const std::string& name, const std::string& token) const;
  [[nodiscard]] HoldNumber pick(Kind kind);
  void watch(HoldNumber number);
  void lose(HoldNumber number);
  void renew(HoldNumber number, bool is_kept_alive);
  void renewed(HoldNumber number, const Asked& asked, std::optional<Millis> remaining, Beliefs::Basis basis);
  void drop(HoldNumber number);

  // --- program_calls.cc: what it asks for ---
  void lock();
  void try_lock(Attempt attempt, bool waits);
  // They borrow the texts of the attempt.
  static wire::AcquireLock request_for_lock(const Attempt& attempt);
  static wire::LeaseTasks request_for_task(const Attempt& attempt);
  void count_lock_anew(const Attempt& attempt, Counted counted);
  void count_lease_anew(const Attempt& attempt, Counted counted);
  void release(const std::string& lock, const std::string& token);
  void release_one();
  void force();
  void go_on(CallLaw::Number call, const std::shared_ptr<std::string>& lock,
             const std::shared_ptr<client::ForceErrand>& errand);
  void submit();
  void lease();
  void report_task();
  template <class R>
  void insist(CallLaw::Number call, const R& request, std::shared_ptr<Texts> texts, HoldNumber number);
  void kill();
  void acquire_offset();
  void report_offset();

  CallerClock clock_;
  std::string address_;  // of the server that is asked
  std::unique_ptr<client::Line> shared_;
  std::vector<std::unique_ptr<client::Line>> own_;
  std::vector<Errand> errands_;
  std::vector<std::weak_ptr<client::Call>> waits_;
  bool is_driving_ = false;
  std::uint64_t wakes_ = 0;  // the latest that was planned counts
  Millis wake_at_{client::Line::kNotDue};

  std::map<HoldNumber, Hold> holds_;
  HoldNumber numbers_ = 0;
  std::map<std::string, std::int64_t> next_;  // offset, by domain
  std::set<std::string> forcing_;             // locks, until it is known what came of it
};

}  // namespace tenure::sim
