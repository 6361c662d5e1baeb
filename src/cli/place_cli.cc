#include "cli/command.h"

namespace tenure::cli {

void add_place(CLI::App& app, PlaceOptions& place) {
  const auto add = [&](const char* name, std::optional<std::string>& value, const char* what, const char* type) {
    app.add_option_function<std::string>(
           name, [&value](const std::string& text) { value = text; }, what)
        ->type_name(type)
        ->group("Which authority");
  };
  add("--server", place.server, "The server; several of one authority with commas between [127.0.0.1:8368]",
      "HOST:PORT");
  add("--embedded", place.embedded, "No server: an authority in this process, on this data folder", "FOLDER");
  add("--user", place.user, "Who signs in; the password is asked for unless there is a file of it", "NAME");
  add("--password-file", place.password_file, "A file with the password in its first line", "FILE");
  add("--timeout", place.timeout, "For each answer [10s]; what waits has that beyond its own time", "TIME");
  add("--config", place.config, "A file of lines like `server = HOST:PORT` [~/.config/tenure.conf]", "FILE");
  app.add_flag("--json", place.json, "For programs: one JSON object a line, errors too (on standard error)");
}

}  // namespace tenure::cli
