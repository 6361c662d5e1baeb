#include "cli/live_demo.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <tenure/authority.h>
#include "base/dice.h"

namespace tenure::cli {
namespace {

using namespace std::chrono_literals;

// Before a server is asked again that did not answer.
constexpr Millis kSettle = 1s;

// Says when the server does not answer any more, and when it does again. Any thread.
class Contact {
 public:
  explicit Contact(const Errand& errand) : errand_(errand) {}

  void lost(const Error& error) {
    if (is_lost_.exchange(true)) return;
    tell(fmt::format("does not answer: {}. This goes on when it does", error.what()));
  }
  void made() {
    if (is_lost_ && is_lost_.exchange(false)) tell("answers again");
  }

 private:
  void tell(std::string_view what) {
    const std::lock_guard lock(mutex_);
    errand_.desk.err << fmt::format("tenure: {} {}\n", errand_.place, what) << std::flush;
  }

  const Errand& errand_;
  std::atomic<bool> is_lost_ = false;
  std::mutex mutex_;
};

// One of those who keep the server busy, on a thread of its own. One thread.
class Actor {
 public:
  Actor(const Errand& errand, Contact& contact, const LiveDemoOptions& options, std::stop_token stop)
      : authority_(errand.authority),
        contact_(contact),
        options_(options),
        dice_(errand.desk.entropy.next()),
        stop_(std::move(stop)) {}

  Tasks& tasks() { return authority_.tasks(); }
  WorkLeases& work() { return authority_.work(); }
  Locks& locks() { return authority_.locks(); }
  Dice& dice() { return dice_; }
  [[nodiscard]] const std::stop_token& stop() const { return stop_; }
  [[nodiscard]] bool is_over() const { return stop_.stop_requested(); }

  // Sleeps, or ends with the demo.
  void rest(Millis time) {
    std::unique_lock lock(mutex_);
    never_.wait_for(lock, stop_, time, [] { return false; });
  }
  // The same for what is shorter where it is busier.
  void pause(std::int64_t low_ms, std::int64_t high_ms) {
    rest(Millis{static_cast<std::int64_t>(static_cast<double>(dice_.between(low_ms, high_ms)) / options_.pace)});
  }

  // Does it until the demo is over. What is refused or lost is part of the play.
  void repeat(const std::function<void(Actor&)>& scene) {
    while (!is_over()) {
      try {
        scene(*this);
        contact_.made();
      } catch (const Unavailable& error) {
        if (!is_over()) contact_.lost(error);
        rest(kSettle);
      } catch (const Error&) {
        contact_.made();
        rest(kSettle);
      }
    }
  }

 private:
  Authority& authority_;
  Contact& contact_;
  const LiveDemoOptions& options_;
  Dice dice_;
  const std::stop_token stop_;
  std::mutex mutex_;
  std::condition_variable_any never_;
};

// --- tasks ---

const std::vector<std::string>& reasons() {
  static const std::vector<std::string> all = {"450 mailbox busy", "connection refused by ledger", "out of colour",
                                               "timeout after 2 s", "the customer has moved"};
  return all;
}

void submit_one(Actor& actor) {
  static const std::vector<std::string> queues = {"demo-mail",   "demo-mail",     "demo-mail",   "demo-images",
                                                  "demo-images", "demo-invoices", "demo-reports"};
  const std::string& queue = actor.dice().pick(queues);
  const std::string payload = fmt::format("{} for customer {}", queue, actor.dice().between(1000, 9999));
  const std::string key = fmt::format("customer-{}", actor.dice().roll(20));
  Submission task{.queue = queue, .payload = payload, .priority = actor.dice().one_in(10) ? 9 : 4};
  if (queue == "demo-invoices") task.key = key;
  if (actor.dice().one_in(12)) task.delay = Millis{actor.dice().between(1000, 8000)};
  task.attempts = 5;
  actor.tasks().submit(task);
  actor.pause(40, 260);
}

// As long as the lease is kept alive it does not end.
void do_job(Actor& actor, const TaskLease& lease, Millis length) {
  for (Millis done{0}; done < length && !actor.is_over(); done += 1s) {
    actor.rest(std::min(length - done, Millis{1s}));
    if (length > 2s) actor.tasks().extend({.task_id = lease.task_id, .lease_id = lease.lease_id});
  }
}

void work_once(Actor& actor, const std::string& name) {
  constexpr Millis kLease = 4s;
  const auto leases = actor.tasks().lease(
      {.worker = name, .queues = {"demo-mail", "demo-invoices", "demo-images", "demo-reports"}, .lease = kLease}, 2s,
      actor.stop());
  for (const TaskLease& lease : leases) {
    const auto chance = actor.dice().roll(100);
    if (chance < 4) {
      // It stalls: time takes the task back, somebody else does it, and what it reports in the end is refused.
      actor.rest(kLease + Millis{actor.dice().between(1000, 4000)});
    } else {
      do_job(actor, lease, Millis{chance < 15 ? actor.dice().between(3000, 7000) : actor.dice().between(50, 900)});
    }
    if (chance >= 4 && chance < 14) {
      const bool is_final = actor.dice().one_in(4);
      actor.tasks().fail({.task_id = lease.task_id,
                          .lease_id = lease.lease_id,
                          .reason = actor.dice().pick(reasons()),
                          .final = is_final});
    } else if (chance != 99) {  // one in a hundred dies without a word
      actor.tasks().complete({.task_id = lease.task_id, .lease_id = lease.lease_id, .result = "done"});
    }
  }
}

// Somebody stops the reports now and then, and lets them go on.
void supervise(Actor& actor) {
  actor.rest(20s);
  actor.tasks().pause("demo-reports");
  actor.rest(6s);
  actor.tasks().resume("demo-reports");
}

// --- ordered work ---

// Reads a log whose entries belong to accounts: what comes while an account is busy stands in its backlog.
class LogReader {
 public:
  void read_one(Actor& actor) {
    const std::string domain = fmt::format("demo-account-{}", std::min(actor.dice().roll(8), actor.dice().roll(8)) + 1);
    Account& account = accounts_[domain];
    if (!account.is_known) look_up(actor, domain, account);
    // Where nothing is in flight the backlog's head comes first.
    if (account.token.empty()) take_head(actor, domain, account);
    take(actor, domain, Offset{account.next}, account);
    ++account.next;
    if (actor.dice().one_in(3)) finish(actor, domain, account);
    actor.pause(60, 300);
  }

 private:
  struct Account {
    std::int64_t next = 1;
    std::string token{};
    bool is_known = false;
  };

  // What an earlier demo has left behind.
  static void look_up(Actor& actor, const std::string& domain, Account& account) {
    account.is_known = true;
    std::string cursor = "0";
    do {
      const auto page = actor.work().done(domain, {.count = 1000, .cursor = cursor});
      if (!page.intervals.empty()) account.next = std::max(account.next, page.intervals.back().last.value + 1);
      cursor = page.cursor;
    } while (cursor != "0");
  }

  static void take(Actor& actor, const std::string& domain, Offset offset, Account& account) {
    const auto got = actor.work().try_acquire({.domain = domain, .offset = offset, .lease = 20s});
    if (const auto* lease = std::get_if<Acquired>(&got)) account.token = lease->token;
  }

  static void take_head(Actor& actor, const std::string& domain, Account& account) {
    const auto status = actor.work().inspect(domain);
    if (status && status->backlog_head) take(actor, domain, *status->backlog_head, account);
  }

  // Until the backlog is short again.
  static void finish(Actor& actor, const std::string& domain, Account& account) {
    while (!account.token.empty() && !actor.is_over()) {
      actor.pause(20, 120);
      const std::string token = std::exchange(account.token, "");
      std::optional<Offset> next;
      if (actor.dice().one_in(15)) {
        const auto failed =
            actor.work().fail({.domain = domain, .token = token, .reason = actor.dice().pick(reasons())});
        if (std::holds_alternative<RetryScheduled>(failed)) {
          account.token = token;
          continue;
        }
        next = std::get<GivenUp>(failed).next;
      } else {
        next = actor.work().succeed({.domain = domain, .token = token}).next;
      }
      if (!next) return;
      take(actor, domain, *next, account);
      if (actor.dice().one_in(4)) return;
    }
  }

  std::map<std::string, Account> accounts_;
};

// --- locks ---

void hold_a_lock(Actor& actor, const std::string& owner) {
  const std::string identifier = fmt::format("{}", 12340 + std::min(actor.dice().roll(10), actor.dice().roll(10)));
  const LockName lock{.domain = actor.dice().one_in(3) ? "demo-stock" : "demo-orders", .identifier = identifier};
  const Millis lease{actor.dice().between(4000, 12'000)};
  const auto grant = actor.locks().acquire({.lock = lock, .owner = owner, .lease = lease}, 5s, actor.stop());
  if (!grant) return;
  actor.rest(Millis{actor.dice().between(300, 3500)});
  // One in twelve forgets it, and time frees it.
  if (!actor.dice().one_in(12)) actor.locks().release({.lock = lock, .token = grant->token});
  actor.pause(100, 900);
}

using Scene = std::function<void(Actor&)>;

std::vector<Scene> all_scenes(double pace) {
  std::vector<Scene> scenes = {submit_one, supervise};
  for (int i = 1; i < pace; i += 4) scenes.emplace_back(submit_one);
  const int workers = std::min(8 + static_cast<int>(pace), 64);
  for (int i = 1; i <= workers; ++i) {
    scenes.emplace_back([name = fmt::format("worker-{}", i)](Actor& actor) { work_once(actor, name); });
  }
  scenes.emplace_back([reader = std::make_shared<LogReader>()](Actor& actor) { reader->read_one(actor); });
  for (int i = 1; i <= 7; ++i) {
    scenes.emplace_back([owner = fmt::format("checkout-{}", i)](Actor& actor) { hold_a_lock(actor, owner); });
  }
  return scenes;
}

}  // namespace

int run_live_demo(const Errand& errand, const Signals& signals, const LiveDemoOptions& options) {
  errand.print("tenure: {} is busy now, until this is interrupted (Ctrl-C). Its console shows what happens.\n",
               errand.place);
  errand.desk.out << std::flush;
  StopOnSignal interrupted(signals);
  std::stop_source over;
  const std::stop_callback passed_on(interrupted.token(), [&] { over.request_stop(); });
  Contact contact(errand);
  std::vector<std::jthread> threads;
  for (const Scene& scene : all_scenes(options.pace)) {
    auto actor = std::make_unique<Actor>(errand, contact, options, over.get_token());
    threads.emplace_back([actor = std::move(actor), scene] { actor->repeat(scene); });
  }
  if (options.time > Millis{0}) {
    Actor(errand, contact, options, over.get_token()).rest(options.time);
    over.request_stop();
  }
  threads.clear();  // waits for them
  return kDone;
}

}  // namespace tenure::cli
