// Where things lie in etcd, below one prefix for each cluster of Tenure:
//
//   <prefix>/id                       which journal it is: 32 hexadecimal digits
//   <prefix>/journal/<first>          one batch of frames, by the number of its first
//   <prefix>/leader                   the leader's address, bound to its lease; its create revision is the epoch
//   <prefix>/nodes/<address>          a node that takes part, bound to its lease
//   <prefix>/snapshot/<of>.<epoch>/<n>  a piece of a snapshot's bytes
//   <prefix>/snapshots/<of>           a snapshot that is whole: its epoch and size
//   <prefix>/unfinished               a copy into it has begun and not ended: nobody may write it
//
// Numbers have 20 digits, so that the order of keys is theirs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "etcd/store.h"

namespace tenure::etcd {

// Immutable.
class Keys {
 public:
  explicit Keys(std::string prefix) : prefix_(std::move(prefix)) {}

  [[nodiscard]] const std::string& prefix() const { return prefix_; }
  [[nodiscard]] KeyRange all() const { return KeyRange::prefix(prefix_ + "/"); }
  [[nodiscard]] std::string id() const { return prefix_ + "/id"; }
  [[nodiscard]] std::string unfinished() const { return prefix_ + "/unfinished"; }

  [[nodiscard]] std::string leader() const { return prefix_ + "/leader"; }
  [[nodiscard]] std::string nodes() const { return prefix_ + "/nodes/"; }
  [[nodiscard]] std::string node(std::string_view address) const { return fmt::format("{}{}", nodes(), address); }
  // The leader and the nodes: no other key lies between them.
  [[nodiscard]] KeyRange cluster() const { return {leader(), KeyRange::prefix(nodes()).end}; }

  [[nodiscard]] std::string batch(std::uint64_t first) const {
    return fmt::format("{}/journal/{:020}", prefix_, first);
  }
  [[nodiscard]] KeyRange batches() const { return KeyRange::prefix(prefix_ + "/journal/"); }

  [[nodiscard]] std::string snapshot(std::uint64_t of) const { return fmt::format("{}/snapshots/{:020}", prefix_, of); }
  [[nodiscard]] KeyRange snapshots() const { return KeyRange::prefix(prefix_ + "/snapshots/"); }
  [[nodiscard]] std::string pieces_of(std::uint64_t of, std::uint64_t epoch) const {
    return fmt::format("{}/snapshot/{:020}.{:020}/", prefix_, of, epoch);
  }
  [[nodiscard]] KeyRange pieces() const { return KeyRange::prefix(prefix_ + "/snapshot/"); }

  // The number that ends the key; nullopt: something else does.
  static std::optional<std::uint64_t> number_of(std::string_view key);

 private:
  std::string prefix_;
};

}  // namespace tenure::etcd
