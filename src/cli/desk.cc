#include "cli/desk.h"

namespace tenure::cli {

int finish(const Desk& desk, const Result<Done>& result) {
  desk.out.flush();
  if (!result) {
    desk.err << "tenure: " << result.error().message << '\n' << std::flush;
  } else if (!desk.out) {
    desk.err << "tenure: standard output: expected to write all of it, found that it takes no more; is its disk full?"
             << '\n'
             << std::flush;
  }
  return result && desk.out ? 0 : 1;
}

}  // namespace tenure::cli
