#include "server/standing.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <unistd.h>

#include <fmt/format.h>

#include <tenure/version.h>
#include "base/pattern.h"

namespace tenure::server {
namespace {

char lower(char letter) { return static_cast<char>(std::tolower(static_cast<unsigned char>(letter))); }

bool is_same(std::string_view one, std::string_view other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

using Section = std::pair<std::string_view, std::string (*)(const Standing&)>;

std::string server_section(const Standing& standing) {
  return fmt::format(
      "tenure_version:{}\r\nprocess_id:{}\r\nuptime_in_seconds:{}\r\naddresses:{}\r\ndata:{}\r\nrole:master\r\n"
      "loading:0\r\nstopping:{}\r\n",
      kVersion, ::getpid(), standing.uptime.count() / 1000, standing.addresses, standing.folder,
      standing.is_stopping ? 1 : 0);
}

std::string clients_section(const Standing& standing) {
  return fmt::format(
      "connected_clients:{}\r\nmaxclients:{}\r\nblocked_clients:{}\r\ntotal_connections_received:{}\r\n"
      "rejected_connections:{}\r\nbuffer_bytes:{}\r\nsigned_in_clients:{}\r\nrefused_sign_ins:{}\r\n",
      standing.connections, standing.connections_max, standing.waiting, standing.accepted, standing.turned_away,
      standing.buffer_bytes, standing.signed_in, standing.refused_sign_ins);
}

std::string state_section(const Standing& standing) {
  return fmt::format("state_bytes:{}\r\nstate_bytes_max:{}\r\ntasks:{}\r\nwork_domains:{}\r\nlocks:{}\r\nfence:{}\r\n",
                     standing.state_bytes, standing.state_bytes_max, standing.tasks, standing.domains, standing.locks,
                     standing.fence);
}

std::string journal_section(const Standing& standing) {
  return fmt::format("durability:sync\r\ndurable_frame:{}\r\nhas_room:{}\r\n", standing.durable,
                     standing.has_room ? 1 : 0);
}

constexpr std::array<Section, 4> kSections = {
    {{"Server", server_section}, {"Clients", clients_section}, {"State", state_section}, {"Journal", journal_section}}};

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
  for (const auto& [name, section] : kSections) {
    if (!is_wanted(name, sections)) continue;
    if (!text.empty()) text += "\r\n";
    text += fmt::format("# {}\r\n{}", name, section(standing));
  }
  return text;
}

bool matches(std::string_view pattern, std::string_view name) {
  return matches_pattern(pattern, name, [](char a, char b) { return lower(a) == lower(b); });
}

}  // namespace tenure::server
