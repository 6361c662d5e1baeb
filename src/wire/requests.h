// Everything a client can ask, as typed values. They view the words they were read from.
//
// What the books answer is a BookRequest: the engine's own request types, with the time to wait where there is one. The
// rest is the server's business.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include <absl/types/span.h>

#include "authority/requests.h"

namespace tenure::wire {

using Words = absl::Span<const std::string_view>;

// --- the books ---

// A request that may wait for its answer; 0: it does not.
template <class T>
struct Blocking {
  T request{};
  Millis block{0};
};
using LeaseTasks = Blocking<LeaseRequest>;
using AwaitTaskEnd = Blocking<AwaitTask>;
struct AcquireLock : Blocking<LockAcquire> {
  bool is_bound = false;  // to the connection's session, which the server knows
};

using BookRequests =
    std::variant<Submission, LeaseTasks, TaskExtension, Completion, FailureReport, TaskKill, Resubmission, GetTask,
                 GetHistory, AwaitTaskEnd, ListTasks, ListQueues, QueuePause, ListWorkers, WorkRequest, WorkSuccess,
                 WorkFailure, WorkExtension, InspectDomain, ListBacklog, ListFailedOffsets, ListDone, WorkTrim,
                 ListDomains, AcquireLock, LockGiveBack, LockExtension, LockForce, GetLock, ListLocks>;

// --- the server ---

struct Ping {
  std::optional<std::string_view> message;
};
struct Echo {
  std::string_view message;
};
struct Credentials {
  std::optional<std::string_view> user;  // absent: the default one
  std::string_view password;
};
struct Hello {
  std::optional<std::int64_t> version;  // 2 or 3
  std::optional<Credentials> credentials;
  std::optional<std::string_view> name;
};
struct Auth {
  Credentials credentials;
};
struct Quit {};
struct Reset {};
struct SelectDatabase {};  // there is one, 0
struct TellTime {};
struct TellRole {};
struct TellClientId {};
struct TellClientName {};
struct NameClient {
  std::string_view name;  // empty: none
};
struct DescribeClient {
  std::string_view attribute;  // LIB-NAME or LIB-VER, in any case
  std::string_view value;
};
struct ListClients {};
struct KillClient {
  std::optional<std::string_view> address;
  std::optional<std::int64_t> id;
  bool counts = false;  // answered with how many there were, not with OK
};
struct JoinSession {
  std::string_view session;
  std::optional<Millis> grace;
};
struct ListCommands {};
struct CountCommands {};
struct DocumentCommands {
  Words names;  // none: all
};
struct DescribeCommands {
  Words names;  // none: all
};
struct DescribeServer {
  Words sections;  // none: the usual ones
};
struct GetConfig {
  Words patterns;
};
struct MakeSnapshot {};
struct ShutDown {};

using ServerRequests =
    std::variant<Ping, Echo, Hello, Auth, Quit, Reset, SelectDatabase, TellTime, TellRole, TellClientId, TellClientName,
                 NameClient, DescribeClient, ListClients, KillClient, JoinSession, ListCommands, CountCommands,
                 DocumentCommands, DescribeCommands, DescribeServer, GetConfig, MakeSnapshot, ShutDown>;

template <class... A, class... B>
std::variant<A..., B...> either(std::variant<A...>, std::variant<B...>);
using Request = decltype(either(std::declval<BookRequests>(), std::declval<ServerRequests>()));

template <class T, class Variant>
inline constexpr bool kIsAlternative = false;
template <class T, class... A>
inline constexpr bool kIsAlternative<T, std::variant<A...>> = (std::is_same_v<T, A> || ...);

template <class T>
concept BookRequest = kIsAlternative<T, BookRequests>;
template <class T>
concept ServerRequest = kIsAlternative<T, ServerRequests>;

// --- what the engine is asked for a BookRequest ---

template <BookRequest T>
const auto& engine_request(const T& request) {
  if constexpr (requires { request.block; }) {
    return request.request;
  } else {
    return request;
  }
}
template <BookRequest T>
using BookReply = ReplyOf<std::remove_cvref_t<decltype(engine_request(std::declval<const T&>()))>>;

}  // namespace tenure::wire
