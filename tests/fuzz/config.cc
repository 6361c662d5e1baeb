// The server's configuration file.
#include "server/config.h"

#include <cstdio>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"
#include "fuzz.h"

namespace tenure {

void fuzz(std::string_view input) {
  const int file = memfd_create("config", 0);
  TENURE_CHECK(file >= 0, "no memory for a file");
  TENURE_CHECK(write(file, input.data(), input.size()) == static_cast<ssize_t>(input.size()), "a short write");
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  const char* const words[] = {"tenured", "--config", path.c_str()};
  const auto config = server::read_config(3, words);
  if (const auto* farewell = std::get_if<server::Farewell>(&config)) {
    TENURE_CHECK(!farewell->text.empty(), "a refusal that says nothing");
  }
  close(file);
}

}  // namespace tenure
