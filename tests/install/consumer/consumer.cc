// consumer FOLDER ADDRESS
//
// Uses every part of the installed library: on an authority in this process, in the folder, and as a client of the
// server at the address.
#include <atomic>
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <tenure/authority.h>
#include <tenure/client.h>
#include <tenure/fence_guard.h>
#include <tenure/ordered.h>
#include <tenure/soft_lock.h>
#include <tenure/version.h>
#include <tenure/worker.h>

namespace {

using namespace std::chrono_literals;

void expect(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(std::string("expected ") + what);
}

// Throws if `call` does not throw that.
template <class Expected, class Call>
void expect_throw(const Call& call, const char* what) {
  try {
    call();
  } catch (const Expected&) {
    return;
  }
  expect(false, what);
}

// A log of this many items of one domain.
class Numbers : public tenure::OrderedSource {
 public:
  explicit Numbers(std::int64_t count) : count_(count) {}

  std::optional<tenure::OrderedItem> next(const std::stop_token& /*stop*/) override {
    if (next_ > count_) return std::nullopt;
    const tenure::Offset offset{next_++};
    return tenure::OrderedItem{.domain = "numbers", .offset = offset, .payload = std::to_string(offset.value)};
  }

 private:
  std::int64_t count_;
  std::int64_t next_ = 1;
};

void use_a_lock(tenure::Authority& authority, tenure::FenceGuard& guard) {
  auto manager = tenure::SoftLockManager::builder(authority.locks()).lease_time(30s).build();
  auto lock = manager.get_lock("orders", "12345");
  int written = 0;
  {
    const std::unique_lock held(lock);
    expect(lock.is_held_by_current_thread(), "the lock to be held");
    expect(guard.write("order 12345", lock.fence().value(), [&] { ++written; }), "the fence to be admitted");
    expect(manager.list("orders").size() == 1, "one lock to be listed");
  }
  expect(written == 1 && !lock.is_locked(), "one write, and a free lock");
  expect_throw<tenure::NotHeld>([&] { lock.release(); }, "NotHeld");
  expect_throw<tenure::InvalidLockKey>([&] { static_cast<void>(manager.get_lock("", "x")); }, "InvalidLockKey");
}

void do_a_task(tenure::Authority& authority) {
  tenure::Tasks& tasks = authority.tasks();
  const std::string id = tasks.submit({.queue = "mail", .payload = "dear reader"}).task_id;
  tenure::Worker worker(tasks, {.name = "w1", .queues = {"mail"}});
  std::thread working([&] { worker.run([](const tenure::Job& job) { return tenure::Outcome::done(job.payload); }); });
  const auto done = tasks.wait(id, 1min);
  worker.stop();
  working.join();
  expect(done && to_string(done->state) == "COMPLETED", "a completed task");
  expect(done->result == "dear reader", "its result");
  expect_throw<tenure::NoSuchTask>([&] { tasks.kill({.task_id = "nobody's", .reason = "none"}); }, "NoSuchTask");
}

void work_in_order(tenure::Authority& authority) {
  Numbers numbers(5);
  std::vector<std::int64_t> seen;
  tenure::Orchestrator orchestrator(authority.work(), {.threads = 2});
  const auto tally =
      orchestrator.run(numbers, [&](const tenure::OrderedWork& work) { seen.push_back(work.offset.value); });
  expect(tally.processed == 5 && seen == std::vector<std::int64_t>{1, 2, 3, 4, 5}, "five numbers in their order");
}

void use_all(tenure::Authority& authority, tenure::FenceGuard& guard) {
  use_a_lock(authority, guard);
  do_a_task(authority);
  work_in_order(authority);
}

void run(const std::string& folder, const std::string& address) {
  {
    auto guard = tenure::FenceGuard::open(folder + "/fences");
    const auto authority = tenure::Authority::open(folder + "/authority");
    use_all(*authority, guard);
  }
  const auto authority = tenure::Authority::open(folder + "/authority");  // what was answered is there again
  expect(authority->tasks().queues({}).queues.at(0).completed == 1, "the task after a restart");
  expect_throw<tenure::Unavailable>([&] { tenure::Authority::open(folder + "/authority"); }, "Unavailable");

  tenure::FenceGuard guard;
  const auto client = tenure::Client::connect(address);
  use_all(*client, guard);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    expect(argc == 3, "two arguments: a folder and an address");
    run(argv[1], argv[2]);
    std::printf("consumer: all of libtenure %s works\n", std::string(tenure::kVersion).c_str());
    return 0;
  } catch (const tenure::Error& error) {
    std::fprintf(stderr, "consumer: %s: %s\n", std::string(to_string(error.code())).c_str(), error.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "consumer: %s\n", error.what());
  }
  return 1;
}
