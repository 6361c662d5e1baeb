// Where the authority is that a command asks, and who asks: by flags, by the environment, by a file; the first that
// says something counts, in this order.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tenure/authority.h>
#include <tenure/client.h>
#include <tenure/types.h>
#include "base/result.h"
#include "cli/desk.h"
#include "users/password.h"

namespace tenure::cli {

inline constexpr const char* kDefaultServer = "127.0.0.1:8368";

// What the flags say.
struct PlaceOptions {
  std::optional<std::string> server{};  // host:port; several with commas between
  std::optional<std::string> embedded{};
  std::optional<std::string> user{};
  std::optional<std::string> password_file{};
  bool tls = false;
  std::optional<std::string> ca{};
  std::optional<std::string> client_cert{};
  std::optional<std::string> client_key{};
  std::optional<std::string> server_name{};
  std::optional<std::string> config{};
  std::optional<std::string> timeout{};
  bool json = false;
};

// A variable of the environment; nullopt: not set, or empty.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
Environment process_environment();

struct Place {
  std::vector<std::string> servers{};  // none: the folder
  std::string folder{};
  std::string user{};
  std::string password_file{};
  std::optional<ClientTls> tls{};  // absent: plain text
  Millis timeout = std::chrono::seconds(10);

  [[nodiscard]] bool is_embedded() const { return servers.empty(); }
  // For messages: the address, or the folder.
  [[nodiscard]] std::string name() const;
};

// "host:port,host:port"; spaces around them do not count.
std::vector<std::string> split_addresses(std::string_view text);

// Fails, as INVALID, with what is wrong and where that stands.
Result<Place> find_place(Files& files, const PlaceOptions& options, const Environment& environment);

// An authority, which is a client's where there is a server.
struct OpenPlace {
  std::unique_ptr<Authority> authority{};
  Client* client = nullptr;  // the same; null: it is in this process
};

// Ask for a password if there is a user and no file of it. Throw what errors.h lists.
using AskPassword = std::function<Result<users::Secret>()>;
std::string read_password(const Desk& desk, const Place& place, const AskPassword& ask_password);
OpenPlace open_place(const Desk& desk, const Place& place, const AskPassword& ask_password);

}  // namespace tenure::cli
