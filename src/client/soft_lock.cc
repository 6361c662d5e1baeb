#include <stdexcept>
#include <utility>

#include <tenure/soft_lock.h>
#include "base/clock.h"
#include "base/entropy.h"
#include "base/limits.h"
#include "base/mutex.h"
#include "client/lock_desk.h"

namespace tenure {
namespace {

const Clock& machine_clock() {
  static const SystemClock clock;
  return clock;
}

std::shared_ptr<LockClient> client_of(const LockBackend& backend) {
  static Mutex mutex;
  static SystemEntropy entropy;
  const MutexLock lock(mutex);
  return LockClient::of(backend, entropy);
}

void require(bool holds, const char* otherwise) {
  if (!holds) throw std::invalid_argument(otherwise);
}

// A desk and, if somebody has to, what keeps its backend.
struct KeptDesk {
  KeptDesk(std::shared_ptr<LockBackend> keep, LockBackend& locks, const SoftLockSettings& settings)
      : backend(std::move(keep)), desk(locks, settings, machine_clock(), client_of(locks)) {}

  std::shared_ptr<LockBackend> backend;
  LockDesk desk;
};

}  // namespace

SoftLock::SoftLock(std::shared_ptr<LockDesk> desk, std::string domain, std::string identifier)
    : desk_(std::move(desk)), domain_(std::move(domain)), identifier_(std::move(identifier)) {}

void SoftLock::lock() { desk_->lock({domain_, identifier_}, {}); }
void SoftLock::lock(std::stop_token stop) { desk_->lock({domain_, identifier_}, std::move(stop)); }
bool SoftLock::try_lock() { return desk_->try_lock({domain_, identifier_}, Millis{0}, {}); }
bool SoftLock::try_lock_within(Millis wait, std::stop_token stop) {
  return desk_->try_lock({domain_, identifier_}, wait, std::move(stop));
}
void SoftLock::release() { desk_->release({domain_, identifier_}); }
void SoftLock::unlock() noexcept { desk_->unlock({domain_, identifier_}); }
std::optional<Fence> SoftLock::fence() const { return desk_->fence({domain_, identifier_}); }
std::stop_token SoftLock::lost() const { return desk_->lost({domain_, identifier_}); }
void SoftLock::extend(Millis lease) { desk_->extend({domain_, identifier_}, lease); }
void SoftLock::keep_alive() { desk_->keep_alive({domain_, identifier_}); }
Millis SoftLock::remaining_lease_time() const { return desk_->remaining({domain_, identifier_}); }
bool SoftLock::is_locked() const { return desk_->is_locked({domain_, identifier_}); }
bool SoftLock::is_held_by_current_thread() const { return desk_->is_held_here({domain_, identifier_}); }
bool SoftLock::force_unlock() { return desk_->force({domain_, identifier_}); }
std::string SoftLock::key() const { return domain_ + desk_->settings().delimiter + identifier_; }

SoftLockManagerBuilder SoftLockManager::builder(LockBackend& locks) { return SoftLockManagerBuilder(locks); }
SoftLockManagerBuilder SoftLockManager::builder(std::shared_ptr<LockBackend> locks) {
  return SoftLockManagerBuilder(std::move(locks));
}

SoftLock SoftLockManager::get_lock(std::string_view domain, std::string_view identifier) const {
  desk_->check_key({domain, identifier});
  return {desk_, std::string(domain), std::string(identifier)};
}

std::vector<LockStatus> SoftLockManager::list(std::string_view domain) const { return desk_->list(domain); }
Millis SoftLockManager::lease_time() const { return desk_->settings().lease; }
const std::string& SoftLockManager::delimiter() const { return desk_->settings().delimiter; }
const std::string& SoftLockManager::space() const { return desk_->settings().space; }
void SoftLockManager::close() { desk_->close(); }
void SoftLockManager::lose_all() { desk_->lose_all(); }

SoftLockManagerBuilder::SoftLockManagerBuilder(std::shared_ptr<LockBackend> locks)
    : locks_(locks.get()), kept_(std::move(locks)) {
  require(locks_ != nullptr, "locks must not be null");
}

SoftLockManagerBuilder& SoftLockManagerBuilder::lease_time(Millis lease) {
  require(lease > Millis{0}, "lease_time must be positive");
  require(lease <= kLeaseMax, "lease_time must be at most 24 hours");
  settings_.lease = lease;
  return *this;
}

SoftLockManagerBuilder& SoftLockManagerBuilder::margin(Millis margin) {
  require(margin >= Millis{0}, "margin must not be negative");
  settings_.margin = margin;
  return *this;
}

SoftLockManagerBuilder& SoftLockManagerBuilder::delimiter(std::string_view between) {
  require(!between.empty(), "delimiter must not be empty");
  settings_.delimiter = between;
  return *this;
}

SoftLockManagerBuilder& SoftLockManagerBuilder::space(std::string_view space) {
  require(!space.empty(), "space must not be empty");
  settings_.space = space;
  return *this;
}

SoftLockManagerBuilder& SoftLockManagerBuilder::grace(Millis grace) {
  require(grace >= Millis{0}, "grace must not be negative");
  require(grace <= kLeaseMax, "grace must be at most 24 hours");
  settings_.grace = grace;
  return *this;
}

SoftLockManagerBuilder& SoftLockManagerBuilder::unbound() {
  settings_.is_bound = false;
  return *this;
}

SoftLockManagerBuilder& SoftLockManagerBuilder::session(std::string_view session) {
  require(!session.empty(), "session must not be empty");
  settings_.session = session;
  return *this;
}

SoftLockManagerBuilder& SoftLockManagerBuilder::metrics(MetricsRegistry* registry) {
  settings_.metrics = registry;
  return *this;
}

SoftLockManagerBuilder& SoftLockManagerBuilder::on_acquired(std::function<void(const LockEvent&)> tell) {
  settings_.on_acquired = std::move(tell);
  return *this;
}

SoftLockManagerBuilder& SoftLockManagerBuilder::on_released(std::function<void(const LockEvent&)> tell) {
  settings_.on_released = std::move(tell);
  return *this;
}

SoftLockManagerBuilder& SoftLockManagerBuilder::on_expired(std::function<void(const LockEvent&)> tell) {
  settings_.on_expired = std::move(tell);
  return *this;
}

SoftLockManagerBuilder& SoftLockManagerBuilder::log(std::function<void(const std::string&)> log) {
  settings_.log = std::move(log);
  return *this;
}

SoftLockManager SoftLockManagerBuilder::build() const {
  require(settings_.is_bound || settings_.grace == Millis{0}, "a grace is for locks that are bound to a session");
  require(settings_.is_bound || !settings_.session, "locks are unbound, or bound to a session: not both");
  require(!settings_.session || settings_.grace == Millis{0}, "a session's grace is given where it is joined");
  require(!settings_.margin || *settings_.margin < settings_.lease, "margin must be less than lease_time");
  const auto kept = std::make_shared<KeptDesk>(kept_, *locks_, settings_);
  return SoftLockManager(std::shared_ptr<LockDesk>(kept, &kept->desk));
}

}  // namespace tenure
