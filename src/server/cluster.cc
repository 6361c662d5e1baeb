#include "server/cluster.h"

#include <algorithm>
#include <variant>

#include <tenure/version.h>
#include "base/files.h"
#include "base/whole_file.h"
#include "core/record.h"

namespace tenure::server {
namespace {

constexpr std::uint64_t kNamedFileBytesMax = std::uint64_t{1} << 20;
// What one call of etcd may take.
constexpr Millis kCallMin = std::chrono::seconds(1);
constexpr Millis kCallMax = std::chrono::seconds(5);

// Empty, if none is named.
Result<Done> read_named(const std::string& option, const std::string& path, std::string& into) {
  if (path.empty()) return Done{};
  auto text = read_whole(real_files(), path, kNamedFileBytesMax);
  if (!text) return fail_with(ErrorCode::kInvalid, "--{}: {}", option, text.error().message);
  into = std::move(*text);
  return Done{};
}

Result<Done> read_secrets(const ClusterConfig& config, const etcd::Place& place, etcd::OpenOptions& options) {
  auto read = read_named("etcd-ca", config.ca, options.tls.ca);
  if (read) read = read_named("etcd-cert", config.certificate, options.tls.certificate);
  if (read) read = read_named("etcd-key", config.key, options.tls.key);
  if (read) read = read_named("etcd-password", config.password, options.password);
  if (!read) return read;
  options.password = options.password.substr(0, options.password.find_first_of("\r\n"));
  const bool has_files = !config.ca.empty() || !config.certificate.empty() || !config.key.empty();
  if (has_files && !place.is_tls) {
    return fail_with(ErrorCode::kInvalid,
                     "--journal: expected etcds://, beside files for TLS with etcd; found etcd://");
  }
  if (place.user.empty() != options.password.empty()) {
    return fail_with(ErrorCode::kInvalid,
                     "--journal and --etcd-password: expected a user in the one and a password in the other, found one "
                     "of them alone");
  }
  return Done{};
}

}  // namespace

Result<std::unique_ptr<Cluster>> Cluster::open(const Config& config, const NodeAddress& self) {
  const auto place = etcd::parse_place(config.cluster.journal);
  if (!place) return fail_with(place.error().code, "--journal: {}", place.error().message);
  etcd::OpenOptions options;
  if (const auto read = read_secrets(config.cluster, *place, options); !read) return tl::unexpected(read.error());
  options.election = {.address = self.text(),
                      .records = std::variant_size_v<Record>,
                      .version = std::string(kVersion),
                      .term = config.cluster.leadership};
  options.journal.snapshot_bytes = config.storage.snapshot_bytes;
  // An append that etcd has lost, since it was electing its own leader, is to be sent again within the term.
  options.journal.timeout = std::clamp(config.cluster.leadership / 3, kCallMin, kCallMax);
  std::unique_ptr<Cluster> cluster(new Cluster());
  auto parts = etcd::open(*place, std::move(options), cluster->clock_, cluster->entropy_);
  if (!parts) return fail_with(parts.error().code, "--journal and --leadership-ms: {}", parts.error().message);
  cluster->parts_ = std::move(*parts);
  return cluster;
}

}  // namespace tenure::server
