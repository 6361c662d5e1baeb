// A command of the program, and the choice of one.
#pragma once

#include <functional>
#include <memory>

#include <CLI/CLI.hpp>

#include "base/result.h"
#include "cli/desk.h"

namespace tenure::cli {

// What was chosen; called once the command line is parsed. Answers the exit status.
using Chosen = std::function<int(const Desk& desk)>;

// A subcommand with options of its own, which live as long as the choice does.
template <class Options>
struct Command {
  CLI::App* app;
  std::shared_ptr<Options> options = std::make_shared<Options>();

  void choose(Chosen& chosen, Result<Done> (*run)(const Desk&, const Options&)) const {
    app->callback([&chosen, run, kept = options] {
      chosen = [run, kept](const Desk& desk) { return finish(desk, run(desk, *kept)); };
    });
  }
};

}  // namespace tenure::cli
