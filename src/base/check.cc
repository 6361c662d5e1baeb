#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace tenure {

void check_failed(const char* file, int line, const char* condition, const std::string& found) {
  std::fprintf(stderr, "tenure: bug: %s:%d: expected %s; found: %s\n", file, line, condition, found.c_str());
  std::abort();
}

}  // namespace tenure
