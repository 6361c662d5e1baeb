// A report that takes longer than its lease: the writer notices, stops, and says so. With keep_alive it may take its
// time.
#include <cstdio>
#include <string>

#include <tenure/authority.h>
#include <tenure/soft_lock.h>

namespace {

using namespace std::chrono_literals;

// Writes pages for as long as the lock is its own; false: it was lost before the last one.
bool generate_daily_report(const std::stop_token& lost, const std::stop_token& finished) {
  while (!finished.stop_requested()) {
    if (lost.stop_requested()) return false;
  }
  return true;
}

}  // namespace

int main() {
  auto authority = tenure::Authority::in_memory();
  auto manager =
      tenure::SoftLockManager::builder(authority->locks())
          .lease_time(100ms)
          .on_expired([](const tenure::LockEvent& lock) { std::printf("lost: %s\n", lock.identifier.c_str()); })
          .log([](const std::string&) {})
          .build();

  bool was_told = false;
  auto lock = manager.get_lock("reports", "daily-report");
  lock.lock();
  const bool is_complete = generate_daily_report(lock.lost(), {});
  try {
    lock.release();
  } catch (const tenure::LockExpired& expired) {
    // Another may have begun the same report: this one must not be published.
    std::printf("report thrown away: %s\n", expired.what());
    was_told = true;
  }

  auto patient = tenure::SoftLockManager::builder(authority->locks()).build().get_lock("reports", "daily-report");
  patient.lock();
  patient.keep_alive();  // renewed until it is released
  const auto kept = patient.lost();
  patient.release();
  return !is_complete && was_told && !kept.stop_requested() ? 0 : 1;
}
