// The speeches of peers that speak RESP.
#pragma once

#include <cstddef>
#include <string_view>

#include "resp.h"
#include "speech.h"

namespace tenure::bench {

class RespSpeech : public Speech {
 public:
  [[nodiscard]] std::size_t find_end(std::string_view input) const final { return find_resp_end(input); }
};

}  // namespace tenure::bench
