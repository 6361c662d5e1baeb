// A command of the program, and the choice of one. What its .cc files share that declare options.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>

#include "base/result.h"
#include "cli/desk.h"
#include "cli/duration.h"
#include "cli/errand.h"
#include "cli/place.h"

namespace tenure::cli {

// What was chosen; called once the command line is parsed. Answers the exit status.
using Chosen = std::function<int(const Desk& desk)>;

// The flags that every command has that asks an authority. They outlive the choice.
void add_place(CLI::App& app, PlaceOptions& place);

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
  // The same for one that asks an authority.
  void ask(Chosen& chosen, PlaceOptions& place, int (*run)(const Errand&, const Options&)) const {
    add_place(*app, place);
    app->callback([&chosen, &place, run, kept = options] {
      chosen = [&place, run, kept](const Desk& desk) {
        return run_errand(desk, place, [&](const Errand& errand) { return run(errand, *kept); });
      };
    });
  }
};

// A time, as duration.h reads it.
template <class Value>
CLI::Option* add_duration(CLI::App& app, const std::string& name, Value& value, const std::string& what) {
  return app
      .add_option_function<std::string>(
          name,
          [&value, name](const std::string& text) {
            const auto time = parse_duration(text);
            if (!time) throw CLI::ValidationError(name, time.error().message);
            value = *time;
          },
          what)
      ->type_name("TIME");
}

}  // namespace tenure::cli
