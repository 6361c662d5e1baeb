#include "cli/place.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "base/whole_file.h"
#include "cli/duration.h"

namespace tenure::cli {
namespace {

constexpr std::uint64_t kConfigBytesMax = 64 << 10;
constexpr std::uint64_t kPasswordFileBytesMax = 4 << 10;
// A server that does not answer is found out sooner than an answer is given up.
constexpr Millis kConnectPatience = std::chrono::seconds(3);

constexpr const char* kKeys[] = {"server", "embedded",    "user",       "password-file", "tls",
                                 "ca",     "client-cert", "client-key", "server-name",   "timeout"};

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// TENURE_PASSWORD_FILE for password-file.
std::string variable_for(std::string key) {
  for (char& letter : key) letter = letter == '-' ? '_' : static_cast<char>(letter - ('a' - 'A'));
  return "TENURE_" + key;
}

using Lines = std::map<std::string, std::string, std::less<>>;

// Lines `key = value`; blank ones and those behind # count for nothing.
Result<Lines> parse_config(const std::string& path, std::string_view text) {
  Lines found;
  int number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || line.front() == '#') continue;
    const std::size_t equals = line.find('=');
    const std::string key(trimmed(line.substr(0, equals)));
    const bool is_known = std::find(std::begin(kKeys), std::end(kKeys), key) != std::end(kKeys);
    if (equals == std::string_view::npos || !is_known) {
      return fail_with(ErrorCode::kInvalid, "{}, line {}: expected `key = value`, the key one of {}; found '{}'", path,
                       number, fmt::join(kKeys, ", "), line);
    }
    std::string_view value = trimmed(line.substr(equals + 1));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    found[key] = value;
  }
  return found;
}

// The file that is named must be there; the usual one need not.
Result<Lines> read_config_file(Files& files, const PlaceOptions& options, const Environment& environment) {
  std::optional<std::string> path = options.config ? options.config : environment("TENURE_CLIENT_CONFIG");
  const bool is_named = path.has_value();
  if (!is_named) {
    if (const auto folder = environment("XDG_CONFIG_HOME")) path = *folder + "/tenure.conf";
    const auto home = environment("HOME");
    if (!path && home) path = *home + "/.config/tenure.conf";
    if (!path || !files.exists(*path)) return Lines{};
  }
  auto text = read_whole(files, *path, kConfigBytesMax);
  if (!text) return fail_with(ErrorCode::kInvalid, "{}", text.error().message);
  return parse_config(*path, *text);
}

// Looks a key up where the flag has said nothing.
class Sources {
 public:
  Sources(const Environment& environment, const Lines& file) : environment_(environment), file_(file) {}

  [[nodiscard]] std::optional<std::string> find(const std::optional<std::string>& flag, const std::string& key) const {
    if (flag) return flag;
    if (auto value = environment_(variable_for(key))) return value;
    return in_file(key);
  }
  [[nodiscard]] std::optional<std::string> in_environment(const std::string& key) const {
    return environment_(variable_for(key));
  }
  [[nodiscard]] std::optional<std::string> in_file(const std::string& key) const {
    const auto line = file_.find(key);
    return line == file_.end() ? std::nullopt : std::optional(line->second);
  }

 private:
  const Environment& environment_;
  const Lines& file_;
};

}  // namespace

std::vector<std::string> split_addresses(std::string_view text) {
  std::vector<std::string> servers;
  while (true) {
    const std::size_t comma = text.find(',');
    if (const auto one = trimmed(text.substr(0, comma)); !one.empty()) servers.emplace_back(one);
    if (comma == std::string_view::npos) return servers;
    text.remove_prefix(comma + 1);
  }
}

namespace {

// A server or a folder: of one source, before the next one is looked at.
Result<Done> choose_authority(Place& place, const PlaceOptions& options, const Sources& sources) {
  using Pair = std::pair<std::optional<std::string>, std::optional<std::string>>;
  const Pair pairs[] = {{options.server, options.embedded},
                        {sources.in_environment("server"), sources.in_environment("embedded")},
                        {sources.in_file("server"), sources.in_file("embedded")}};
  for (const auto& [server, folder] : pairs) {
    if (server && folder) {
      return fail_with(ErrorCode::kInvalid, "expected a server or an embedded authority, found both: {} and {}",
                       *server, *folder);
    }
    if (folder) {
      place.folder = *folder;
      return Done{};
    }
    if (server) {
      place.servers = split_addresses(*server);
      if (place.servers.empty()) {
        return fail_with(ErrorCode::kInvalid, "server: expected HOST:PORT, found '{}'", *server);
      }
      return Done{};
    }
  }
  place.servers = {kDefaultServer};
  return Done{};
}

// What is said of certificates says that TLS is meant; `tls = off`, with nothing else, that it is not.
Result<std::optional<ClientTls>> choose_tls(const PlaceOptions& options, const Sources& sources) {
  const std::string word = options.tls ? "on" : sources.find({}, "tls").value_or("");
  if (!word.empty() && word != "on" && word != "off") {
    return fail_with(ErrorCode::kInvalid, "tls: expected on or off, found '{}'", word);
  }
  ClientTls tls{.ca_file = sources.find(options.ca, "ca").value_or(""),
                .certificate_file = sources.find(options.client_cert, "client-cert").value_or(""),
                .key_file = sources.find(options.client_key, "client-key").value_or(""),
                .server_name = sources.find(options.server_name, "server-name").value_or("")};
  const bool is_told =
      !(tls.ca_file.empty() && tls.certificate_file.empty() && tls.key_file.empty() && tls.server_name.empty());
  if (word == "off" && is_told) {
    return fail_with(ErrorCode::kInvalid,
                     "tls: expected on, beside a file of certificates or a server's name; found off");
  }
  if (word != "on" && !is_told) return std::optional<ClientTls>{};
  return std::optional(std::move(tls));
}

std::string first_line(std::string_view text) { return std::string(trimmed(text.substr(0, text.find('\n')))); }

}  // namespace

std::string read_password(const Desk& desk, const Place& place, const AskPassword& ask_password) {
  if (!place.password_file.empty()) {
    const auto text = read_whole(desk.files, place.password_file, kPasswordFileBytesMax);
    if (!text) raise({.code = ErrorCode::kInvalid, .message = "password file: " + text.error().message});
    std::string password = first_line(*text);
    if (password.empty()) {
      raise({.code = ErrorCode::kInvalid,
             .message =
                 fmt::format("{}: expected the password in its first line, found nothing there", place.password_file)});
    }
    return password;
  }
  if (place.user.empty()) return {};
  const auto password = ask_password();
  if (!password) raise(password.error());
  return std::string(password->view());
}

namespace {

ClientSettings settings_of(const Place& place, std::string password) {
  ClientSettings settings;
  settings.tls = place.tls;
  settings.user = place.user;
  settings.password = std::move(password);
  settings.name = "tenure-cli";
  settings.others.assign(place.servers.begin() + 1, place.servers.end());
  settings.timeout = std::min(place.timeout, kConnectPatience);
  settings.connect_timeout = settings.timeout;
  return settings;
}

}  // namespace

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): before there are threads
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
  };
}

std::string Place::name() const { return is_embedded() ? folder : fmt::format("{}", fmt::join(servers, ",")); }

Result<Place> find_place(Files& files, const PlaceOptions& options, const Environment& environment) {
  const auto file = read_config_file(files, options, environment);
  if (!file) return tl::unexpected(file.error());
  const Sources sources(environment, *file);
  Place place;
  if (auto chosen = choose_authority(place, options, sources); !chosen) return tl::unexpected(chosen.error());
  place.user = sources.find(options.user, "user").value_or("");
  place.password_file = sources.find(options.password_file, "password-file").value_or("");
  auto tls = choose_tls(options, sources);
  if (!tls) return tl::unexpected(tls.error());
  if (options.embedded && (options.tls || options.ca || options.client_cert || options.client_key)) {
    return fail_with(ErrorCode::kInvalid, "expected an embedded authority or TLS, found both: that is to a server");
  }
  place.tls = std::move(*tls);
  if (const auto timeout = sources.find(options.timeout, "timeout")) {
    const auto time = parse_duration(*timeout);
    if (!time) return fail_with(ErrorCode::kInvalid, "timeout: {}", time.error().message);
    if (*time <= Millis{0}) return fail_with(ErrorCode::kInvalid, "timeout: expected more than 0, found {}", *timeout);
    place.timeout = *time;
  }
  return place;
}

OpenPlace open_place(const Desk& desk, const Place& place, const AskPassword& ask_password) {
  if (place.is_embedded()) return {.authority = Authority::open(place.folder)};
  const ClientSettings settings = settings_of(place, read_password(desk, place, ask_password));
  auto client = Client::connect(place.servers.front(), settings)->within(place.timeout);
  Client* as_client = client.get();
  return {.authority = std::move(client), .client = as_client};
}

}  // namespace tenure::cli
