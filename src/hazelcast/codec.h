// What a client of locks says to members, and what they answer: the few messages of the protocol that are needed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hazelcast/message.h"

namespace tenure::hazelcast {

// What a connection begins with, before its first message.
inline constexpr std::string_view kGreeting = "CP2";

// --- signing in ---

struct SignIn {
  std::string_view cluster;
  std::optional<std::string_view> user{};
  std::optional<std::string_view> password{};
  Uuid client;  // locks belong to it: the same for all connections
  std::string_view name;
};
std::string write_sign_in(const SignIn& who, std::int64_t correlation);

struct Welcome {
  Uuid member;
  Uuid cluster;
  std::int32_t partitions = 0;
};
// A failure with kNoAuth: the member does not want this client, and will not because it is asked again.
Result<Welcome> read_welcome(const Message& answer);

std::string write_ping(std::int64_t correlation);

// --- who the members are, and what is whose ---

// From now on the member tells, by events under the same correlation, at once and whenever it changes.
std::string write_watch(std::int64_t correlation);

struct Member {
  Uuid uuid;
  std::string host;
  std::int32_t port = 0;
  bool is_lite = false;  // owns nothing

  friend bool operator==(const Member&, const Member&) = default;
};
struct Ownership {
  Uuid member;
  std::vector<std::int32_t> partitions;
};
struct News {
  std::optional<std::vector<Member>> members{};
  std::optional<std::vector<Ownership>> partitions{};
};
// An event of another kind has no news.
Result<News> read_news(const Message& event);

// --- locks of a map's keys ---

enum class LockVerb : std::uint8_t { kTryLock, kUnlock, kForceUnlock, kIsLocked };

struct LockCall {
  LockVerb verb = LockVerb::kIsLocked;
  std::string map;
  std::string key;  // as data: see data.h
  // Together with the client's id it is who holds the lock; not for kForceUnlock and kIsLocked.
  std::int64_t thread = 0;
  // The same when it is asked again: a member does not do twice what it did last under this one.
  std::int64_t reference = 0;
  std::int64_t lease_ms = 0;  // of kTryLock
};
std::string write_lock_call(const LockCall& call, std::int64_t wait_ms, std::int32_t partition,
                            std::int64_t correlation);
// Of kUnlock and kForceUnlock: true.
Result<bool> read_lock_answer(LockVerb verb, const Message& answer);

// --- what goes wrong there ---

struct MemberError {
  std::int32_t code = 0;
  std::string text;  // the exception's class and message

  // It was not done, or may have been; asking again, perhaps another member, does no harm and may help.
  [[nodiscard]] bool may_pass() const;
  [[nodiscard]] Failure failure() const;
};
// nullopt: it is not one.
std::optional<MemberError> read_error(const Message& answer);

}  // namespace tenure::hazelcast
