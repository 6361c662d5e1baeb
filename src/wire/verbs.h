// The one table of verbs: what each is called, takes, answers and needs. Requests are read by it; help, COMMAND DOCS,
// HTTP routes, permissions and docs/protocol.md are made from it. Immutable.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <absl/types/span.h>

#include "base/result.h"
#include "wire/args.h"
#include "wire/requests.h"

namespace tenure::wire {

class JsonWriter;

enum class Group : std::uint8_t { kTasks, kWork, kLocks, kServer };
std::string_view to_string(Group group);

// What a user must have; permissions.h has the roles that stand for it.
enum class Permission : std::uint8_t {
  kAnyone,    // before signing in
  kSignedIn,  // whoever has signed in
  kRead,      // looks: for `read`, and for those whose business it looks at
  kSubmit,    // gives tasks
  kWork,      // leases tasks and offsets, and reports
  kLock,      // takes locks and gives them back
  kAdmin,     // decides over others: force, kill, pause, trim, other clients, the server
};
std::string_view to_string(Permission permission);
// Whether it changes something, and is for others than admins.
constexpr bool is_writing(Permission permission) {
  return permission >= Permission::kSubmit && permission <= Permission::kLock;
}

// How HTTP asks it; the path's {names} are arguments. Empty: it does not.
struct Route {
  std::string_view method{};
  std::string_view path{};
  std::string_view longer_path{};  // the same with an optional argument in the path
};

struct Verb {
  std::string_view name;  // in upper case; of two words where it is a subcommand
  Group group;
  Permission permission;
  std::string_view summary;
  std::string_view reply;  // its shape, as docs/protocol.md shows it
  absl::Span<const Argument> arguments;
  Request (*make)(const Values& values);
  Route route{};
  void (*reply_schema)(JsonWriter& out) = nullptr;  // of what HTTP answers, where it has a route
  bool may_block = false;

  // Words of its name, and of what its arguments take at least: they follow from the above.
  std::size_t name_words = name.find(' ') == std::string_view::npos ? 1 : 2;
  std::size_t words_needed = wire::words_needed(arguments);

  [[nodiscard]] std::string usage() const;
  // As COMMAND tells it: exactly so many words, or at least so many if negative.
  [[nodiscard]] std::int64_t arity() const;
};

// Those of one group, in the order of the documentation; and all of them.
absl::Span<const Verb> verbs_of(Group group);
absl::Span<const Verb* const> all_verbs();

// The verb that a request's first words name, in any case; the request has at least one.
Result<const Verb*> find_verb(Words words);
// The same for a name alone, as COMMAND INFO has them: `client|kill` or `client kill`. Null: there is none.
const Verb* find_verb_named(std::string_view name);

// Reads the request, its verb's name included, into `request`, or tells its leftmost fault.
std::optional<Failure> read_request(const Verb& verb, Words words, std::uint64_t payload_bytes_max, Request& request);

}  // namespace tenure::wire
