// Takes replies off the front of what a server has sent: the other half of resp_writer.h, for clients. RESP2 and RESP3.
//
//   reply = ("+" | "-" | ":" | "_") text CRLF | "$" length CRLF bytes CRLF | "*" count CRLF replies | "%" count CRLF
//   pairs
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tenure::wire {

// Immutable.
struct RespReply {
  enum class Kind : std::uint8_t { kSimple, kError, kInteger, kNull, kBulk, kArray, kMap };

  Kind kind = Kind::kNull;
  std::string text{};              // of all but null, array and map: as it was sent
  std::vector<RespReply> items{};  // of an array; of a map name, value, name, value, ...

  // The value under that name of a map; nullptr: none, or no map.
  [[nodiscard]] const RespReply* find(std::string_view name) const;
};

// Nullopt: not all of it is there yet. Otherwise the first reply of `bytes`, of which so many are done with. Fails for
// what is no reply, and for one that is nested too deeply.
struct FirstReply {
  RespReply reply;
  std::size_t consumed = 0;
};
Result<std::optional<FirstReply>> first_reply(std::string_view bytes);

}  // namespace tenure::wire
