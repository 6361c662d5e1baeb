// What the tests of commands share that ask an authority: one in memory, and a desk.
#pragma once

#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/faulty_files.h"
#include "cli/errand.h"

namespace tenure::cli {

// One thread.
struct ErrandWorld {
  FaultyFiles files;
  SystemClock clock;
  SeededEntropy entropy{5};
  std::ostringstream out;
  std::ostringstream err;
  Desk desk{files, clock, entropy, out, err};
  std::unique_ptr<Authority> authority = Authority::in_memory();

  [[nodiscard]] Errand errand(bool json = false) {
    return {.desk = desk, .authority = *authority, .place = "memory", .json = json, .width = 80};
  }
  // What a command has written; the streams are empty then.
  std::string take_out() { return std::exchange(out, std::ostringstream()).str(); }
  std::string take_err() { return std::exchange(err, std::ostringstream()).str(); }
};

}  // namespace tenure::cli
