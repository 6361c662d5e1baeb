#include "server/config.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <sstream>

#include <CLI/CLI.hpp>
#include <absl/strings/numbers.h>
#include <fmt/format.h>

#include <tenure/version.h>

namespace tenure::server {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kLongestMs = std::uint64_t{366} * 24 * 3600 * 1000;
constexpr std::uint64_t kHighestPort = std::numeric_limits<std::uint16_t>::max();

// CLI11's own check would not say what was expected.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  return CLI::Validator(
      [=](const std::string& text) -> std::string {
        std::uint64_t number = 0;
        if (absl::SimpleAtoi(text, &number) && number >= least && number <= most) return "";
        return fmt::format("expected a whole number from {} to {}, found '{}'", least, most, text);
      },
      "");
}

// TENURE_HTTP_PORT for --http-port.
std::string variable_of(std::string flag) {
  std::transform(flag.begin(), flag.end(), flag.begin(),
                 [](unsigned char letter) { return letter == '-' ? '_' : static_cast<char>(std::toupper(letter)); });
  return "TENURE_" + flag;
}

// Declares options, each with its flag, its variable and its default shown.
class Options {
 public:
  explicit Options(CLI::App& app) : app_(app) {}

  void group(const std::string& name) { group_ = name; }

  template <class T>
  CLI::Option* add(const std::string& flag, T& value, const std::string& type, const std::string& meaning) {
    return app_.add_option("--" + flag, value, meaning)
        ->capture_default_str()
        ->type_name(type)
        ->envname(variable_of(flag))
        ->group(group_);
  }
  // Understands 512kb and 16mb, too.
  void bytes(const std::string& flag, std::uint64_t& value, std::uint64_t least, const std::string& meaning) {
    add(flag, value, "BYTES", meaning)
        ->transform(CLI::AsSizeValue(false).description(""))
        ->check(whole_number(least, kMost));
  }
  void port(const std::string& flag, std::uint16_t& value, const std::string& meaning) {
    add(flag, value, "PORT", meaning)->check(whole_number(0, kHighestPort));
  }
  template <class T>
  void count(const std::string& flag, T& value, const std::string& meaning) {
    add(flag, value, "COUNT", meaning)
        ->check(whole_number(1, std::min<std::uint64_t>(std::numeric_limits<T>::max(), kMost)));
  }
  void time(const std::string& flag, Millis& value, const std::string& meaning) {
    app_.add_option_function<std::int64_t>(
            "--" + flag, [&value](std::int64_t ms) { value = Millis{ms}; }, meaning)
        ->default_str(fmt::format("{}", value.count()))
        ->type_name("MS")
        ->envname(variable_of(flag))
        ->group(group_)
        ->check(whole_number(1, kLongestMs));
  }
  // One of these words.
  template <class T>
  void choice(const std::string& flag, T& value, const std::map<std::string, T>& words, const std::string& meaning) {
    const auto shown = std::find_if(words.begin(), words.end(), [&](const auto& word) { return word.second == value; });
    std::string all;
    for (const auto& [word, meant] : words) all += (all.empty() ? "" : "|") + word;
    app_.add_option_function<std::string>(
            "--" + flag, [&value, words](const std::string& word) { value = words.at(word); }, meaning)
        ->default_str(shown->first)
        ->type_name(all)
        ->envname(variable_of(flag))
        ->group(group_)
        ->check(CLI::IsMember(words).description(""));
  }
  void flag(const std::string& name, bool& value, const std::string& meaning) {
    app_.add_flag("--" + name, value, meaning)->envname(variable_of(name))->group(group_);
  }

 private:
  CLI::App& app_;
  std::string group_;
};

void declare_place(Options& options, Config& config) {
  options.group("Where");
  options.add("data", config.folder, "FOLDER", "The folder of the journal; made if it is missing");
  options.add("bind", config.binds, "ADDRESS", "Addresses to listen at, IPv4 or IPv6; may be given several times");
  options.port("port", config.port, "For Redis clients; 0: any free one, which is printed");
  options.port("http-port", config.http_port, "For HTTP; 0: any free one, which is printed");
  options.add("users", config.users, "FILE",
              "The users, who must sign in; made by `tenure user add`, read again at SIGHUP. Without it all is open");
  options.add("tls-cert", config.tls.certificate, "FILE",
              "The server's certificate and its chain, in PEM; then both ports speak TLS. Read again at SIGHUP");
  options.add("tls-key", config.tls.key, "FILE", "Its key, in PEM, without a passphrase");
  options.add("tls-client-ca", config.tls.client_ca, "FILE",
              "Who signs clients' certificates, in PEM: whoever shows one is the user that its common name says");
  options.flag("insecure", config.is_insecure, "Allow addresses that others can reach, without users and TLS");
}

void declare_cluster(Options& options, ClusterConfig& cluster) {
  options.group("One of several, on a journal in etcd (docs/high-availability.md)");
  options.add("journal", cluster.journal, "URL",
              "etcd://[user@]host[:port],.../prefix instead of --data; etcds:// with TLS");
  options.add("advertise", cluster.advertise, "HOST:PORT",
              "Where clients reach this node at its port for Redis clients; HOST:PORT,HTTP-PORT if that of HTTP is "
              "another than it listens at. The first address it listens at, unless told");
  options.time("leadership-ms", cluster.leadership,
               "How long a leader that is not heard of keeps others from leading; the same on every node");
  options.add("etcd-ca", cluster.ca, "FILE", "Who signs etcd's certificates, in PEM; those the machine trusts");
  options.add("etcd-cert", cluster.certificate, "FILE", "The certificate that is shown to etcd, in PEM");
  options.add("etcd-key", cluster.key, "FILE", "Its key, in PEM");
  options.add("etcd-password", cluster.password, "FILE", "The password of the URL's user: the file's first line");
}

void declare_log(Options& options, Config& config) {
  options.group("Log, on standard error");
  options.choice("log-level", config.log_level,
                 {{"debug", LogLevel::kDebug},
                  {"info", LogLevel::kInfo},
                  {"warning", LogLevel::kWarning},
                  {"error", LogLevel::kError}},
                 "The least that is told; debug tells of every connection and refused request");
  options.choice("log-format", config.log_format, {{"text", LogFormat::kText}, {"json", LogFormat::kJson}},
                 "A line of text, or an object of JSON, for each event");
}

void declare_client_limits(Options& options, ClientLimits& limits) {
  options.group("Limits of connections");
  options.count("connections", limits.connections, "Connections at a time");
  options.bytes("request-bytes", limits.request_bytes, 1024, "Of one request");
  options.bytes("pipelined-bytes", limits.pipelined_bytes, 1024,
                "Received from one connection and not begun; beyond it no more is read, and one that waits is closed");
  options.bytes("output-bytes", limits.output_bytes, 1024,
                "Answers that one connection has not taken; beyond it the connection is closed");
  options.bytes("buffer-bytes", limits.buffer_bytes, 1 << 20,
                "Buffers of all connections; beyond it the connection with the largest is closed");
  options.time(
      "stalled-ms", limits.stalled,
      "A connection that takes no byte of an answer for so long, or has not sent all of an HTTP request in it, is "
      "closed");
  options.time("sign-in-ms", limits.sign_in,
               "With --users, a connection that has not signed in after so long is closed; with TLS, one whose "
               "handshake takes as long");
  options.count("strangers", limits.strangers,
                "Connections at a time that have not signed in, or are amid TLS's handshake; beyond it the oldest of "
                "them is closed");
  options.count("event-streams", limits.event_streams, "Clients at a time that listen at /v1/events");
  options.bytes("event-bytes", limits.event_bytes, 1024,
                "Events kept for clients that are behind or come again; kept only while there are some");
  options.time("event-heartbeat-ms", limits.event_heartbeat, "A stream that is silent for so long gets a comment");
}

void declare_limits(Options& options, Settings& settings) {
  options.group("Limits of the state");
  options.bytes("state-bytes", settings.state_bytes_max, 1 << 20, "Memory of the state; beyond it new work is refused");
  options.bytes("payload-bytes", settings.payload_bytes_max, 1, "Of a payload, and of a result");
  options.count("waiters", settings.waiters_max, "Blocked requests for one name");
  options.count("backlog", settings.backlog_max, "Offsets waiting in one domain");
  options.count("intervals", settings.intervals_max, "Intervals of done offsets in one domain");
  options.count("domains", settings.domains_max, "Domains of work leases");
  options.count("holds", settings.holds_max, "Holds of one lock by re-entry");
}

void declare_rules(Options& options, Config& config) {
  options.group("Rules");
  options.count("work-retries", config.settings.work_retries_max, "Failures of one offset before it is given up");
  options.time("retention-ms", config.settings.retention_time, "How long what has ended is remembered");
  options.count("retention-count", config.settings.retention_count, "How many of it, of each kind");
  options.bytes("retention-bytes", config.settings.retention_bytes, 1, "How much of it, of each kind");
  options.bytes("segment-bytes", config.storage.segment_bytes, 4096, "Of each of the journal's files");
  options.bytes("snapshot-bytes", config.storage.snapshot_bytes, 4096,
                "A snapshot is made when the journal has grown by so much, and by the last one's size");
}

std::string value_of(const CLI::Option& option) {
  if (option.count() == 0) return option.get_default_str();
  return fmt::format("{}", fmt::join(option.reduced_results(), " "));
}

void note_values(const CLI::App& app, Config& config) {
  for (const CLI::Option* option : app.get_options()) {
    const std::string& name = option->get_single_name();
    if (name == "help" || name == "version" || name == "config") continue;
    config.shown.emplace_back(name, value_of(*option));
  }
}

// What a journal in etcd leaves no choice about; the fault of what was chosen.
std::optional<std::string> suit_cluster(CLI::App& app, Config& config) {
  // The environment is where packages have their default.
  const char* const by_package = std::getenv("TENURE_DATA");  // NOLINT(concurrency-mt-unsafe): before there are threads
  if (app.get_option("--data")->count() > 0 && (by_package == nullptr || config.folder != by_package)) {
    return "--data and --journal: expected one of them, the folder of a journal or the place of one in etcd; found "
           "both";
  }
  config.folder.clear();
  app.get_option("--data")->default_str("");
  const auto unless_given = [&app](const char* flag, std::uint64_t& value, std::uint64_t usual) {
    CLI::Option* const option = app.get_option(flag);
    if (option->count() > 0) return;
    value = usual;
    option->default_str(fmt::format("{}", usual));
  };
  unless_given("--payload-bytes", config.settings.payload_bytes_max, kClusterPayloadBytes);
  unless_given("--snapshot-bytes", config.storage.snapshot_bytes, kClusterSnapshotBytes);
  if (config.settings.payload_bytes_max <= kClusterPayloadBytes) return std::nullopt;
  return fmt::format("--payload-bytes: expected at most {} with --journal, found {}", kClusterPayloadBytes,
                     config.settings.payload_bytes_max);
}

Farewell refused(std::string_view why) {
  return {2, fmt::format("tenured: {}\nRun tenured --help for all options.\n", why)};
}

}  // namespace

std::variant<Config, Farewell> read_config(int argc, const char* const* argv) {
  Config config;
  CLI::App app{"tenured: the lease authority as a server, for any Redis client and over HTTP", "tenured"};
  app.set_version_flag("--version", fmt::format("tenured {}", kVersion));
  app.set_config("--config", "", "A file of lines like `port = 8368`")->type_name("FILE")->envname("TENURE_CONFIG");
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.footer(
      "BYTES may be written like 512kb or 16mb. Every option may also be a line of the file, or an environment "
      "variable:\n"
      "TENURE_HTTP_PORT for --http-port. A flag counts before the file, and that before the environment.\n"
      "Examples:\n  tenured --data /var/lib/tenure\n  tenured --data /tmp/t --port 0 --bind 127.0.0.1 --bind ::1\n"
      "  tenured --journal etcd://10.0.0.1,10.0.0.2,10.0.0.3/tenure --advertise 10.0.0.7:8368 ...");
  Options options(app);
  declare_place(options, config);
  declare_cluster(options, config.cluster);
  declare_log(options, config);
  declare_client_limits(options, config.clients);
  declare_limits(options, config.settings);
  declare_rules(options, config);
  try {
    app.parse(argc, argv);
  } catch (const CLI::FileError& error) {
    return refused(fmt::format("--config: {}", error.what()));
  } catch (const CLI::ConfigError& error) {
    return refused(fmt::format("--config, {}: expected lines like `port = 8368`, for options that there are; found: {}",
                               app.get_config_ptr()->as<std::string>(), error.what()));
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream problem;
    if (app.exit(error, out, problem) == 0) return Farewell{0, out.str()};
    return refused(error.what());
  }
  if (config.cluster.is_given()) {
    if (const auto fault = suit_cluster(app, config)) return refused(*fault);
  }
  note_values(app, config);
  return config;
}

}  // namespace tenure::server
