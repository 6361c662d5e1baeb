// A service with the authority inside: what it has accepted survives its restart, without a server beside it.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>

#include <tenure/authority.h>
#include <tenure/fence_guard.h>
#include <tenure/soft_lock.h>
#include <tenure/worker.h>

namespace {

using namespace std::chrono_literals;

class InvoiceService {
 public:
  explicit InvoiceService(const std::string& folder)
      : authority_(tenure::Authority::open(folder + "/tenure")),
        files_(tenure::FenceGuard::open(folder + "/fences")),
        locks_(tenure::SoftLockManager::builder(authority_->locks()).lease_time(30s).build()) {}

  std::string accept(const std::string& invoice) {
    return authority_->tasks().submit({.queue = "invoices", .payload = invoice}).task_id;
  }

  // Does what is there, and tells how much that was.
  std::uint64_t work_until_done(const std::string& task_id) {
    tenure::Worker worker(authority_->tasks(), {.name = "service", .queues = {"invoices"}});
    std::stop_source stop;
    std::jthread watch([&] {
      authority_->tasks().wait(task_id, 1min);
      stop.request_stop();
    });
    const auto write = [this](const tenure::Job& job) {
      auto lock = locks_.get_lock("invoices", "counter");
      const std::unique_lock guard(lock);
      const bool is_written = files_.write("counter", lock.fence().value(), [&] { ++written_; });
      return is_written ? tenure::Outcome::done(job.payload) : tenure::Outcome::failed("the lock was lost");
    };
    return worker.run(write, stop.get_token()).completed;
  }

 private:
  std::unique_ptr<tenure::Authority> authority_;
  tenure::FenceGuard files_;
  tenure::SoftLockManager locks_;
  int written_ = 0;
};

}  // namespace

int main() {
  std::string folder = (std::filesystem::temp_directory_path() / "tenure-example-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return 1;
  std::string last;
  {
    InvoiceService service(folder);
    for (int i = 1; i <= 3; ++i) last = service.accept("invoice " + std::to_string(i));
  }
  std::uint64_t done = 0;
  {
    InvoiceService service(folder);  // as after a crash
    done = service.work_until_done(last);
  }
  std::filesystem::remove_all(folder);
  std::printf("%llu invoices done after the restart\n", static_cast<unsigned long long>(done));
  return done == 3 ? 0 : 1;
}
