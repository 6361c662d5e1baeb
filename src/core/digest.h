// The state's fingerprint: a 128-bit sum of one hash per entity. A sum, so that `apply` can adjust it (take the
// entity's old hash out, put its new one in) and so that it does not depend on any order.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <tenure/types.h>
#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"
#include "core/lease.h"

namespace tenure {

class Digest {
 public:
  constexpr Digest() = default;
  constexpr Digest(std::uint64_t high, std::uint64_t low) : high_(high), low_(low) {}

  [[nodiscard]] constexpr std::uint64_t high() const { return high_; }
  [[nodiscard]] constexpr std::uint64_t low() const { return low_; }

  constexpr Digest& operator+=(Digest other) {
    low_ += other.low_;
    high_ += other.high_ + (low_ < other.low_ ? 1 : 0);
    return *this;
  }
  constexpr Digest& operator-=(Digest other) {
    high_ -= other.high_ + (low_ < other.low_ ? 1 : 0);
    low_ -= other.low_;
    return *this;
  }
  friend constexpr bool operator==(Digest a, Digest b) {
    return std::tie(a.high_, a.low_) == std::tie(b.high_, b.low_);
  }

 private:
  std::uint64_t high_ = 0;
  std::uint64_t low_ = 0;
};

// What kind of entity is hashed; part of its hash, so that two kinds with equal fields differ.
enum class Entity : std::uint8_t {
  kCounters = 1,
  kTask,
  kAttempt,
  kPausedQueue,
  kRequest,
  kDomain,
  kBacklogEntry,
  kProcessed,
  kFailedOffsets,
  kLock,
  kLostLease,
  kSession,
  kTaskArchive,
  kWorkArchive,
  kLockArchive,
};

// Hashes the fields an entity shows it, in order: numbers by their bytes, short texts by their length and bytes, long
// ones by their length and hash.
class EntityHash {
 public:
  explicit EntityHash(Entity kind) { add(kind); }

  template <class T>
  void operator()(std::string_view /*name*/, const T& value) {
    add(value);
  }

  [[nodiscard]] Digest digest() const {
    const Hash128 hash = hash128({bytes_, used_});
    return {hash.high, hash.low};
  }

 private:
  static constexpr std::size_t kShortText = 32;

  // Room for so many bytes more.
  char* extend(std::size_t size) {
    TENURE_CHECK(used_ + size <= sizeof bytes_, "an entity of more than {} bytes", sizeof bytes_);
    char* const to = bytes_ + used_;
    used_ += size;
    return to;
  }

  template <class T>
    requires std::is_integral_v<T> || std::is_enum_v<T>
  void add(T value) {
    std::memcpy(extend(sizeof value), &value, sizeof value);
  }
  void add(std::string_view text) {
    add(static_cast<std::uint32_t>(text.size()));
    if (text.size() > kShortText) {
      add(hash64(text));
    } else {
      copy_short(text, extend(text.size()));
    }
  }
  void add(Instant value) { add(value.ms); }
  void add(Millis value) { add(value.count()); }
  void add(Fence value) { add(value.value); }
  void add(Offset value) { add(value.value); }
  void add(Token value) {
    add(value.fence);
    add(value.secret);
  }
  template <class T>
  void add(const std::optional<T>& value) {
    add(value.has_value());
    if (value) add(*value);
  }

  char bytes_[512];
  std::size_t used_ = 0;
};

// The hash of an entity that declares its fields: `template <class V> void fields(V&& visit) const`.
template <class T>
Digest digest_of(Entity kind, const T& entity) {
  EntityHash hash(kind);
  entity.fields(hash);
  return hash.digest();
}

}  // namespace tenure
