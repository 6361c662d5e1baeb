// As much of files as a snapshot's writer and reader ask for, of one snapshot whose bytes lie in etcd in pieces.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "etcd/keys.h"
#include "etcd/store.h"

namespace tenure::etcd {

// One thread. Every call blocks until etcd has answered, or has not within the timeout.
class PieceFiles final : public Files {
 public:
  struct Which {
    std::uint64_t sequence = 0;
    std::uint64_t epoch = 0;  // in which it is, or was, written
    std::uint64_t bytes = 0;  // of one that is published
  };
  PieceFiles(Store& store, const Keys& keys, const Which& which, Millis timeout)
      : store_(store), keys_(keys), which_(which), timeout_(timeout) {}

  Result<std::unique_ptr<File>> open(const std::string& path, Mode mode) override;
  // Shows it.
  Result<Done> rename(const std::string& from, const std::string& to) override;
  // Unless it may be shown.
  Result<Done> remove(const std::string& path) override;
  Result<Done> sync_folder(const std::string& path) override;
  bool exists(const std::string& path) override;

  // --- not asked for ---
  Result<Done> make_folder(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& folder) override;
  Result<std::uint64_t> size_of(const std::string& path) override;
  Result<std::uint64_t> free_space(const std::string& folder) override;
  Result<std::unique_ptr<FileLock>> lock(const std::string& path) override;

 private:
  Store& store_;
  const Keys& keys_;
  Which which_;
  const Millis timeout_;
  bool may_be_shown_ = false;
};

// What only a leader may change; tried again while its outcome is unknown. The first try may still come when much else
// has happened: the transaction's own conditions see to it that it does no harm then. If they do not hold, and this
// node leads, the answer tells what was read.
Result<TxnAnswer> ask_as_leader(Store& store, const Keys& keys, std::uint64_t epoch, Txn txn, Millis timeout);
// The same of one that fails if its conditions do not hold.
Result<Done> change_as_leader(Store& store, const Keys& keys, std::uint64_t epoch, Txn txn, Millis timeout);

// Removes the keys that are there now, and none that comes later.
Result<Done> remove_as_leader(Store& store, const Keys& keys, std::uint64_t epoch, const KeyRange& range,
                              Millis timeout);

}  // namespace tenure::etcd
