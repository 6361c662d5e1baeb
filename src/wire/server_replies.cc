#include "wire/server_replies.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include <fmt/format.h>

#include <tenure/version.h>
#include "wire/verbs.h"

namespace tenure::wire {
namespace {

// A command as COMMAND lists it: a verb, or several that share their first word, or both.
struct Command {
  std::string_view name;
  const Verb* verb = nullptr;
  std::vector<const Verb*> subcommands{};
};

const std::vector<Command>& commands() {
  static const std::vector<Command> all = [] {
    std::vector<Command> made;
    for (const Verb* verb : all_verbs()) {
      const std::string_view name = verb->name.substr(0, verb->name.find(' '));
      auto command = std::find_if(made.begin(), made.end(), [&](const Command& each) { return each.name == name; });
      if (command == made.end()) command = made.insert(made.end(), Command{.name = name});
      if (verb->name_words == 1) {
        command->verb = verb;
      } else {
        command->subcommands.push_back(verb);
      }
    }
    return made;
  }();
  return all;
}

// As clients know it: in lower case, a subcommand behind a bar.
std::string shown_name(std::string_view name) {
  std::string shown(name);
  for (char& c : shown) c = c == ' ' ? '|' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return shown;
}

using Tags = std::vector<std::string_view>;

Tags flags_of(const Verb& verb) {
  Tags flags;
  if (verb.permission == Permission::kAnyone) flags.emplace_back("no_auth");
  if (verb.permission == Permission::kRead) flags.emplace_back("readonly");
  if (is_writing(verb.permission)) flags.emplace_back("write");
  if (verb.permission == Permission::kAdmin) flags.emplace_back("admin");
  if (verb.may_block) flags.emplace_back("blocking");
  return flags;
}

Tags categories_of(const Verb& verb) {
  Tags categories;
  if (verb.permission == Permission::kRead) categories.emplace_back("@read");
  if (is_writing(verb.permission)) categories.emplace_back("@write");
  if (verb.permission == Permission::kAdmin) categories.emplace_back("@admin");
  if (verb.permission <= Permission::kSignedIn) categories.emplace_back("@connection");
  if (verb.may_block) categories.emplace_back("@blocking");
  return categories;
}

void write_tags(RespWriter& out, const Tags& tags) {
  out.array(tags.size());
  for (const std::string_view tag : tags) out.simple(tag);
}

void describe_all(RespWriter& out, absl::Span<const Verb* const> verbs);

// Ten elements, whatever it is; no command has keys in Redis' sense.
void describe(RespWriter& out, std::string_view name, const Verb* verb, absl::Span<const Verb* const> subcommands) {
  out.array(10);
  out.value(shown_name(name));
  out.value(verb != nullptr ? verb->arity() : -2);
  write_tags(out, verb != nullptr ? flags_of(*verb) : Tags());
  for (int i = 0; i < 3; ++i) out.value(0);  // first key, last key, step
  write_tags(out, verb != nullptr ? categories_of(*verb) : Tags());
  out.array(0);  // tips
  out.array(0);  // key specifications
  describe_all(out, subcommands);
}

void describe_all(RespWriter& out, absl::Span<const Verb* const> verbs) {
  out.array(verbs.size());
  for (const Verb* verb : verbs) describe(out, verb->name, verb, {});
}

// The command, or the subcommand, of this name; calls found(name, verb, subcommands) if there is one.
template <class Found>
bool find_command(std::string_view name, const Found& found) {
  for (const Command& command : commands()) {
    if (shown_name(command.name) != shown_name(name)) continue;
    found(command.name, command.verb, absl::MakeConstSpan(command.subcommands));
    return true;
  }
  const Verb* verb = find_verb_named(name);
  if (verb != nullptr) found(verb->name, verb, absl::Span<const Verb* const>());
  return verb != nullptr;
}

std::string_view type_of(Kind kind) {
  switch (kind) {
    case Kind::kInteger:
    case Kind::kVersion:
      return "integer";
    case Kind::kFlag:
      return "pure-token";
    default:
      return "string";
  }
}

// Values of several words are told as one text, which is how they are shown.
void document(RespWriter& out, const Argument& argument) {
  const FieldTraits& traits = traits_of(argument.field);
  const bool is_optional = argument.form == Form::kOptional || argument.form == Form::kAny;
  const bool repeats = argument.form == Form::kMany || argument.form == Form::kAny;
  const bool has_flags = is_optional || repeats;
  out.map(2 + (argument.is_option() ? 1U : 0U) + (has_flags ? 1U : 0U));
  out.field("name", traits.usage.empty() ? traits.label : traits.usage);
  out.field("type", type_of(traits.kind));
  if (argument.is_option()) out.field("token", argument.word);
  if (!has_flags) return;
  out.value("flags");
  out.array((is_optional ? 1U : 0U) + (repeats ? 1U : 0U));
  if (is_optional) out.simple("optional");
  if (repeats) out.simple("multiple");
}

void document(RespWriter& out, std::string_view name, const Verb* verb, absl::Span<const Verb* const> subcommands) {
  const bool has_arguments = verb != nullptr && !verb->arguments.empty();
  out.value(shown_name(name));
  out.map(3 + (has_arguments ? 1U : 0U) + (subcommands.empty() ? 0U : 1U));
  out.field("summary", verb != nullptr ? verb->summary : "Has subcommands.");
  out.field("since", tenure::kVersion);
  out.field("group", to_string(verb != nullptr ? verb->group : Group::kServer));
  if (has_arguments) {
    out.value("arguments");
    out.array(verb->arguments.size());
    for (const Argument& argument : verb->arguments) document(out, argument);
  }
  if (subcommands.empty()) return;
  out.value("subcommands");
  out.map(subcommands.size());
  for (const Verb* subcommand : subcommands) document(out, subcommand->name, subcommand, {});
}

}  // namespace

void write_reply(RespWriter& out, const Ping& request) {
  if (request.message) {
    out.value(*request.message);
  } else {
    out.simple("PONG");
  }
}

void write_reply(RespWriter& out, const Echo& request) { out.value(request.message); }

std::size_t command_count() { return commands().size(); }

void write_reply(RespWriter& out, CountCommands /*request*/) { out.value(command_count()); }

void write_reply(RespWriter& out, ListCommands /*request*/) { write_reply(out, DescribeCommands{}); }

void write_reply(RespWriter& out, const DescribeCommands& request) {
  if (request.names.empty()) {
    out.array(commands().size());
    for (const Command& command : commands()) describe(out, command.name, command.verb, command.subcommands);
    return;
  }
  out.array(request.names.size());
  for (const std::string_view name : request.names) {
    const bool is_known = find_command(name, [&](std::string_view found, const Verb* verb, auto subcommands) {
      describe(out, found, verb, subcommands);
    });
    if (!is_known) out.null();
  }
}

void write_reply(RespWriter& out, const DocumentCommands& request) {
  if (request.names.empty()) {
    out.map(commands().size());
    for (const Command& command : commands()) document(out, command.name, command.verb, command.subcommands);
    return;
  }
  const auto ignore = [](std::string_view, const Verb*, auto) {};
  const auto known = std::count_if(request.names.begin(), request.names.end(),
                                   [&](std::string_view name) { return find_command(name, ignore); });
  out.map(static_cast<std::size_t>(known));
  for (const std::string_view name : request.names) {
    find_command(name, [&](std::string_view found, const Verb* verb, auto subcommands) {
      document(out, found, verb, subcommands);
    });
  }
}

void write_greeting(RespWriter& out, std::uint64_t client_id, bool is_leading) {
  out.map(7);
  out.field("server", std::string_view("tenure"));
  out.field("version", tenure::kVersion);
  out.field("proto", static_cast<int>(out.protocol()));
  out.field("id", client_id);
  out.field("mode", std::string_view("standalone"));
  out.field("role", std::string_view(is_leading ? "master" : "replica"));
  out.value("modules");
  out.array(0);
}

void write_time(RespWriter& out, Instant now) {
  out.array(2);
  out.value(std::to_string(now.ms / 1000));
  out.value(std::to_string(now.ms % 1000 * 1000));
}

void write_role(RespWriter& out) {
  out.array(3);
  out.value("master");
  out.value(0);
  out.array(0);
}

// In Redis' words, since its clients ask.
void write_follower_role(RespWriter& out, const std::optional<std::string>& leader, std::uint64_t applied) {
  const std::string_view address = leader ? std::string_view(*leader) : ":0";
  const std::size_t colon = address.rfind(':');
  std::uint16_t port = 0;
  std::from_chars(address.data() + colon + 1, address.data() + address.size(), port);
  out.array(5);
  out.value("slave");
  out.value(address.substr(0, colon));
  out.value(port);
  out.value(leader ? "connected" : "connect");
  out.value(applied);
}

}  // namespace tenure::wire
