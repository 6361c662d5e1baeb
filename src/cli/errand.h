// What a command goes to an authority for: the same, whether that is a server or in this process.
#pragma once

#include <functional>
#include <string>

#include <fmt/format.h>

#include <tenure/authority.h>
#include <tenure/client.h>
#include "cli/desk.h"
#include "cli/exit_status.h"
#include "cli/place.h"
#include "cli/signals.h"
#include "wire/replies.h"

namespace tenure::cli {

// All of it outlives the command.
struct Errand {
  const Desk& desk;
  Authority& authority;
  Client* client = nullptr;  // the authority, where it is a server's
  std::string place{};       // for messages
  bool json = false;
  bool colours = false;
  int width = 100;  // of what is drawn

  template <class... Args>
  void print(fmt::format_string<Args...> text, Args&&... args) const {
    desk.out << fmt::format(text, std::forward<Args>(args)...);
  }
  // One line, as HTTP answers the same. `nothing`: the verdict of an answer that is none.
  template <class Reply>
  void print_json(const Reply& reply, std::string_view nothing = {}) const {
    std::string text;
    wire::JsonWriter out(text);
    wire::write_json(out, reply, nothing);
    desk.out << text << '\n';
  }
};

// Opens what the options say and runs it; what is thrown is told, with what to do next. The exit status. Signals that
// `run` watches for end the process while there is nothing to run yet.
int run_errand(const Desk& desk, const PlaceOptions& options, const std::function<int(const Errand&)>& run,
               const Signals* signals = nullptr);

// The exit status of an error, and what to do about it.
struct Advice {
  int status = kFailed;
  std::string text{};
};
Advice advise(ErrorCode code, const Place& place);

// Tells what went wrong: as text, or as an object of JSON.
void complain(const Desk& desk, bool json, ErrorCode code, std::string_view message, std::string_view advice = {});

}  // namespace tenure::cli
