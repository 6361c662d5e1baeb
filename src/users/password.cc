#include "users/password.h"

#include <algorithm>
#include <vector>

#include <sodium.h>

#include "base/check.h"
#include "base/split.h"
#include "base/text.h"

namespace tenure::users {
namespace {

// What a server may be made to spend on one sign-in.
constexpr std::uint64_t kKibibytesMax = std::uint64_t{256} << 10;
constexpr std::uint64_t kPassesMax = 16;

void start_sodium() {
  static const bool is_ready = sodium_init() >= 0;
  TENURE_CHECK(is_ready, "libsodium cannot be started");
}

bool is_base64(std::string_view text) {
  return !text.empty() && text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") ==
                              std::string_view::npos;
}

// The number in `m=65536`.
std::optional<std::uint64_t> number_of(std::string_view text, std::string_view label) {
  return text.starts_with(label) ? parse_decimal(text.substr(label.size())) : std::nullopt;
}

// "m=65536,t=2,p=1", each within its limits.
bool is_bearable(std::string_view cost) {
  const std::vector<std::string_view> parts = split(cost, ',');
  if (parts.size() != 3 || parts[2] != "p=1") return false;
  const auto kibibytes = number_of(parts[0], "m=");
  const auto passes = number_of(parts[1], "t=");
  return kibibytes && passes && *kibibytes >= 8 && *kibibytes <= kKibibytesMax && *passes >= 1 && *passes <= kPassesMax;
}

}  // namespace

// --- secrets ---

Secret& Secret::operator=(Secret&& other) noexcept {
  if (this == &other) return *this;
  wipe();
  text_.swap(other.text_);
  other.wipe();
  return *this;
}

// All of it, also what was behind a shorter text.
void Secret::wipe() {
  text_.resize(text_.capacity());
  sodium_memzero(text_.data(), text_.size());
  text_.clear();
}

// --- hashes ---

Result<std::string> hash_password(std::string_view password, const HashCost& cost) {
  start_sodium();
  std::string hash(crypto_pwhash_STRBYTES, '\0');
  if (crypto_pwhash_str_alg(hash.data(), password.data(), password.size(), cost.passes, cost.bytes,
                            crypto_pwhash_ALG_ARGON2ID13) != 0) {
    return fail_with(ErrorCode::kUnavailable, "hashing a password: expected {} bytes of memory, found fewer",
                     cost.bytes);
  }
  hash.resize(hash.find('\0'));
  return hash;
}

bool is_password_of(const std::string& hash, std::string_view password) {
  start_sodium();
  return crypto_pwhash_str_verify(hash.c_str(), password.data(), password.size()) == 0;
}

std::optional<Failure> check_hash(std::string_view hash) {
  const std::vector<std::string_view> parts = split(hash, '$');
  const bool is_one = hash.size() < crypto_pwhash_STRBYTES && parts.size() == 6 && parts[0].empty() &&
                      parts[1] == "argon2id" && parts[2] == "v=19" && is_base64(parts[4]) && is_base64(parts[5]);
  if (!is_one) {
    return Failure{ErrorCode::kInvalid, fmt::format("hash: expected $argon2id$v=19$m=...,t=...,p=1$salt$hash, found {} "
                                                    "bytes that are none",
                                                    hash.size())};
  }
  if (is_bearable(parts[3])) return std::nullopt;
  return Failure{ErrorCode::kInvalid,
                 fmt::format("hash: expected a cost of m=8 to m={}, t=1 to t={} and p=1, found another", kKibibytesMax,
                             kPassesMax)};
}

// --- known passwords ---

KnownPasswords::KnownPasswords() {
  start_sodium();
  crypto_generichash_keygen(key_.data());
}

bool KnownPasswords::knows(const User& user, std::string_view password) const {
  const auto found = by_user_.find(user.name);
  if (found == by_user_.end()) return false;
  const Digest digest = digest_of(user, password);
  return sodium_memcmp(digest.data(), found->second.data(), digest.size()) == 0;
}

void KnownPasswords::learn(const User& user, std::string_view password) {
  by_user_[user.name] = digest_of(user, password);
}

KnownPasswords::Digest KnownPasswords::digest_of(const User& user, std::string_view password) const {
  static_assert(crypto_generichash_KEYBYTES == sizeof(Digest) && crypto_generichash_BYTES == sizeof(Digest));
  crypto_generichash_state state;
  Digest digest;
  crypto_generichash_init(&state, key_.data(), key_.size(), digest.size());
  // A hash has no NUL, so where it ends is certain.
  crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(user.hash.c_str()), user.hash.size() + 1);
  crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(password.data()), password.size());
  crypto_generichash_final(&state, digest.data(), digest.size());
  return digest;
}

}  // namespace tenure::users
