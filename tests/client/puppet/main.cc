// A client that takes soft locks as it is told on standard input, line by line, and answers each line with one.
//
//   tests_client_puppet <address> <lease in ms> bound|unbound|<grace in ms>
#include <iostream>
#include <latch>
#include <stop_token>
#include <string>

#include <tenure/client.h>
#include <tenure/soft_lock.h>

namespace {

using tenure::Millis;
using tenure::SoftLock;

tenure::SoftLockManager make_manager(tenure::LockBackend& locks, Millis lease, const std::string& binding) {
  auto builder = tenure::SoftLockManager::builder(locks).lease_time(lease).log([](const std::string&) {});
  if (binding == "unbound") return builder.unbound().build();
  if (binding != "bound") builder.grace(Millis{std::stoll(binding)});
  return builder.build();
}

void wait_until_lost(const SoftLock& lock) {
  std::latch lost(1);
  const std::stop_callback tell(lock.lost(), [&] { lost.count_down(); });
  lost.wait();
}

std::string obey(SoftLock lock, const std::string& verb) {
  if (verb == "lock") {
    lock.lock();
    return "locked";
  }
  if (verb == "try") return lock.try_lock() ? "locked" : "refused";
  if (verb == "fence") return std::to_string(lock.fence().value().value);
  if (verb == "is_lost") return lock.lost().stop_requested() ? "yes" : "no";
  if (verb == "lost") {
    wait_until_lost(lock);
    return "lost";
  }
  if (verb == "release") {
    lock.release();
    return "released";
  }
  return "not understood";
}

std::string answer_to(const tenure::SoftLockManager& manager, const std::string& verb, const std::string& identifier) {
  try {
    return obey(manager.get_lock("d", identifier), verb);
  } catch (const tenure::LockExpired&) {
    return "LockExpired";
  } catch (const tenure::NotHeld&) {
    return "NotHeld";
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) return 2;
  tenure::ClientSettings settings;
  settings.timeout = std::chrono::seconds(60);  // for hangs, not for speed
  settings.backoff_max = Millis{50};
  const auto client = tenure::Client::connect(words[1], settings);
  const auto manager = make_manager(client->locks(), Millis{std::stoll(words[2])}, words[3]);
  for (std::string verb, identifier; std::cin >> verb >> identifier;) {
    std::cout << answer_to(manager, verb, identifier) << '\n' << std::flush;
  }
  return 0;
}
