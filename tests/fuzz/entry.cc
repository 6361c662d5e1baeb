#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tenure::fuzz({reinterpret_cast<const char*>(data), size});
  return 0;
}
