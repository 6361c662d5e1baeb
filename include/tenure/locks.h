// Locks by name with a lease, a fence, counted re-entry and waiters served first come, first served. This is the plain
// interface.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <tenure/export.h>
#include <tenure/types.h>

namespace tenure {

inline constexpr std::string_view kDefaultSpace = "soft-locks";
inline constexpr Millis kDefaultLockLease = std::chrono::minutes(1);

struct LockName {
  std::string_view domain;
  std::string_view identifier;
  std::string_view space = kDefaultSpace;
};

struct LockRequest {
  LockName lock;
  std::string_view owner;  // acquiring by the present owner re-enters
  Millis lease = kDefaultLockLease;
  std::optional<std::string_view> request_id{};
  // A lock bound to a session is released when the session ends; see Authority::join.
  std::optional<std::string_view> session{};
};

struct LockGrant {
  std::string token;
  std::optional<Fence> fence;  // a backend that has no fences cannot give one
  Millis remaining{0};
  std::uint32_t holds = 1;
};

struct LockRelease {
  LockName lock;
  std::string_view token;
  std::optional<std::string_view> request_id{};
};

struct LockExtension {
  LockName lock;
  std::string_view token;
  std::optional<Millis> lease{};  // the grant's when absent
};

struct LockExtended {
  std::optional<Fence> fence;
  Millis remaining{0};
};

struct LockStatus {
  std::string domain;
  std::string identifier;
  std::string owner;
  Fence fence;
  std::uint32_t holds = 0;
  Instant granted_at;
  Instant expires_at;
  Millis remaining{0};
  std::uint64_t waiters = 0;
};

struct LockListing {
  std::optional<std::string_view> domain{};
  std::string_view space = kDefaultSpace;
  Paging paging{};
};

struct LockPage {
  std::string cursor;
  std::vector<LockStatus> locks;
};

// The narrow part that a soft lock needs, and that other media than Tenure's authority can give. Thread-safe.
class TENURE_API LockBackend {
 public:
  LockBackend() = default;
  LockBackend(const LockBackend&) = delete;
  LockBackend& operator=(const LockBackend&) = delete;
  virtual ~LockBackend() = default;

  // nullopt: not acquired, at once or within `wait`.
  virtual std::optional<LockGrant> acquire(const LockRequest& request, Millis wait = Millis{0},
                                           std::stop_token stop = {}) = 0;
  // The holds that are left; throws LockExpired or NotHeld.
  virtual std::uint32_t release(const LockRelease& request) = 0;
  // Frees whoever holds it; false if nobody did or, with a fence, somebody under another fence.
  virtual bool force(const LockName& lock, std::optional<Fence> fence = {}) = 0;
  virtual bool is_locked(const LockName& lock) = 0;
};

// All that Tenure's authority offers. Thread-safe.
class TENURE_API Locks : public LockBackend {
 public:
  // Never shortens, never resurrects; throws LockExpired or NotHeld.
  virtual LockExtended extend(const LockExtension& request) = 0;
  virtual std::optional<LockStatus> get(const LockName& lock) = 0;
  virtual LockPage list(const LockListing& request) = 0;
};

}  // namespace tenure
