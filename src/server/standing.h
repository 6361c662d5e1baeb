// How the server stands, as INFO and /v1/status tell it; and its settings, as CONFIG GET does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tenure/types.h>
#include "wire/requests.h"

namespace tenure::server {

struct Standing {
  std::string addresses;
  std::string http_addresses;
  std::string folder;
  Millis uptime{0};
  bool is_stopping = false;

  std::uint64_t connections = 0;
  std::uint64_t connections_max = 0;
  std::uint64_t waiting = 0;  // of them
  std::uint64_t accepted = 0;
  std::uint64_t turned_away = 0;
  std::uint64_t buffer_bytes = 0;
  std::uint64_t signed_in = 0;         // of the connections
  std::uint64_t refused_sign_ins = 0;  // ever

  std::uint64_t state_bytes = 0;
  std::uint64_t state_bytes_max = 0;
  std::uint64_t tasks = 0;
  std::uint64_t domains = 0;
  std::uint64_t locks = 0;
  std::uint64_t fence = 0;
  std::uint64_t durable = 0;  // the journal's last durable frame
  bool has_room = true;
};

// The sections named, in any case; all of them if none is, or `all`, `everything` or `default`.
std::string describe(const Standing& standing, wire::Words sections);
// All sections, as an object of objects.
std::string describe_json(const Standing& standing);

// A pattern with * and ?, in any case.
bool matches(std::string_view pattern, std::string_view name);

}  // namespace tenure::server
