#include "wire/openapi.h"

#include <algorithm>

#include <absl/strings/ascii.h>
#include <fmt/format.h>

#include <tenure/tasks.h>
#include <tenure/version.h>
#include "wire/json_writer.h"
#include "wire/named_arguments.h"
#include "wire/routes.h"
#include "wire/verbs.h"

namespace tenure::wire {
namespace {

// --- JSON's vocabulary of objects in objects ---

template <class Write>
void member(JsonWriter& out, std::string_view name, const Write& write) {
  out.name(name);
  out.begin_object();
  write();
  out.end_object();
}

template <class Write>
void members_of_array(JsonWriter& out, std::string_view name, const Write& write) {
  out.name(name);
  out.begin_array();
  write();
  out.end_array();
}

// --- arguments ---

void describe_string(JsonWriter& out, std::size_t least, std::size_t most) {
  out.field("type", "string");
  out.field("minLength", least);
  out.field("maxLength", most);
}

// That a lock's name has no `::` is left out: few generators of requests understand patterns that say so.
void describe_name(JsonWriter& out) {
  describe_string(out, 1, kNameBytesMax);
  out.field("pattern", R"(^[^\u0000-\u001f\u007f-\u009f]*$)");
}

void describe_integer(JsonWriter& out, const FieldTraits& traits) {
  out.field("type", "integer");
  out.field("format", "int64");
  out.field("minimum", traits.low);
  out.field("maximum", traits.high);
}

void describe_states(JsonWriter& out) {
  out.field("type", "string");
  members_of_array(out, "enum", [&] {
    for (int i = 0; i <= static_cast<int>(TaskState::kDead); ++i) out.value(to_string(static_cast<TaskState>(i)));
  });
}

void describe_queues(JsonWriter& out, const FieldTraits& traits) {
  out.field("type", "array");
  out.field("minItems", traits.low);
  out.field("maxItems", traits.high);
  member(out, "items", [&] { describe_name(out); });
}

// The limits of text are bytes, which JSON Schema cannot say: they are told in characters.
void describe_value(JsonWriter& out, const FieldTraits& traits) {
  switch (traits.kind) {
    case Kind::kName:
    case Kind::kLockName:
      return describe_name(out);
    case Kind::kToken:
      return describe_string(out, 0, kTokenBytesMax);
    case Kind::kReason:
      return describe_string(out, 0, kReasonBytesMax);
    case Kind::kInteger:
    case Kind::kBackoff:
      return describe_integer(out, traits);
    case Kind::kQueues:
      return describe_queues(out, traits);
    case Kind::kState:
      return describe_states(out);
    case Kind::kFlag:
      return out.field("type", "boolean");
    default:
      return out.field("type", "string");
  }
}

// The names of an argument in JSON, with what each is: one, of a backoff two, of bytes also that of their base64.
template <class Visit>
void for_each_name(const Argument& argument, const Visit& visit) {
  const FieldTraits& traits = traits_of(argument.field);
  const std::size_t blank = std::min(traits.json.find(' '), traits.json.size());
  visit(traits.json.substr(0, blank), false);
  if (blank < traits.json.size()) visit(traits.json.substr(blank + 1), false);
  if (is_bytes(traits.kind)) visit(fmt::format("{}{}", traits.json, kBase64Suffix), true);
}

using Path = std::vector<std::string_view>;

bool is_in_path(const Argument& argument, const Path& path) {
  return std::any_of(path.begin(), path.end(), [&](std::string_view segment) {
    return is_argument(segment) && argument_name(segment) == traits_of(argument.field).json;
  });
}

// Those that are neither in the path nor for connections that last.
std::vector<Argument> open_arguments(const Verb& verb, const Path& path) {
  std::vector<Argument> open;
  for (const Argument& argument : verb.arguments) {
    if (argument.field != Field::kBound && !is_in_path(argument, path)) open.push_back(argument);
  }
  return open;
}

// What a GET cannot do without is in its path.
void describe_parameter(JsonWriter& out, std::string_view name, const Argument& argument, bool is_path) {
  out.begin_object();
  out.field("name", name);
  out.field("in", is_path ? "path" : "query");
  out.field("required", is_path);
  member(out, "schema", [&] { describe_value(out, traits_of(argument.field)); });
  out.end_object();
}

void describe_parameters(JsonWriter& out, const Verb& verb, const Path& path) {
  members_of_array(out, "parameters", [&] {
    for (const Argument& argument : verb.arguments) {
      if (is_in_path(argument, path)) describe_parameter(out, traits_of(argument.field).json, argument, true);
    }
    if (verb.route.method != "GET") return;
    for (const Argument& argument : open_arguments(verb, path)) {
      for_each_name(argument, [&](std::string_view name, bool) { describe_parameter(out, name, argument, false); });
    }
  });
}

// Bytes that are required stand under one of their names.
void require_bytes(JsonWriter& out, const Argument& argument) {
  members_of_array(out, "oneOf", [&] {
    for_each_name(argument, [&](std::string_view name, bool) {
      out.begin_object();
      members_of_array(out, "required", [&] { out.value(name); });
      out.end_object();
    });
  });
}

void describe_members(JsonWriter& out, const std::vector<Argument>& arguments) {
  out.field("type", "object");
  out.field("additionalProperties", false);
  std::vector<std::string_view> required;
  for (const Argument& argument : arguments) {
    const FieldTraits& traits = traits_of(argument.field);
    if (argument.form != Form::kRequired) continue;
    if (is_bytes(traits.kind)) {
      require_bytes(out, argument);
    } else {
      required.push_back(traits.json);
    }
  }
  if (!required.empty()) {
    members_of_array(out, "required", [&] {
      for (const std::string_view name : required) out.value(name);
    });
  }
  member(out, "properties", [&] {
    for (const Argument& argument : arguments) {
      for_each_name(argument, [&](std::string_view name, bool is_base64) {
        member(out, name, [&] {
          if (!is_base64) return describe_value(out, traits_of(argument.field));
          out.field("type", "string");
          out.field("format", "byte");
        });
      });
    }
  });
}

void describe_body(JsonWriter& out, const Verb& verb, const Path& path) {
  const auto arguments = open_arguments(verb, path);
  const bool is_required = std::any_of(arguments.begin(), arguments.end(),
                                       [](const Argument& argument) { return argument.form == Form::kRequired; });
  member(out, "requestBody", [&] {
    out.field("required", is_required);
    member(out, "content", [&] {
      member(out, "application/json", [&] { member(out, "schema", [&] { describe_members(out, arguments); }); });
    });
  });
}

// --- answers ---

template <class Schema>
void describe_response(JsonWriter& out, std::string_view status, std::string_view meaning, const Schema& schema,
                       std::string_view content_type = "application/json") {
  member(out, status, [&] {
    out.field("description", meaning);
    member(out, "content", [&] {
      member(out, content_type, [&] {
        out.name("schema");
        schema();
      });
    });
  });
}

void describe_errors(JsonWriter& out) {
  const auto error = [&] {
    out.begin_object();
    out.field("$ref", "#/components/schemas/Error");
    out.end_object();
  };
  describe_response(out, "4XX", "What is wrong with the request, or with what it asks for.", error);
  describe_response(out, "5XX", "The server cannot answer now.", error);
}

void describe_error_schema(JsonWriter& out) {
  out.field("type", "object");
  out.field("additionalProperties", false);
  members_of_array(out, "required", [&] { out.value("error"); });
  member(out, "properties", [&] {
    member(out, "error", [&] {
      out.field("type", "object");
      out.field("additionalProperties", false);
      members_of_array(out, "required", [&] {
        out.value("code");
        out.value("message");
      });
      member(out, "properties", [&] {
        member(out, "code", [&] {
          out.field("type", "string");
          members_of_array(out, "enum", [&] {
#define TENURE_X(symbol, word, meaning) out.value(word);
            TENURE_ERROR_CODES(TENURE_X)
#undef TENURE_X
          });
        });
        member(out, "message", [&] { out.field("type", "string"); });
      });
    });
  });
}

// --- routes ---

// task_submit; behind it what tells the longer of two paths from the shorter.
std::string operation_id(const Verb& verb, bool is_longer) {
  std::string id(verb.name);
  absl::AsciiStrToLower(&id);
  std::replace(id.begin(), id.end(), '.', '_');
  return is_longer ? id + "_by_path" : id;
}

std::string operation_id(const ServerPage& page) {
  std::string id(segments_of(page.path).back());
  std::replace(id.begin(), id.end(), '.', '_');
  return "get_" + (id.empty() ? "console" : id);
}

void describe_verb(JsonWriter& out, const Verb& verb, std::string_view path) {
  const Path segments = segments_of(path);
  member(out, verb.route.method == "GET" ? "get" : "post", [&] {
    out.field("operationId", operation_id(verb, path == verb.route.longer_path));
    out.field("summary", verb.summary);
    members_of_array(out, "tags", [&] { out.value(to_string(verb.group)); });
    describe_parameters(out, verb, segments);
    if (verb.route.method != "GET") describe_body(out, verb, segments);
    member(out, "responses", [&] {
      describe_response(out, "200", fmt::format("What {} answers.", verb.name), [&] { verb.reply_schema(out); });
      describe_errors(out);
    });
  });
}

// As browsers' EventSource reads it, and asks again.
void describe_events(JsonWriter& out) {
  members_of_array(out, "parameters", [&] {
    out.begin_object();
    out.field("name", "Last-Event-ID");
    out.field("in", "header");
    out.field("required", false);
    out.field("description", "The id of the last event that was seen: the stream goes on behind it.");
    member(out, "schema", [&] {
      out.field("type", "string");
      out.field("pattern", "^[0-9]{1,19}(\\.[0-9]{1,9})?$");
    });
    out.end_object();
  });
  member(out, "responses", [&] {
    member(out, "200", [&] {
      out.field("description", "Server-sent events, without an end.");
      member(out, "content", [&] {
        member(out, "text/event-stream", [&] { member(out, "schema", [&] { out.field("type", "string"); }); });
      });
    });
    describe_errors(out);
  });
}

void describe_page(JsonWriter& out, const ServerPage& page) {
  member(out, page.path, [&] {
    member(out, "get", [&] {
      out.field("operationId", operation_id(page));
      out.field("summary", page.summary);
      members_of_array(out, "tags", [&] { out.value("server"); });
      if (page.subject == ServerPage::Subject::kEvents) return describe_events(out);
      member(out, "responses", [&] {
        const auto schema = [&] {
          out.begin_object();
          out.field("type", page.content_type == "application/json" ? "object" : "string");
          out.end_object();
        };
        describe_response(out, "200", "As the summary says.", schema, page.content_type);
        describe_errors(out);
      });
    });
  });
}

// Verbs that share a path stand together.
void describe_paths(JsonWriter& out) {
  std::vector<std::pair<std::string_view, std::vector<const Verb*>>> paths;
  for (const Verb* verb : all_verbs()) {
    for (const std::string_view path : {verb->route.path, verb->route.longer_path}) {
      if (path.empty()) continue;
      auto known = std::find_if(paths.begin(), paths.end(), [&](const auto& entry) { return entry.first == path; });
      if (known == paths.end()) known = paths.insert(paths.end(), {path, {}});
      known->second.push_back(verb);
    }
  }
  for (const auto& [path, verbs] : paths) {
    member(out, path, [&] {
      for (const Verb* verb : verbs) describe_verb(out, *verb, path);
    });
  }
  for (const ServerPage& page : server_pages()) describe_page(out, page);
}

}  // namespace

const std::string& openapi_document() {
  static const std::string document = [] {
    std::string text;
    JsonWriter out(text);
    out.begin_object();
    out.field("openapi", "3.0.3");
    member(out, "info", [&] {
      out.field("title", "Tenure");
      out.field("version", tenure::kVersion);
      out.field("description", "A lease authority: tasks, work leases and locks. docs/protocol.md tells the rest.");
      member(out, "license", [&] { out.field("name", "Apache-2.0"); });
    });
    member(out, "paths", [&] { describe_paths(out); });
    member(out, "components",
           [&] { member(out, "schemas", [&] { member(out, "Error", [&] { describe_error_schema(out); }); }); });
    out.end_object();
    return text;
  }();
  return document;
}

}  // namespace tenure::wire
