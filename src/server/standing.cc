#include "server/standing.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <unistd.h>

#include <fmt/format.h>

#include <tenure/version.h>

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
      "rejected_connections:{}\r\nbuffer_bytes:{}\r\n",
      standing.connections, standing.connections_max, standing.waiting, standing.accepted, standing.turned_away,
      standing.buffer_bytes);
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

// Goes back to the last star only, so its time is bounded by the product of the lengths.
bool matches(std::string_view pattern, std::string_view name) {
  std::size_t at = 0;
  std::size_t star = std::string_view::npos;
  std::size_t behind_star = 0;
  for (std::size_t i = 0; i < name.size();) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      behind_star = i;
    } else if (at < pattern.size() && (pattern[at] == '?' || lower(pattern[at]) == lower(name[i]))) {
      ++at;
      ++i;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      i = ++behind_star;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

}  // namespace tenure::server
