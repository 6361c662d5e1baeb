#include "tenured.h"

#include <unistd.h>

#include "base/check.h"

namespace tenure::testing {
namespace {

constexpr int kTries = 100;
constexpr std::string_view kMark = "listening protocol=resp address=127.0.0.1:";

}  // namespace

// A port that was just left may be somebody else's for a moment: then the server ends by itself.
void Tenured::start() {
  for (int i = 0; i < kTries; ++i) {
    if (try_start()) return;
  }
  TENURE_CHECK(false, "tenured does not start at port {}", port_);
}

bool Tenured::try_start() {
  std::vector<std::string> words = {TENURED,       "--data", folder_.path(), "--port", std::to_string(port_),
                                    "--http-port", "0"};
  words.insert(words.end(), words_.begin(), words_.end());
  process_.emplace(words, STDERR_FILENO);
  while (const auto line = process_->hear()) {
    const std::size_t at = line->find(kMark);
    if (at == std::string::npos) continue;
    port_ = static_cast<std::uint16_t>(std::stoi(line->substr(at + kMark.size())));
    process_->stop_listening();
    return true;
  }
  kill();
  return false;
}

}  // namespace tenure::testing
