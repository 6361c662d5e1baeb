#include "etcd/keys.h"

#include <algorithm>

#include "base/text.h"

namespace tenure::etcd {
namespace {

constexpr std::size_t kDigits = 20;

}  // namespace

std::optional<std::uint64_t> Keys::number_of(std::string_view key) {
  if (key.size() <= kDigits || key[key.size() - kDigits - 1] != '/') return std::nullopt;
  std::string_view digits = key.substr(key.size() - kDigits);
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), kDigits - 1));
  return parse_decimal(digits);
}

}  // namespace tenure::etcd
