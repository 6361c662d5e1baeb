// How the server stands, as INFO, /v1/status and /metrics tell it; and its settings, as CONFIG GET does.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tenure/errors.h>
#include <tenure/types.h>
#include "authority/figures.h"
#include "journal/journal.h"
#include "server/lock_figures.h"
#include "server/node.h"
#include "wire/requests.h"

namespace tenure::server {

inline constexpr std::array kErrorCodes = {
#define TENURE_X(symbol, word, meaning) ErrorCode::symbol,
    TENURE_ERROR_CODES(TENURE_X)
#undef TENURE_X
};

struct Standing {
  std::string addresses;
  std::string http_addresses;
  std::string folder;
  Millis uptime{0};
  Instant started_at;  // by the wall clock
  Instant now;         // by the authority's
  std::uint64_t restarts = 0;
  Millis replay_time{0};
  bool is_stopping = false;

  std::uint64_t connections = 0;
  std::uint64_t connections_max = 0;
  std::uint64_t waiting = 0;  // of them
  std::uint64_t accepted = 0;
  std::uint64_t turned_away = 0;
  std::uint64_t buffer_bytes = 0;
  std::uint64_t buffer_bytes_max = 0;
  std::uint64_t signed_in = 0;                              // of the connections
  std::uint64_t refused_sign_ins = 0;                       // ever
  std::array<std::uint64_t, kErrorCodes.size()> refused{};  // requests, by code

  std::uint64_t state_bytes_max = 0;
  EngineFigures engine;
  std::vector<DomainFigures> domains;  // of locks
  std::uint64_t durable = 0;           // the journal's last durable frame
  bool has_room = true;
  JournalFigures journal;
  std::optional<NodeStanding> node;  // among several
};

// The sections named, in any case; all of them if none is, or `all`, `everything` or `default`.
std::string describe(const Standing& standing, wire::Words sections);
// All sections, as an object of objects.
std::string describe_json(const Standing& standing);
// The same numbers in the text format that Prometheus reads.
std::string describe_metrics(const Standing& standing);

// A pattern with * and ?, in any case.
bool matches(std::string_view pattern, std::string_view name);

}  // namespace tenure::server
