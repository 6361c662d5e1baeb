#include "wire_answers.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "answers.h"

namespace tenure::scenario {
namespace {

using wire::RespReply;
using Form = WireVerb::Form;
using Kind = RespReply::Kind;

const std::vector<WireVerb>& wire_verbs() {
  static const std::vector<std::string_view> kTask = {"task_id"};
  static const std::vector<std::string_view> kLock = {"domain", "identifier"};
  static const std::vector<WireVerb> verbs = {
      {"submit", "TASK.SUBMIT"},
      {"lease", "TASK.LEASE", Form::kMaps, {"lease_id", "=", "task_id"}},
      {"extend", "TASK.EXTEND", Form::kFields, {"", "expires_at", "remaining_ms"}},
      {"complete", "TASK.COMPLETE"},
      {"fail", "TASK.FAIL"},
      {"kill", "TASK.KILL"},
      {"resubmit", "TASK.RESUBMIT"},
      {"get", "TASK.GET", Form::kMap, kTask},
      {"history", "TASK.HISTORY", Form::kMaps, {"attempt", "outcome"}},
      {"wait", "TASK.WAIT", Form::kMap, kTask},
      {"list", "TASK.LIST", Form::kPage, {"task_id", "state"}},
      {"queues", "QUEUE.LIST", Form::kPage, {"queue"}},
      {"pause", "QUEUE.PAUSE"},
      {"resume", "QUEUE.RESUME"},
      {"workers", "WORKER.LIST", Form::kPage, {"worker"}},
      {"work.acquire", "WORK.ACQUIRE", Form::kFields, {"", "", "fence", "acquired_at", "retry_count", "remaining_ms"}},
      {"work.succeed", "WORK.SUCCEED"},
      {"work.fail", "WORK.FAIL"},
      {"work.extend", "WORK.EXTEND", Form::kFields, {"", "expires_at", "remaining_ms"}},
      {"work.trim", "WORK.TRIM"},
      {"work.inspect", "WORK.INSPECT", Form::kMap, {"domain", "state"}},
      {"work.backlog", "WORK.BACKLOG", Form::kValues},
      {"work.failed", "WORK.FAILED", Form::kValues},
      {"work.done", "WORK.DONE", Form::kIntervals},
      {"work.list", "WORK.LIST", Form::kValues, {}, false},
      {"lock.acquire", "LOCK.ACQUIRE", Form::kFields, {"", "fence", "remaining_ms", "holds"}},
      {"lock.release", "LOCK.RELEASE"},
      {"lock.extend", "LOCK.EXTEND", Form::kFields, {"fence", "remaining_ms"}},
      {"lock.force", "LOCK.FORCE"},
      {"lock.get", "LOCK.GET", Form::kMap, kLock},
      {"lock.list", "LOCK.LIST", Form::kPage, kLock, false},
  };
  return verbs;
}

std::optional<std::string> text_of(const RespReply& value) {
  if (value.kind == Kind::kNull) return std::nullopt;
  return value.text;
}

bool is_map_shown_as_lock(const WireVerb& verb) { return verb.fields.size() == 2 && verb.fields[1] == "identifier"; }

const RespReply& value_under(const RespReply& map, std::string_view name) {
  const RespReply* value = map.find(name);
  if (value == nullptr) throw ScriptError(fmt::format("the reply has no field {}", name));
  return *value;
}

AnswerField field_of(const RespReply& name, const RespReply& value) {
  if (name.text == "paused") return named(name.text, value.text == "1" ? "true" : "false");
  return {name.text, text_of(value)};
}

AnswerLine line_of(const WireVerb& verb, const RespReply& map) {
  AnswerLine line;
  if (is_map_shown_as_lock(verb)) {
    line.push_back(
        named("", fmt::format("{}::{}", value_under(map, "domain").text, value_under(map, "identifier").text)));
  } else {
    for (const std::string_view name : verb.fields) {
      line.push_back(name == "=" ? named("", name) : AnswerField{"", text_of(value_under(map, name))});
    }
  }
  for (std::size_t i = 0; i + 1 < map.items.size(); i += 2) {
    const bool is_shown = std::find(verb.fields.begin(), verb.fields.end(), map.items[i].text) != verb.fields.end();
    if (!is_shown) line.push_back(field_of(map.items[i], map.items[i + 1]));
  }
  return line;
}

AnswerLine line_of_words(const RespReply& reply) {
  if (reply.kind != Kind::kArray) return plain_line(reply.text);
  AnswerLine line;
  for (const RespReply& item : reply.items) line.push_back(named("", item.text));
  return line;
}

// ENQUEUED is the one array of two whose second value has a name.
AnswerLine line_of_fields(const WireVerb& verb, const RespReply& reply) {
  AnswerLine line;
  const bool is_place = !reply.items.empty() && reply.items.front().text == "ENQUEUED";
  for (std::size_t i = 0; i < reply.items.size(); ++i) {
    const std::string_view name = is_place && i == 1 ? "position" : verb.fields.at(i);
    line.push_back({std::string(name), text_of(reply.items[i])});
  }
  return line;
}

AnswerLine line_of_item(const WireVerb& verb, const RespReply& item) {
  switch (verb.form) {
    case Form::kValues:
      return plain_line(item.text);
    case Form::kIntervals:
      return plain_line(fmt::format("{}..{}", item.items.at(0).text, item.items.at(1).text));
    default:
      return line_of(verb, item);
  }
}

Answer answer_of_items(const WireVerb& verb, const std::vector<RespReply>& items) {
  std::vector<AnswerLine> lines;
  lines.reserve(items.size());
  for (const RespReply& item : items) lines.push_back(line_of_item(verb, item));
  return list_of(std::move(lines));
}

}  // namespace

const WireVerb* find_wire_verb(std::string_view verb) {
  const auto& all = wire_verbs();
  const auto found = std::find_if(all.begin(), all.end(), [&](const WireVerb& other) { return other.verb == verb; });
  return found == all.end() ? nullptr : &*found;
}

// The wire wants to know how many queues there are; a session is the connection's.
std::vector<std::string> request_words(const WireVerb& verb, const Command& command) {
  std::vector<std::string> words = {std::string(verb.name)};
  words.insert(words.end(), command.words.begin(), command.words.end());
  if (verb.verb == "lease" && words.size() > 1) {
    static constexpr std::array<std::string_view, 4> kOptions = {"COUNT", "LEASE", "BLOCK", "REQUEST"};
    const auto first = words.begin() + 2;
    const auto options = std::find_first_of(first, words.end(), kOptions.begin(), kOptions.end());
    words.insert(first, std::to_string(options - first));
  }
  const auto bound = std::find(words.begin(), words.end(), "BOUND");
  if (verb.verb == "lock.acquire" && bound != words.end()) words.erase(bound + 1);
  return words;
}

std::string request_bytes(const std::vector<std::string>& words) {
  std::string bytes = fmt::format("*{}\r\n", words.size());
  for (const std::string& word : words) bytes += fmt::format("${}\r\n{}\r\n", word.size(), word);
  return bytes;
}

Answer answer_of(const WireVerb& verb, const RespReply& reply) {
  if (reply.kind == Kind::kError) return say("-" + reply.text);
  if (reply.kind == Kind::kNull) return say("nil");
  switch (verb.form) {
    case Form::kWords:
      return one_line(line_of_words(reply));
    case Form::kFields:
      return one_line(line_of_fields(verb, reply));
    case Form::kMap:
      return one_line(line_of(verb, reply));
    case Form::kMaps:
      return answer_of_items(verb, reply.items);
    case Form::kPage:
    case Form::kValues:
    case Form::kIntervals:
      break;
  }
  Answer answer = answer_of_items(verb, reply.items.at(1).items);
  answer.cursor = reply.items.at(0).text;
  answer.in_order = verb.in_order;
  return answer;
}

}  // namespace tenure::scenario
