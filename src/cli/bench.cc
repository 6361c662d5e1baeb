#include "cli/bench.h"

#include <atomic>
#include <poll.h>
#include <thread>
#include <unistd.h>

#include "base/mutex.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "cli/columns.h"
#include "cli/quantity.h"

namespace tenure::cli {
namespace {

constexpr Millis kProgressEvery = std::chrono::milliseconds(100);
constexpr std::size_t kProgressWidth = 30;

// Threads that ask and wait for the answer, again and again. Thread-safe.
class Load {
 public:
  Load(const Errand& errand, const BenchOptions& options)
      : errand_(errand),
        options_(options),
        name_("bench-" + hex16(errand.desk.entropy.next())),
        payload_(options.payload_bytes, 'x') {}

  void start() {
    for (int i = 0; i < options_.threads; ++i) {
      threads_.emplace_back([this, i] { run(i); });
    }
  }
  void finish() {
    is_over_ = true;
    for (auto& thread : threads_) thread.join();
  }
  [[nodiscard]] std::uint64_t asked() const { return asked_.load(); }
  [[nodiscard]] bool has_failed() const { return has_failed_.load(); }
  // Once finished.
  [[nodiscard]] Latencies latencies() TENURE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return all_;
  }
  void rethrow() TENURE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void run(int number) {
    Latencies own;
    try {
      while (!is_over_) {
        if (options_.what == "locks") {
          lock_once(number, own);
        } else {
          do_task(number, own);
        }
      }
    } catch (...) {
      const MutexLock lock(mutex_);
      if (!error_) error_ = std::current_exception();
      has_failed_ = true;
    }
    const MutexLock lock(mutex_);
    all_.add(own);
  }

  template <class Ask>
  auto timed(Latencies& own, const Ask& ask) {
    const Stopwatch watch;
    auto answer = ask();
    own.add(watch.seconds());
    ++asked_;
    return answer;
  }

  void do_task(int number, Latencies& own) {
    Tasks& tasks = errand_.authority.tasks();
    const std::string worker = fmt::format("{}-{}", name_, number);
    timed(own, [&] { return tasks.submit({.queue = name_, .payload = payload_}); });
    const auto leases = timed(own, [&] { return tasks.lease({.worker = worker, .queues = {name_}}); });
    for (const TaskLease& lease : leases) {
      timed(own, [&] { return tasks.complete({.task_id = lease.task_id, .lease_id = lease.lease_id}); });
    }
  }

  void lock_once(int number, Latencies& own) {
    Locks& locks = errand_.authority.locks();
    const std::string identifier = std::to_string(number);
    const LockName lock{.domain = name_, .identifier = identifier};
    const auto grant = timed(own, [&] { return locks.acquire({.lock = lock, .owner = identifier}); });
    if (grant) timed(own, [&] { return locks.release({.lock = lock, .token = grant->token}); });
  }

  const Errand& errand_;
  const BenchOptions& options_;
  const std::string name_;
  const std::string payload_;
  std::atomic<bool> is_over_{false};
  std::atomic<bool> has_failed_{false};
  std::atomic<std::uint64_t> asked_{0};
  Mutex mutex_;
  Latencies all_ TENURE_GUARDED_BY(mutex_);
  std::exception_ptr error_ TENURE_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

// Until the time is over, a signal comes, or a thread has failed; the seconds it took.
double await_load(const Errand& errand, Signals& signals, const Load& load, Millis time) {
  const Stopwatch watch;
  const double all = static_cast<double>(time.count()) / 1000;
  const bool shows = ::isatty(STDERR_FILENO) != 0;
  pollfd watched{.fd = signals.descriptor(), .events = POLLIN, .revents = 0};
  while (watch.seconds() < all && !load.has_failed()) {
    if (::poll(&watched, 1, static_cast<int>(kProgressEvery.count())) > 0) break;
    if (!shows) continue;
    errand.desk.err << fmt::format("\r{}  {} answers, {}/s\x1b[K", progress_bar(watch.seconds() / all, kProgressWidth),
                                   amount_text(static_cast<double>(load.asked())),
                                   amount_text(static_cast<double>(load.asked()) / watch.seconds()))
                    << std::flush;
  }
  if (shows) errand.desk.err << "\r\x1b[K" << std::flush;
  return watch.seconds();
}

void print_figures(const Errand& errand, const BenchOptions& options, const Latencies& found, double seconds) {
  const double rate = static_cast<double>(found.count()) / seconds;
  if (errand.json) {
    std::string text;
    wire::JsonWriter out(text);
    out.begin_object();
    out.field("what", options.what);
    out.field("threads", options.threads);
    out.field("seconds", seconds);
    out.field("answers", found.count());
    out.field("answers_per_second", rate);
    out.field("mean_ms", found.mean_ms());
    out.field("p50_ms", found.quantile_ms(0.5));
    out.field("p90_ms", found.quantile_ms(0.9));
    out.field("p99_ms", found.quantile_ms(0.99));
    out.field("p999_ms", found.quantile_ms(0.999));
    out.field("max_ms", found.max_ms());
    out.end_object();
    errand.desk.out << text << '\n';
    return;
  }
  errand.desk.out << fields_text(
      {{"load", fmt::format("{} on {}, {} threads, {:.1f} s", options.what, errand.place, options.threads, seconds)},
       {"answers", fmt::format("{}, {} a second", found.count(), amount_text(rate))},
       {"latency", fmt::format("mean {:.3f} ms, p50 {:.3f}, p90 {:.3f}, p99 {:.3f}, p99.9 {:.3f}, max {:.3f}",
                               found.mean_ms(), found.quantile_ms(0.5), found.quantile_ms(0.9), found.quantile_ms(0.99),
                               found.quantile_ms(0.999), found.max_ms())}});
  errand.desk.out << '\n' << found.drawn(static_cast<std::size_t>(std::clamp(errand.width - 30, 10, 60)));
}

}  // namespace

int run_bench(const Errand& errand, Signals& signals, const BenchOptions& options) {
  Load load(errand, options);
  load.start();
  const double seconds = await_load(errand, signals, load, options.time);
  load.finish();
  load.rethrow();
  print_figures(errand, options, load.latencies(), seconds);
  return kDone;
}

}  // namespace tenure::cli
