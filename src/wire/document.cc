#include "wire/document.h"

#include <fmt/format.h>

#include "base/limits.h"
#include "wire/errors.h"
#include "wire/permissions.h"
#include "wire/resp_parser.h"
#include "wire/routes.h"

namespace tenure::wire {
namespace {

constexpr std::string_view kBegin = "<!-- made: ";
constexpr std::string_view kBeginEnd = " -->\n";
constexpr std::string_view kEnd = "<!-- end -->";

Result<std::string> table_named(std::string_view name) {
  for (const Group group : {Group::kTasks, Group::kWork, Group::kLocks, Group::kServer}) {
    if (to_string(group) == name) return verb_table(group);
  }
  if (name == "routes") return route_table();
  if (name == "errors") return error_table();
  if (name == "limits") return limit_table();
  if (name == "roles") return role_table();
  return fail_with(ErrorCode::kInvalid, "expected the name of a table, found '{}'", name);
}

void add_limit(std::string& table, std::string_view what, std::string_view limit, std::string_view beyond) {
  table += fmt::format("| {} | {} | {} |\n", what, limit, beyond);
}

std::string_view kind_of_name(Field field) {
  switch (field) {
    case Field::kTaskId:
      return "the task's queue";
    case Field::kQueue:
      return "the queue";
    case Field::kQueues:
      return "each queue";
    case Field::kDomain:
      return "the work domain";
    case Field::kLockDomain:
      return "the lock domain";
    default:
      return "";
  }
}

// What a role of a user's must be for, so that it allows the verb.
std::string names_touched(const Verb& verb) {
  if (roles_for(verb).empty()) return "-";
  if (verb.name == "CLIENT SESSION") return "any name";
  for (const Argument& argument : verb.arguments) {
    const std::string_view kind = kind_of_name(argument.field);
    if (kind.empty()) continue;
    return fmt::format("{}{}", kind, argument.form == Form::kOptional ? "; without it every name" : "");
  }
  return "every name";
}

}  // namespace

std::string role_table() {
  std::string table = "| command | roles, any of them | for |\n| --- | --- | --- |\n";
  for (const Verb* verb : all_verbs()) {
    const auto roles = roles_for(*verb);
    table +=
        fmt::format("| {} | {} | {} |\n", verb->name,
                    roles.empty() ? std::string(to_string(verb->permission)) : to_string(roles), names_touched(*verb));
  }
  for (const ServerPage& page : server_pages()) {
    const auto roles = roles_for(page);
    table += fmt::format("| `GET {}` | {} | {} |\n", page.path,
                         roles.empty() ? std::string(to_string(page.permission)) : to_string(roles),
                         roles.empty() ? "-" : "every name");
  }
  return table;
}

std::string verb_table(Group group) {
  std::string table = "| command | what it does | reply | permission |\n| --- | --- | --- | --- |\n";
  for (const Verb& verb : verbs_of(group)) {
    table +=
        fmt::format("| `{}` | {} | {} | {} |\n", verb.usage(), verb.summary, verb.reply, to_string(verb.permission));
  }
  return table;
}

std::string route_table() {
  std::string table = "| command, or what it is for | HTTP |\n| --- | --- |\n";
  for (const Verb* verb : all_verbs()) {
    if (verb->route.path.empty()) continue;
    table += fmt::format("| {} | `{} {}`", verb->name, verb->route.method, verb->route.path);
    if (!verb->route.longer_path.empty())
      table += fmt::format(", `{} {}`", verb->route.method, verb->route.longer_path);
    table += " |\n";
  }
  for (const ServerPage& page : server_pages()) {
    table += fmt::format("| {} | `GET {}` |\n", page.summary, page.path);
  }
  return table;
}

std::string error_table() {
  std::string table = "| code | meaning | HTTP status |\n| --- | --- | --- |\n";
#define TENURE_X(symbol, word, meaning) \
  table += fmt::format("| {} | {} | {} |\n", word, meaning, http_status(ErrorCode::symbol));
  TENURE_ERROR_CODES(TENURE_X)
#undef TENURE_X
  return table;
}

std::string limit_table() {
  const RequestLimits limits;
  std::string table = "| what | limit | beyond it |\n| --- | --- | --- |\n";
  add_limit(table, "a request, framing included", fmt::format("{} bytes", limits.request_bytes_max),
            "TOOLARGE; the request is skipped");
  add_limit(table, "words of a request", fmt::format("{}", limits.words_max), "ERR; the request is skipped");
  add_limit(table, "a request that is skipped",
            fmt::format("{} bytes, {} words", limits.skipped_bytes_max, limits.skipped_words_max),
            "the connection is closed");
  add_limit(table, "an inline command", fmt::format("{} bytes", limits.line_bytes_max),
            "ERR; the connection is closed");
  add_limit(table, "payload, result", fmt::format("{} bytes", Settings().payload_bytes_max), "TOOLARGE");
  add_limit(table, "a name", fmt::format("1 to {} bytes", kNameBytesMax), "INVALID");
  add_limit(table, "a lease id or token", fmt::format("{} bytes", kTokenBytesMax), "INVALID");
  add_limit(table, "a reason", fmt::format("{} bytes", kReasonBytesMax), "INVALID");
  add_limit(table, "LEASE, WINDOW", fmt::format("1 to {} ms", kLeaseMax.count()), "INVALID");
  add_limit(table, "BLOCK, WAIT, GRACE", fmt::format("0 to {} ms", kLeaseMax.count()), "INVALID");
  add_limit(table, "DELAY, BACKOFF", fmt::format("0 to {} ms", kDelayMax.count()), "INVALID");
  add_limit(table, "RETRIES", fmt::format("0 to {}", kRetriesMax), "INVALID");
  add_limit(table, "ATTEMPTS", fmt::format("1 to {}", kRetriesMax), "INVALID");
  add_limit(table, "COUNT, numqueues", fmt::format("1 to {}", kCountMax), "INVALID");
  return table;
}

Result<std::string> refresh_document(std::string_view document) {
  std::string made;
  while (true) {
    const std::size_t begin = document.find(kBegin);
    if (begin == std::string_view::npos) return made.append(document);
    const std::size_t name_end = document.find(kBeginEnd, begin);
    const std::size_t end = document.find(kEnd, begin);
    if (name_end == std::string_view::npos || end == std::string_view::npos || end < name_end) {
      return fail_with(ErrorCode::kInvalid, "expected '{}' behind '{}'", kEnd, kBegin);
    }
    const std::string_view name = document.substr(begin + kBegin.size(), name_end - begin - kBegin.size());
    auto table = table_named(name);
    if (!table) return tl::unexpected(std::move(table.error()));
    made.append(document.substr(0, name_end + kBeginEnd.size())).append(*table);
    document.remove_prefix(end);
    made.append(kEnd);
    document.remove_prefix(kEnd.size());
  }
}

}  // namespace tenure::wire
