// The verbs of the server itself: enough of what Redis clients say that they connect with their defaults.
#include "wire/verb_tables.h"

namespace tenure::wire {
namespace {

using enum Field;

template <class T>
Request make_plain(const Values& /*values*/) {
  return T{};
}

constexpr Argument kPing[] = {may(kMessage)};
Request make_ping(const Values& values) { return Ping{values.maybe_text(kMessage)}; }

constexpr Argument kEcho[] = {need(kMessage)};
Request make_echo(const Values& values) { return Echo{values.text(kMessage)}; }

constexpr Argument kHello[] = {may(kVersion), option("AUTH", kCredentials), option("SETNAME", kLabel)};
Request make_hello(const Values& values) {
  Hello hello{.version = values.maybe_number(kVersion), .credentials{}, .name = values.maybe_text(kLabel)};
  const Words words = values.texts(kCredentials);
  if (!words.empty()) hello.credentials = Credentials{.user = words[0], .password = words[1]};
  return hello;
}

constexpr Argument kAuth[] = {may(kUser), need(kPassword)};
Request make_auth(const Values& values) { return Auth{{values.maybe_text(kUser), values.text(kPassword)}}; }

constexpr Argument kSelect[] = {need(kDatabase)};

constexpr Argument kSetName[] = {need(kLabel)};
Request make_set_name(const Values& values) { return NameClient{values.text(kLabel)}; }

constexpr Argument kSetInfo[] = {need(kAttribute), need(kAttributeValue)};
Request make_set_info(const Values& values) {
  return DescribeClient{values.text(kAttribute), values.text(kAttributeValue)};
}

constexpr Argument kKillClient[] = {may(kAddress), option("ID", kClientId), option("ADDR", kKilledAddress)};
Request make_kill_client(const Values& values) {
  const bool is_plain = values.has(kAddress);
  return KillClient{.address = values.maybe_text(is_plain ? kAddress : kKilledAddress),
                    .id = values.maybe_number(kClientId),
                    .counts = !is_plain};
}

constexpr Argument kJoin[] = {need(kSession), option("GRACE", kGrace)};
Request make_join(const Values& values) { return JoinSession{values.text(kSession), values.maybe_time(kGrace)}; }

constexpr Argument kSomeCommands[] = {any(kCommands)};
Request make_docs(const Values& values) { return DocumentCommands{values.texts(kCommands)}; }
Request make_command_info(const Values& values) { return DescribeCommands{values.texts(kCommands)}; }

constexpr Argument kSomeSections[] = {any(kSections)};
Request make_info(const Values& values) { return DescribeServer{values.texts(kSections)}; }

constexpr Argument kSomePatterns[] = {many(kPatterns)};
Request make_config_get(const Values& values) { return GetConfig{values.texts(kPatterns)}; }

constexpr Verb server_verb(std::string_view name, Permission permission, absl::Span<const Argument> arguments,
                           Request (*make)(const Values&), std::string_view reply, std::string_view summary) {
  return {.name = name,
          .group = Group::kServer,
          .permission = permission,
          .summary = summary,
          .reply = reply,
          .arguments = arguments,
          .make = make};
}

using enum Permission;

constexpr Verb kServerVerbs[] = {
    server_verb("PING", kSignedIn, kPing, make_ping, "`PONG`; or the message", "Asks whether the server answers."),
    server_verb("ECHO", kSignedIn, kEcho, make_echo, "the message", "Says the same."),
    server_verb("HELLO", kAnyone, kHello, make_hello, "map: server, version, proto, id, mode, role, modules",
                "Chooses RESP2 or RESP3, and perhaps signs in and names the connection."),
    server_verb("AUTH", kAnyone, kAuth, make_auth, "`OK`", "Signs in."),
    server_verb("QUIT", kAnyone, {}, make_plain<Quit>, "`OK`, and the connection is closed", "Ends the connection."),
    server_verb("RESET", kAnyone, {}, make_plain<Reset>, "`RESET`",
                "Makes the connection as new: RESP2, no name, signed out, its session left."),
    server_verb("SELECT", kSignedIn, kSelect, make_plain<SelectDatabase>, "`OK`", "There is one database, 0."),
    server_verb("TIME", kSignedIn, {}, make_plain<TellTime>, "array: seconds, microseconds, as bulk strings",
                "Tells the authority's time."),
    server_verb("ROLE", kSignedIn, {}, make_plain<TellRole>,
                "array: `master`, 0, empty array; or of a node that follows: `slave`, host and port of the leader, "
                "state, last frame",
                "Tells whether this node leads."),
    server_verb("CLIENT ID", kSignedIn, {}, make_plain<TellClientId>, "integer", "Tells the connection's number."),
    server_verb("CLIENT GETNAME", kSignedIn, {}, make_plain<TellClientName>, "the name; nil if it has none",
                "Tells the connection's name."),
    server_verb("CLIENT SETNAME", kSignedIn, kSetName, make_set_name, "`OK`",
                "Names the connection; an empty name takes it away."),
    server_verb("CLIENT SETINFO", kSignedIn, kSetInfo, make_set_info, "`OK`",
                "Tells the client library's LIB-NAME or LIB-VER."),
    server_verb("CLIENT LIST", kAdmin, {}, make_plain<ListClients>, "bulk string: a line for each connection",
                "Lists the connections."),
    server_verb("CLIENT KILL", kAdmin, kKillClient, make_kill_client,
                "with an address alone `OK`; with ID or ADDR how many", "Closes connections."),
    server_verb("CLIENT SESSION", kLock, kJoin, make_join, "`OK`",
                "Makes the connection part of a session, which bound locks belong to."),
    server_verb("COMMAND", kSignedIn, {}, make_plain<ListCommands>, "array of what COMMAND INFO tells of each",
                "Describes all commands."),
    server_verb("COMMAND COUNT", kSignedIn, {}, make_plain<CountCommands>, "integer", "Counts the commands."),
    server_verb("COMMAND DOCS", kSignedIn, kSomeCommands, make_docs,
                "map of maps: summary, since, group, arguments, subcommands (the last two where there are any)",
                "Documents commands, all or those named."),
    server_verb("COMMAND INFO", kSignedIn, kSomeCommands, make_command_info,
                "array: for each name, arity, flags, first key, last key, step, categories, tips, key specifications, "
                "subcommands; or nil",
                "Describes commands, all or those named."),
    server_verb("INFO", kRead, kSomeSections, make_info, "bulk string: lines of field:value, `tenure_version` first",
                "Tells how the server stands."),
    server_verb("CONFIG GET", kAdmin, kSomePatterns, make_config_get, "map: setting, value", "Tells settings."),
    server_verb("SNAPSHOT", kAdmin, {}, make_plain<MakeSnapshot>, "`OK` once it is made", "Makes a snapshot now."),
    server_verb("SHUTDOWN", kAdmin, {}, make_plain<ShutDown>, "none: the connection is closed; or an error",
                "Stops the server once what is in flight is answered."),
};

}  // namespace

absl::Span<const Verb> server_verbs() { return kServerVerbs; }

}  // namespace tenure::wire
