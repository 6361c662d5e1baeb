#include "cli/identity.h"

#include <array>
#include <unistd.h>

#include <fmt/format.h>

#include "base/text.h"

namespace tenure::cli {

std::string worker_name() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  const std::string name(host.data());
  return fmt::format("{}:{}", name.empty() || !is_clean(name) ? "unnamed" : name.substr(0, 100), ::getpid());
}

std::string process_name(Entropy& entropy) { return fmt::format("{}:{}", worker_name(), hex16(entropy.next())); }

}  // namespace tenure::cli
