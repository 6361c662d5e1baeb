// tenured-planted: the server with the bug that TENURE_PLANT names.
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/planted.h"

namespace tenure {
namespace {

std::optional<PlantedBug> find_bug(std::string_view name) {
#define TENURE_X(symbol, text) \
  if (name == (text)) return PlantedBug::symbol;
  TENURE_PLANTED_IN_SERVER(TENURE_X)
  TENURE_X(kAnswerBeforeDurable, "answer_before_durable")
#undef TENURE_X
  return std::nullopt;
}

// A name that is none ends the program: it would pass for a server without bugs.
PlantedBug planted() {
  const char* const name = std::getenv("TENURE_PLANT");  // NOLINT(concurrency-mt-unsafe): nobody sets variables
  const auto bug = find_bug(name == nullptr ? "" : name);
  if (!bug) {
    std::fputs("tenured-planted: expected TENURE_PLANT to name a planted bug\n", stderr);
    std::abort();
  }
  return *bug;
}

}  // namespace

bool is_planted(PlantedBug bug) {
  static const PlantedBug the_one = planted();
  return bug == the_one;
}

}  // namespace tenure
