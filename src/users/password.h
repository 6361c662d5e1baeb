// Passwords: how they are hashed (argon2id, by libsodium), and kept no longer than needed.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <absl/container/flat_hash_map.h>

#include "base/result.h"
#include "users/user.h"

namespace tenure::users {

// A text that leaves nothing behind in memory. Movable.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string_view text) : text_(text) {}
  ~Secret() { wipe(); }
  // A short text is copied by a move, and would stay behind.
  Secret(Secret&& other) noexcept { *this = std::move(other); }
  Secret& operator=(Secret&& other) noexcept;
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;

  [[nodiscard]] std::string_view view() const { return text_; }

 private:
  void wipe();

  std::string text_;
};

// What one hash costs, whoever makes it. The default takes some 50 ms and 64 MiB.
struct HashCost {
  unsigned long long passes = 2;
  std::size_t bytes = std::size_t{64} << 20;
};

// With a salt of its own. Fails if there is no memory for it.
Result<std::string> hash_password(std::string_view password, const HashCost& cost = {});
// Takes as long as making the hash did.
bool is_password_of(const std::string& hash, std::string_view password);
// Whether it is a hash of this kind, at a cost that a server can bear. What is wrong is told without the hash.
std::optional<Failure> check_hash(std::string_view hash);

// Passwords that have been found right, so that it costs next to nothing to find it again: many clients of one user
// connect at a time, and a client may send its password with every request. They are not kept, only a digest under a
// key that is this process' own. One thread.
class KnownPasswords {
 public:
  KnownPasswords();
  // False: it is not known whether it is right.
  [[nodiscard]] bool knows(const User& user, std::string_view password) const;
  void learn(const User& user, std::string_view password);

 private:
  using Digest = std::array<unsigned char, 32>;

  // Of the hash, too: a password that was changed is no longer known.
  [[nodiscard]] Digest digest_of(const User& user, std::string_view password) const;

  Digest key_;
  absl::flat_hash_map<std::string, Digest> by_user_;
};

}  // namespace tenure::users
