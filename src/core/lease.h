// What all three books share: a lease is ownership by one holder until an instant, proven by a token.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include <tenure/types.h>

namespace tenure {

// The secret that proves a lease. Its text, `<fence>-<16 hex digits>`, is made only at the edge.
struct Token {
  Fence fence;
  std::uint64_t secret = 0;

  [[nodiscard]] std::string text() const;
  // nullopt: text of another shape, which therefore matches no lease.
  static std::optional<Token> parse(std::string_view text);

  friend constexpr bool operator==(Token a, Token b) {
    return std::tie(a.fence.value, a.secret) == std::tie(b.fence.value, b.secret);
  }
};

// Valid while now <= expires_at.
constexpr bool is_expired(Instant expires_at, Instant now) { return now > expires_at; }

constexpr Millis remaining(Instant expires_at, Instant now) {
  return is_expired(expires_at, now) ? Millis{0} : expires_at - now;
}

}  // namespace tenure
