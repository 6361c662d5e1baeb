// A verb's arguments: lines of words, each read by the table of verbs.
#include <algorithm>
#include <vector>

#include "authority/validate.h"
#include "base/check.h"
#include "fuzz.h"
#include "wire/verbs.h"

namespace tenure {
namespace {

constexpr std::uint64_t kPayloadBytesMax = 64;

// The engine takes what a conversation puts for checked (Engine::put).
void check_limits(const wire::Request& request) {
  Settings settings;
  settings.payload_bytes_max = kPayloadBytesMax;
  std::visit(
      [&]<class T>(const T& asked) {
        if constexpr (wire::BookRequest<T>) {
          const auto fault = fault_in(wire::engine_request(asked), settings);
          TENURE_CHECK(!fault, "an argument out of its limits was let through: {}", fault->message);
        }
      },
      request);
}

}  // namespace

void fuzz(std::string_view input) {
  while (!input.empty()) {
    const std::string_view line = input.substr(0, input.find('\n'));
    std::vector<std::string_view> words;
    for (std::size_t at = 0; at <= line.size();) {
      const std::size_t end = std::min(line.find(' ', at), line.size());
      words.push_back(line.substr(at, end - at));
      at = end + 1;
    }
    if (const auto verb = wire::find_verb(words)) {
      wire::Request request;
      const auto fault = wire::read_request(**verb, words, kPayloadBytesMax, request);
      TENURE_CHECK(!fault || !fault->message.empty(), "a refusal that says nothing");
      if (!fault) check_limits(request);
    }
    input.remove_prefix(std::min(input.size(), line.size() + 1));
  }
}

}  // namespace tenure
