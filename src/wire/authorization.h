// Who asks, as HTTP's Authorization says it: `Basic TOKEN` or `Bearer TOKEN`, where the token is the base64 of
// `name:password` for both. Pure.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "users/password.h"
#include "wire/requests.h"

namespace tenure::wire {

// A name and a password, kept no longer than needed. Movable.
class HttpCredentials {
 public:
  HttpCredentials(users::Secret text, std::size_t name_bytes) : text_(std::move(text)), name_bytes_(name_bytes) {}

  // It views this.
  [[nodiscard]] Credentials view() const {
    return {.user = text_.view().substr(0, name_bytes_), .password = text_.view().substr(name_bytes_ + 1)};
  }

 private:
  users::Secret text_;  // name:password
  std::size_t name_bytes_;
};

// The scheme in any case; the token with or without padding, in either alphabet of base64. Fails with NOAUTH, saying
// nothing of what was found.
Result<HttpCredentials> parse_authorization(std::string_view field);

}  // namespace tenure::wire
