// Where an etcd cluster is, and where in it Tenure lives: etcd://[user@]host[:port],.../prefix, etcds:// with TLS.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tenure::etcd {

struct Place {
  std::vector<std::string> members;  // host:port, at least one
  std::string user;                  // empty: nobody signs in
  std::string prefix;                // of all keys, without slashes around it
  bool is_tls = false;

  bool operator==(const Place&) const = default;
  // As it is parsed.
  [[nodiscard]] std::string text() const;
};

// Whether this is meant to be one.
bool is_place(std::string_view text);
// Fails, as INVALID, with what was expected and what found.
Result<Place> parse_place(std::string_view text);

}  // namespace tenure::etcd
