#include <stdexcept>

#include <tenure/hazelcast.h>
#include "cli/lock_commands.h"
#include "cli/password_prompt.h"

namespace tenure::cli {
namespace {

hazelcast::Settings settings_of_cluster(const Desk& desk, const Place& place, const LockOptions& options) {
  hazelcast::Settings settings;
  settings.addresses = split_addresses(*options.hazelcast);
  settings.cluster = options.cluster;
  settings.user = place.user;
  settings.password = read_password(desk, place, ask_known_password);
  settings.name = "tenure-cli";
  settings.timeout = place.timeout;
  settings.tls = place.tls;
  return settings;
}

// Variables and the file are about Tenure: its passwords are not for others.
std::optional<std::string> nothing_set(const std::string& /*name*/) { return std::nullopt; }

std::string advice_of(ErrorCode code, const LockOptions& options) {
  if (code == ErrorCode::kUnavailable) {
    return fmt::format("Is there a member of a Hazelcast 5 at {}? Name others with --hazelcast HOST:PORT,HOST:PORT.",
                       *options.hazelcast);
  }
  if (code == ErrorCode::kNoAuth) {
    return fmt::format("Check --cluster ('{}'), and --user and the password if the cluster asks for them.",
                       options.cluster);
  }
  return {};
}

}  // namespace

int run_locked_on_hazelcast(const Desk& desk, const PlaceOptions& options, Signals& signals, const LockOptions& lock) {
  const auto tell = [&](ErrorCode code, std::string_view what) {
    complain(desk, options.json, code, what, advice_of(code, lock));
    return advise(code, {}).status;
  };
  if (options.server || options.embedded) {
    return tell(ErrorCode::kInvalid, "expected an authority or a Hazelcast cluster, found both");
  }
  const auto place = find_place(desk.files, options, nothing_set);
  if (!place) return tell(place.error().code, place.error().message);
  try {
    const auto locks = hazelcast::connect(settings_of_cluster(desk, *place, lock));
    return run_locked({.desk = desk, .locks = *locks, .json = options.json}, signals, lock);
  } catch (const Error& error) {
    return tell(error.code(), error.what());
  } catch (const std::invalid_argument& error) {
    return tell(ErrorCode::kInvalid, error.what());
  }
}

}  // namespace tenure::cli
