#include "core/lease.h"

#include <fmt/core.h>

#include "base/text.h"

namespace tenure {

std::string Token::text() const { return fmt::format("{}-{:016x}", fence.value, secret); }

std::optional<Token> Token::parse(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto fence = parse_decimal(text.substr(0, dash));
  const auto secret = parse_hex16(text.substr(dash + 1));
  if (!fence || !secret) return std::nullopt;
  return Token{Fence{*fence}, *secret};
}

}  // namespace tenure
