// Waits a little for a busy item, and says so if that was not enough.
#include <cstdio>
#include <stdexcept>
#include <thread>

#include <tenure/authority.h>
#include <tenure/soft_lock.h>

namespace {

using namespace std::chrono_literals;

class ResourceBusy : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

int items = 10;

void update_inventory(tenure::SoftLockManager& manager, std::chrono::milliseconds patience) {
  auto lock = manager.get_lock("inventory", "sku-ABC123");
  if (!lock.try_lock_for(patience)) throw ResourceBusy("the item is locked");
  --items;
  lock.release();
}

}  // namespace

int main() {
  auto authority = tenure::Authority::in_memory();
  auto manager = tenure::SoftLockManager::builder(authority->locks()).build();

  update_inventory(manager, 5s);

  auto stocktaking = manager.get_lock("inventory", "sku-ABC123");
  stocktaking.lock();
  bool was_busy = false;
  std::thread([&] {
    try {
      update_inventory(manager, 20ms);
    } catch (const ResourceBusy& busy) {
      std::printf("not updated: %s\n", busy.what());
      was_busy = true;
    }
  }).join();
  // Who waits is let in by the release.
  std::thread patient([&] { update_inventory(manager, 1min); });
  stocktaking.release();
  patient.join();
  std::printf("%d items left\n", items);
  return was_busy && items == 8 ? 0 : 1;
}
