#include "expect.h"

#include <cstddef>
#include <stdexcept>
#include <string>

#include <fmt/core.h>

namespace tenure::bench {
namespace {

constexpr std::size_t kShownBytes = 200;

std::string printable(std::string_view bytes) {
  std::string text;
  for (const char c : bytes.substr(0, kShownBytes)) {
    if (c >= ' ' && c <= '~') {
      text += c;
    } else {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  if (bytes.size() > kShownBytes) text += fmt::format("... ({} B)", bytes.size());
  return text;
}

}  // namespace

void unexpected(std::string_view wanted, std::string_view found) {
  throw std::runtime_error(fmt::format("expected {}, found \"{}\"", wanted, printable(found)));
}

}  // namespace tenure::bench
