#include "server/standing.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <unistd.h>
#include <variant>

#include <fmt/format.h>

#include <tenure/version.h>
#include "base/pattern.h"
#include "server/families.h"
#include "wire/json_writer.h"

namespace tenure::server {
namespace {

char lower(char letter) { return static_cast<char>(std::tolower(static_cast<unsigned char>(letter))); }

bool is_same(std::string_view one, std::string_view other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

// What a field says; INFO writes true as 1, and parts as a=1,b=2.
using Parts = std::vector<std::pair<std::string, double>>;
using Nodes = std::vector<NodeStanding::Peer>;
using Told = std::variant<std::string, std::uint64_t, bool, double, Parts, Nodes>;
struct Section {
  std::string_view name;
  std::vector<std::pair<std::string, Told>> fields;
};

std::uint64_t all_of(const ByBook& values) { return values.tasks + values.work + values.locks; }

std::uint64_t all_of(const QueuePage::Entry& tasks) {
  return tasks.waiting + tasks.delayed + tasks.leased + tasks.completed + tasks.failed + tasks.dead;
}

std::string role_of(const Standing& standing) {
  const bool follows = standing.node && standing.node->role != NodeStanding::Role::kLeader;
  return follows ? "slave" : "master";
}

Section cluster_section_of(const NodeStanding& node) {
  return {"Cluster",
          {{"node", node.self.resp},
           {"node_role", std::string(to_string(node.role))},
           {"leader", node.leader ? node.leader->resp : ""},
           {"leader_http", node.leader ? node.leader->http : ""},
           {"epoch", node.epoch},
           {"applied_frame", node.applied},
           {"lag_frames", node.lag},
           {"nodes", node.peers}}};
}

// What Redis' tools look for, and what is no number.
std::vector<Section> plain_sections_of(const Standing& standing) {
  return {
      {"Server",
       {{"tenure_version", std::string(kVersion)},
        {"process_id", static_cast<std::uint64_t>(::getpid())},
        {"uptime_in_seconds", static_cast<std::uint64_t>(standing.uptime.count() / 1000)},
        {"time_ms", static_cast<std::uint64_t>(standing.now.ms)},
        {"addresses", standing.addresses},
        {"http_addresses", standing.http_addresses},
        {"data", standing.folder},
        {"role", role_of(standing)},
        {"loading", standing.node && standing.node->role == NodeStanding::Role::kLoading},
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
       {{"state_bytes", all_of(standing.engine.bytes)},
        {"state_bytes_max", standing.state_bytes_max},
        {"tasks", all_of(standing.engine.tasks)},
        {"work_domains", standing.engine.domains},
        {"locks", standing.engine.locks},
        {"fence", standing.engine.fence}}},
      {"Journal",
       {{"durability", std::string("sync")}, {"durable_frame", standing.durable}, {"has_room", standing.has_room}}},
  };
}

// Clients take INFO apart at these.
std::string without_separators(std::string_view name) {
  std::string text;
  for (const char letter : name) {
    const bool separates = letter == ':' || letter == ',' || letter == '=' || letter == '%';
    text += separates ? fmt::format("%{:02X}", static_cast<unsigned char>(letter)) : std::string(1, letter);
  }
  return text;
}

// leases_granted for tenure_leases_granted_total; behind it the queue or the domain, if it is about one.
std::string field_of(const Family& family, const Family::Sample& sample) {
  std::string_view name = family.name;
  if (name.starts_with("tenure_")) name.remove_prefix(7);
  if (name.ends_with("_total")) name.remove_suffix(6);
  return sample.name.empty() ? std::string(name) : fmt::format("{}_{}", name, without_separators(sample.name));
}

// One part for each sample of a field: by its label, a histogram by its count and sum.
void add_parts(Parts& parts, const Family::Sample& sample) {
  const std::string label = sample.labels.empty() ? "" : std::string(sample.labels.front().second);
  if (sample.histogram == nullptr) {
    parts.emplace_back(label, sample.value);
    return;
  }
  const std::string begin = label.empty() ? "" : label + "_";
  parts.emplace_back(begin + "count", static_cast<double>(sample.histogram->count()));
  parts.emplace_back(begin + "sum", sample.histogram->sum());
}

void add_family(Section& section, const Family& family) {
  for (const Family::Sample& sample : family.samples) {
    std::string name = field_of(family, sample);
    auto field = std::find_if(section.fields.begin(), section.fields.end(),
                              [&](const auto& known) { return known.first == name; });
    if (sample.labels.empty() && sample.histogram == nullptr) {
      if (field == section.fields.end()) section.fields.emplace_back(std::move(name), sample.value);
      continue;
    }
    if (field == section.fields.end()) {
      section.fields.emplace_back(std::move(name), Parts());
      field = std::prev(section.fields.end());
    }
    add_parts(std::get<Parts>(field->second), sample);
  }
}

std::vector<Section> sections_of(const Standing& standing) {
  std::vector<Section> sections = plain_sections_of(standing);
  if (standing.node) sections.push_back(cluster_section_of(*standing.node));
  for (const Family& family : families_of(standing)) {
    if (family.name == "tenure_build_info") continue;
    auto section = std::find_if(sections.begin(), sections.end(),
                                [&](const Section& known) { return known.name == family.section; });
    if (section == sections.end()) section = sections.insert(sections.end(), {.name = family.section, .fields = {}});
    add_family(*section, family);
  }
  return sections;
}

std::string number_text(double value) {
  return value == std::floor(value) ? fmt::format("{:.0f}", value) : fmt::format("{}", value);
}

// One line each.
std::string node_lines(const Nodes& nodes) {
  std::string text;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    text +=
        fmt::format("node{}:address={},http={},role={},applied_frame={},lag_frames={}\r\n", i, nodes[i].address.resp,
                    nodes[i].address.http, to_string(nodes[i].role), nodes[i].applied, nodes[i].lag);
  }
  return text;
}

std::string info_line(std::string_view name, const Told& told) {
  if (const auto* text = std::get_if<std::string>(&told)) return fmt::format("{}:{}\r\n", name, *text);
  if (const auto* value = std::get_if<double>(&told)) return fmt::format("{}:{}\r\n", name, number_text(*value));
  if (const auto* parts = std::get_if<Parts>(&told)) {
    std::string text;
    for (const auto& [part, value] : *parts)
      text += fmt::format("{}{}={}", text.empty() ? "" : ",", part, number_text(value));
    return fmt::format("{}:{}\r\n", name, text);
  }
  if (const auto* nodes = std::get_if<Nodes>(&told)) return node_lines(*nodes);
  const auto* yes = std::get_if<bool>(&told);
  return fmt::format("{}:{}\r\n", name, yes != nullptr ? (*yes ? 1 : 0) : std::get<std::uint64_t>(told));
}

void put_nodes(wire::JsonWriter& out, std::string_view name, const Nodes& nodes) {
  out.name(name);
  out.begin_array();
  for (const NodeStanding::Peer& node : nodes) {
    out.begin_object();
    out.field("address", std::string_view(node.address.resp));
    out.field("http", std::string_view(node.address.http));
    out.field("role", to_string(node.role));
    out.field("applied_frame", node.applied);
    out.field("lag_frames", node.lag);
    out.end_object();
  }
  out.end_array();
}

// The name of a folder need not be text.
void put_told(wire::JsonWriter& out, std::string_view name, const Told& told) {
  if (const auto* text = std::get_if<std::string>(&told)) return out.bytes(name, *text);
  if (const auto* yes = std::get_if<bool>(&told)) return out.field(name, *yes);
  if (const auto* value = std::get_if<double>(&told)) return out.field(name, *value);
  if (const auto* parts = std::get_if<Parts>(&told)) {
    out.name(name);
    out.begin_object();
    for (const auto& [part, value] : *parts) out.field(part, value);
    out.end_object();
    return;
  }
  if (const auto* nodes = std::get_if<Nodes>(&told)) return put_nodes(out, name, *nodes);
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
