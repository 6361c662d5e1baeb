#include "etcd/piece_files.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/check.h"
#include "etcd/batch_reader.h"

namespace tenure::etcd {
namespace {

constexpr std::uint64_t kPieceBytes = 512 << 10;
constexpr int kTriesMax = 3;
constexpr std::int64_t kRemoveSlice = 64;  // well below what etcd takes in one transaction

tl::unexpected<Failure> not_asked_for(const std::string& path) {
  return fail_with(ErrorCode::kUnavailable, "{}: expected to be a snapshot in etcd", path);
}

std::string piece_key(const std::string& prefix, std::uint64_t number) {
  return fmt::format("{}{:020}", prefix, number);
}

// Pieces of one size, the last one shorter. It is written from its beginning to its end, once.
class PieceFile final : public File {
 public:
  PieceFile(Store& store, const Keys& keys, PieceFiles::Which& which, Millis timeout, bool is_writing)
      : File(keys.pieces_of(which.sequence, which.epoch)),
        store_(store),
        keys_(keys),
        epoch_(which.epoch),
        size_(which.bytes),
        written_(is_writing ? &which.bytes : nullptr),
        timeout_(timeout) {}

  Result<std::size_t> read_at(std::uint64_t offset, absl::Span<char> into) override {
    std::size_t done = 0;
    while (done < into.size() && offset + done < size_) {
      const std::uint64_t at = offset + done;
      if (auto fetched = fetch(at / kPieceBytes); !fetched) return tl::unexpected(fetched.error());
      const std::string_view rest = std::string_view(piece_).substr(std::min(at % kPieceBytes, piece_.size()));
      const std::size_t size = std::min(rest.size(), into.size() - done);
      if (size == 0) break;
      std::memcpy(into.data() + done, rest.data(), size);
      done += size;
    }
    return done;
  }

  Result<Done> write_at(std::uint64_t offset, std::string_view bytes) override {
    TENURE_CHECK(written_ != nullptr && offset == size_, "a write at offset {} of {}", offset, size_);
    size_ += bytes.size();
    *written_ = size_;
    while (!bytes.empty()) {
      const std::size_t part = std::min<std::size_t>(bytes.size(), kPieceBytes - piece_.size());
      piece_.append(bytes.substr(0, part));
      bytes.remove_prefix(part);
      is_put_ = false;
      if (piece_.size() < kPieceBytes) break;
      if (auto put = sync(); !put) return put;
      piece_.clear();
      put_at_ = 0;
      ++number_;
    }
    return Done{};
  }

  // A last piece that grows is put again, in the place of what was put before: one that was thought lost and comes late
  // finds that it is too late.
  Result<Done> sync() override {
    if (is_put_ || piece_.empty()) return Done{};
    const std::string key = piece_key(path(), number_);
    Txn txn{.conditions = {put_at_ == 0 ? Compare::missing(key) : Compare::changed_at(key, put_at_)},
            .puts = {{.key = key, .value = piece_}},
            .otherwise = {{.keys = KeyRange::one(key)}}};
    const auto answer = ask_as_leader(store_, keys_, epoch_, std::move(txn), timeout_);
    if (!answer) return tl::unexpected(answer.error());
    put_at_ = answer->revision;
    if (!answer->is_done) {
      const auto& lying = answer->otherwise.front().found;
      if (lying.empty() || lying.front().value != piece_) {
        return fail_with(ErrorCode::kUnavailable,
                         "etcd key {}: expected nobody else to write it, found that it changed", key);
      }
      put_at_ = lying.front().mod_revision;  // it was put, and the answer lost
    }
    is_put_ = true;
    return Done{};
  }

  Result<std::uint64_t> size() override { return size_; }
  Result<Done> resize(std::uint64_t /*size*/) override { return not_asked_for(path()); }

 private:
  Result<Done> fetch(std::uint64_t number) {
    if (fetched_ == number) return Done{};
    auto answer = store_.range_now({.keys = KeyRange::one(piece_key(path(), number))}, timeout_);
    if (!answer) return failure_of(answer.error());
    if (answer->found.empty()) {
      return fail_with(ErrorCode::kUnavailable, "etcd key {}: expected a piece of a snapshot, found none",
                       piece_key(path(), number));
    }
    piece_ = std::move(answer->found.front().value);
    fetched_ = number;
    return Done{};
  }

  Store& store_;
  const Keys& keys_;
  const std::uint64_t epoch_;
  std::uint64_t size_;
  std::uint64_t* const written_;
  const Millis timeout_;
  std::string piece_;  // the last one read, or the one that is being written
  std::uint64_t number_ = 0;
  bool is_put_ = false;
  Revision put_at_ = 0;  // the piece that is being written, last; 0: it is not
  std::optional<std::uint64_t> fetched_;
};

}  // namespace

Result<TxnAnswer> ask_as_leader(Store& store, const Keys& keys, std::uint64_t epoch, Txn txn, Millis timeout) {
  const auto leads = static_cast<Revision>(epoch);
  txn.conditions.push_back(Compare::created_at(keys.leader(), leads));
  txn.otherwise.push_back({.keys = KeyRange::one(keys.leader()), .is_keys_only = true});
  for (int tries = 1;; ++tries) {
    auto answer = store.txn_now(txn, timeout);
    if (!answer && (answer.error().is_refusal || tries == kTriesMax)) return failure_of(answer.error());
    if (!answer) continue;
    if (answer->is_done) return std::move(*answer);
    const auto& leader = answer->otherwise.back().found;
    if (!leader.empty() && leader.front().create_revision == leads) return std::move(*answer);
    return fail_with(ErrorCode::kUnavailable, "etcd: expected that this node leads in epoch {}, found that it does not",
                     epoch);
  }
}

Result<Done> change_as_leader(Store& store, const Keys& keys, std::uint64_t epoch, Txn txn, Millis timeout) {
  const auto answer = ask_as_leader(store, keys, epoch, std::move(txn), timeout);
  if (!answer) return tl::unexpected(answer.error());
  if (answer->is_done) return Done{};
  return fail_with(ErrorCode::kUnavailable, "etcd: expected that nothing has changed meanwhile, found that it has");
}

Result<Done> remove_as_leader(Store& store, const Keys& keys, std::uint64_t epoch, const KeyRange& range,
                              Millis timeout) {
  while (true) {
    const auto found = store.range_now({.keys = range, .limit = kRemoveSlice, .is_keys_only = true}, timeout);
    if (!found) return failure_of(found.error());
    if (found->found.empty()) return Done{};
    Txn txn;
    for (const KeyValue& pair : found->found) {
      txn.conditions.push_back(Compare::changed_at(pair.key, pair.mod_revision));
      txn.deletes.push_back(KeyRange::one(pair.key));
    }
    // One that was thought lost, and was done, is no failure: what is left is looked at again.
    if (auto asked = ask_as_leader(store, keys, epoch, std::move(txn), timeout); !asked) {
      return tl::unexpected(asked.error());
    }
  }
}

Result<std::unique_ptr<File>> PieceFiles::open(const std::string& /*path*/, Mode mode) {
  const bool is_writing = mode == Mode::kCreate;
  return std::make_unique<PieceFile>(store_, keys_, which_, timeout_, is_writing);
}

Result<Done> PieceFiles::rename(const std::string& /*from*/, const std::string& /*to*/) {
  may_be_shown_ = true;
  // Not when it comes so late that the snapshot was dropped again.
  return change_as_leader(
      store_, keys_, which_.epoch,
      {.conditions = {Compare::exists(piece_key(keys_.pieces_of(which_.sequence, which_.epoch), 0))},
       .puts = {{.key = keys_.snapshot(which_.sequence), .value = fmt::format("{} {}", which_.epoch, which_.bytes)}}},
      timeout_);
}

Result<Done> PieceFiles::remove(const std::string& /*path*/) {
  if (may_be_shown_) return Done{};
  return remove_as_leader(store_, keys_, which_.epoch, KeyRange::prefix(keys_.pieces_of(which_.sequence, which_.epoch)),
                          timeout_);
}

Result<Done> PieceFiles::sync_folder(const std::string& /*path*/) { return Done{}; }
bool PieceFiles::exists(const std::string& /*path*/) { return false; }

Result<Done> PieceFiles::make_folder(const std::string& path) { return not_asked_for(path); }
Result<std::vector<std::string>> PieceFiles::list(const std::string& folder) { return not_asked_for(folder); }
Result<std::uint64_t> PieceFiles::size_of(const std::string& path) { return not_asked_for(path); }
Result<std::uint64_t> PieceFiles::free_space(const std::string& folder) { return not_asked_for(folder); }
Result<std::unique_ptr<FileLock>> PieceFiles::lock(const std::string& path) { return not_asked_for(path); }

}  // namespace tenure::etcd
