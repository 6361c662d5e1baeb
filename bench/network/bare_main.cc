// tenure-bare: what a durable server on this machine can do at best, for Tenure's cycles to be compared with.
#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "bare.h"

int main(int argc, char** argv) {
  std::string path;
  std::uint16_t port = 0;
  CLI::App app("Writes and syncs every request of RESP it gets, and says +OK.");
  app.add_option("--file", path, "made anew, 64 MiB")->required();
  app.add_option("--port", port, "at 127.0.0.1; 0 is any free one")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    tenure::bench::BareServer server(port, path);
    fmt::print("listening at 127.0.0.1:{}\n", server.port());
    std::fflush(stdout);
    server.run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "tenure-bare: {}\n", error.what());
    return 1;
  }
}
