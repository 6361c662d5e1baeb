#include "cli/errand.h"

#include <optional>
#include <stdexcept>

#include "cli/password_prompt.h"
#include "cli/terminal.h"
#include "wire/json_writer.h"

namespace tenure::cli {
namespace {

std::string advice_of_no_server(const Place& place) {
  if (place.is_embedded()) return {};
  return fmt::format(
      "Is a server running at {}? Start one with `tenured --data DIR`, or name another with --server HOST:PORT or "
      "TENURE_SERVER. {}",
      place.name(),
      place.tls ? "It must speak TLS, with a certificate that --ca FILE has signed, for --server-name NAME."
                : "If it speaks TLS, say so with --tls or --ca FILE.");
}

std::string advice_of_no_sign_in(const Place& place) {
  if (place.user.empty() && place.password_file.empty()) {
    return "Sign in with --user NAME and --password-file FILE, or TENURE_USER and TENURE_PASSWORD_FILE. Users are made "
           "with `tenure user add`.";
  }
  return fmt::format("Check --user ('{}') and the password, which is the first line of {}.", place.user,
                     place.password_file.empty() ? "what was typed" : place.password_file);
}

std::string advice_of_no_permission(const Place& place) {
  return fmt::format(
      "Whoever keeps the server's users file can give the role: tenure user add --users FILE {} --role ROLE. "
      "docs/security.md tells what each may do.",
      place.user.empty() ? "NAME" : place.user);
}

int fail_with_advice(const Desk& desk, bool json, const Error& error, const Place& place) {
  const Advice advice = advise(error.code(), place);
  complain(desk, json, error.code(), error.what(), advice.text);
  return advice.status;
}

// A folder that is no journal is not a wrong command line.
int fail_to_open(const Desk& desk, bool json, const Error& error, const Place& place) {
  Advice advice = advise(error.code(), place);
  if (place.is_embedded()) {
    advice = {.status = error.code() == ErrorCode::kUnavailable ? kUnavailable : kFailed};
  } else if (place.tls && error.code() == ErrorCode::kInvalid) {
    advice.text = "--ca names tls.ca_file, --client-cert tls.certificate_file, --client-key tls.key_file.";
  }
  complain(desk, json, error.code(), error.what(), advice.text);
  return advice.status;
}

}  // namespace

Advice advise(ErrorCode code, const Place& place) {
  switch (code) {
    case ErrorCode::kErr:
    case ErrorCode::kInvalid:
    case ErrorCode::kTooLarge:
      return {kUsage};
    case ErrorCode::kNoTask:
      return {kNotFound,
              "Is the id right? `tenure list QUEUE` shows a queue's tasks. One that has ended is forgotten after a "
              "while (the server's --retention-ms); `tenure journal history DIR ID` may still know it."};
    case ErrorCode::kNotFound:
      return {kNotFound};
    case ErrorCode::kTaskExists:
      return {kRefused, "Leave --id out for a new one; --request-id makes it safe to submit again."};
    case ErrorCode::kTerminal:
      return {kRefused, "`tenure get ID` tells how it ended, `tenure resubmit ID` makes a new one like it."};
    case ErrorCode::kNotTerminal:
      return {kRefused, "`tenure wait ID` waits for its end, `tenure kill ID` ends it."};
    case ErrorCode::kNoLease:
    case ErrorCode::kTokenMismatch:
    case ErrorCode::kBacklogOrder:
    case ErrorCode::kExpired:
    case ErrorCode::kNotHeld:
      return {kRefused};
    case ErrorCode::kBackpressure:
      return {kNotNow, "Nothing was changed. Try again later; `tenure status` shows how full the server is."};
    case ErrorCode::kNoAuth:
      return {kNoPermission, advice_of_no_sign_in(place)};
    case ErrorCode::kNoPerm:
      return {kNoPermission, advice_of_no_permission(place)};
    case ErrorCode::kMoved:
    case ErrorCode::kUnavailable:
      return {kUnavailable, advice_of_no_server(place)};
    case ErrorCode::kNoProto:
      return {kFailed, "Use a tenure and a tenured of the same version."};
  }
  return {kFailed};
}

void complain(const Desk& desk, bool json, ErrorCode code, std::string_view message, std::string_view advice) {
  desk.out.flush();
  if (!json) {
    desk.err << "tenure: " << message << '\n';
    if (!advice.empty()) desk.err << "  " << advice << '\n';
    desk.err << std::flush;
    return;
  }
  std::string text;
  wire::JsonWriter out(text);
  out.begin_object();
  out.name("error");
  out.begin_object();
  out.field("code", to_string(code));
  out.bytes("message", message);
  if (!advice.empty()) out.field("advice", advice);
  out.end_object();
  out.end_object();
  desk.err << text << '\n' << std::flush;
}

int run_errand(const Desk& desk, const PlaceOptions& options, const std::function<int(const Errand&)>& run,
               const Signals* signals) {
  const auto place = find_place(desk.files, options, process_environment());
  if (!place) {
    complain(desk, options.json, place.error().code, place.error().message);
    return kUsage;
  }
  OpenPlace open;
  try {
    std::optional<EndOnSignal> impatience;
    if (signals != nullptr) impatience.emplace(*signals);
    open = open_place(desk, *place, ask_known_password);
  } catch (const Error& error) {
    return fail_to_open(desk, options.json, error, *place);
  }
  int status = kFailed;
  try {
    status = run({.desk = desk,
                  .authority = *open.authority,
                  .client = open.client,
                  .place = place->name(),
                  .json = options.json,
                  .colours = wants_colours(),
                  .width = terminal_size().columns});
  } catch (const Error& error) {
    return fail_with_advice(desk, options.json, error, *place);
  } catch (const std::invalid_argument& error) {
    complain(desk, options.json, ErrorCode::kInvalid, error.what());
    return kUsage;
  }
  const int written = finish(desk, Done{});
  return written == 0 ? status : written;
}

}  // namespace tenure::cli
