// Where an authority can be: every suite over Places runs on both.
#pragma once

#include <memory>
#include <string>
#include <type_traits>

#include <gtest/gtest.h>

#include <tenure/authority.h>
#include <tenure/client.h>
#include "host.h"

namespace tenure::testing {

// An authority in this process.
struct Embedded {
  explicit Embedded(const Settings& settings = {}) : authority(Authority::in_memory(settings)) {}
  std::unique_ptr<Authority> authority;
};

// The same behind a server.
struct Remote {
  explicit Remote(const Settings& settings = {}) : host(settings), authority(Client::connect(host.address())) {}
  Host host;
  std::unique_ptr<Authority> authority;
};

class PlaceNames {
 public:
  template <class T>
  static std::string GetName(int /*index*/) {  // NOLINT(readability-identifier-naming): GoogleTest's
    return std::is_same_v<T, Embedded> ? "Embedded" : "Client";
  }
};
using Places = ::testing::Types<Embedded, Remote>;

}  // namespace tenure::testing
