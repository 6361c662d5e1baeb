// What the fuzzers share. Each file of this folder is one fuzzer: `fuzz(input)` takes any bytes, and whatever they are,
// nothing may crash, hang, or be kept in memory beyond what arrived; what can be checked beyond that, it checks.
//
// With `make fuzz` libFuzzer calls it with bytes of its own making; in `make test` corpus.cc calls it with every file
// in corpus/<fuzzer>, where what was once found stays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tenure {

void fuzz(std::string_view input);

}  // namespace tenure

// The name that libFuzzer calls.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
