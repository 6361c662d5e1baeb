#include "server/standing.h"

#include <algorithm>
#include <cctype>
#include <unistd.h>
#include <variant>

#include <fmt/format.h>

#include <tenure/version.h>
#include "base/pattern.h"
#include "wire/json_writer.h"

namespace tenure::server {
namespace {

char lower(char letter) { return static_cast<char>(std::tolower(static_cast<unsigned char>(letter))); }

bool is_same(std::string_view one, std::string_view other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

// What a field says; INFO writes true as 1.
using Told = std::variant<std::string, std::uint64_t, bool>;
struct Section {
  std::string_view name;
  std::vector<std::pair<std::string_view, Told>> fields;
};

std::vector<Section> sections_of(const Standing& standing) {
  return {
      {"Server",
       {{"tenure_version", std::string(kVersion)},
        {"process_id", static_cast<std::uint64_t>(::getpid())},
        {"uptime_in_seconds", static_cast<std::uint64_t>(standing.uptime.count() / 1000)},
        {"addresses", standing.addresses},
        {"http_addresses", standing.http_addresses},
        {"data", standing.folder},
        {"role", std::string("master")},
        {"loading", false},
        {"stopping", standing.is_stopping}}},
      {"Clients",
       {{"connected_clients", standing.connections},
        {"maxclients", standing.connections_max},
        {"blocked_clients", standing.waiting},
        {"total_connections_received", standing.accepted},
        {"rejected_connections", standing.turned_away},
        {"buffer_bytes", standing.buffer_bytes},
        {"signed_in_clients", standing.signed_in},
        {"refused_sign_ins", standing.refused_sign_ins}}},
      {"State",
       {{"state_bytes", standing.state_bytes},
        {"state_bytes_max", standing.state_bytes_max},
        {"tasks", standing.tasks},
        {"work_domains", standing.domains},
        {"locks", standing.locks},
        {"fence", standing.fence}}},
      {"Journal",
       {{"durability", std::string("sync")}, {"durable_frame", standing.durable}, {"has_room", standing.has_room}}},
  };
}

std::string info_line(std::string_view name, const Told& told) {
  if (const auto* text = std::get_if<std::string>(&told)) return fmt::format("{}:{}\r\n", name, *text);
  const auto* yes = std::get_if<bool>(&told);
  return fmt::format("{}:{}\r\n", name, yes != nullptr ? (*yes ? 1 : 0) : std::get<std::uint64_t>(told));
}

// The name of a folder need not be text.
void put_told(wire::JsonWriter& out, std::string_view name, const Told& told) {
  if (const auto* text = std::get_if<std::string>(&told)) return out.bytes(name, *text);
  if (const auto* yes = std::get_if<bool>(&told)) return out.field(name, *yes);
  out.field(name, std::get<std::uint64_t>(told));
}

bool is_wanted(std::string_view name, wire::Words sections) {
  if (sections.empty()) return true;
  return std::any_of(sections.begin(), sections.end(), [&](std::string_view wanted) {
    return is_same(wanted, name) || is_same(wanted, "all") || is_same(wanted, "everything") ||
           is_same(wanted, "default");
  });
}

}  // namespace

std::string describe(const Standing& standing, wire::Words sections) {
  std::string text;
  for (const auto& [name, fields] : sections_of(standing)) {
    if (!is_wanted(name, sections)) continue;
    if (!text.empty()) text += "\r\n";
    text += fmt::format("# {}\r\n", name);
    for (const auto& [field, told] : fields) text += info_line(field, told);
  }
  return text;
}

std::string describe_json(const Standing& standing) {
  std::string text;
  wire::JsonWriter out(text);
  out.begin_object();
  for (const auto& [name, fields] : sections_of(standing)) {
    std::string lower_name(name);
    std::transform(lower_name.begin(), lower_name.end(), lower_name.begin(), lower);
    out.name(lower_name);
    out.begin_object();
    for (const auto& [field, told] : fields) put_told(out, field, told);
    out.end_object();
  }
  out.end_object();
  return text;
}

bool matches(std::string_view pattern, std::string_view name) {
  return matches_pattern(pattern, name, [](char a, char b) { return lower(a) == lower(b); });
}

}  // namespace tenure::server
