#include "wire/authorization.h"

#include <algorithm>
#include <string>

#include "base/text.h"
#include "wire/word.h"

namespace tenure::wire {
namespace {

// As parse_base64 wants it.
std::string with_usual_digits(std::string_view token) {
  while (token.ends_with('=')) token.remove_suffix(1);
  std::string usual(token);
  std::replace(usual.begin(), usual.end(), '-', '+');
  std::replace(usual.begin(), usual.end(), '_', '/');
  usual.resize((usual.size() + 3) / 4 * 4, '=');
  return usual;
}

}  // namespace

Result<HttpCredentials> parse_authorization(std::string_view field) {
  const std::size_t blank = std::min(field.find(' '), field.size());
  const std::string_view scheme = field.substr(0, blank);
  std::string_view token = field.substr(blank);
  while (token.starts_with(' ')) token.remove_prefix(1);
  if (is_word(scheme, "BASIC") || is_word(scheme, "BEARER")) {
    const auto decoded = parse_base64(with_usual_digits(token));
    const std::size_t colon = decoded ? decoded->find(':') : std::string::npos;
    if (colon != std::string::npos) return HttpCredentials(users::Secret(*decoded), colon);
  }
  return fail_with(ErrorCode::kNoAuth,
                   "Authorization: expected Basic or Bearer, and name:password in base64; found something else");
}

}  // namespace tenure::wire
