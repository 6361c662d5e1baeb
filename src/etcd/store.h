// The narrow part of etcd that Tenure needs: keys with revisions, transactions on conditions, leases and watches.
//
// Every call may be told "unknown": the answer was lost, and what was asked may have happened or may yet happen.
// Whoever asks finds out by asking again in a way that does nothing twice.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include <tenure/types.h>

namespace tenure::etcd {

// Counts all changes of the whole store. A key's create revision tells this life of the key from every other.
using Revision = std::int64_t;
// 0: none.
using LeaseId = std::int64_t;

// How a call ended that was not answered.
struct Trouble {
  enum class Outcome : std::uint8_t {
    kNothing,  // surely nothing was changed, nor will be
    kUnknown,  // it may have been done, or may yet be
  };
  Outcome outcome = Outcome::kUnknown;
  std::string why{};
  // A watch from this revision on can be had, one from the revision it was asked for no more; 0: that is not the
  // reason.
  Revision compacted = 0;
  // Etcd has heard and refused for good: asking the same again is no use.
  bool is_refusal = false;
};
template <class T>
using Answer = tl::expected<T, Trouble>;
// Told once, on any thread, never from inside of the call that it was given to; it must not block.
template <class T>
using Tell = std::function<void(Answer<T>)>;

struct KeyValue {
  std::string key{};
  std::string value{};
  Revision create_revision = 0;
  Revision mod_revision = 0;
  LeaseId lease = 0;
  bool operator==(const KeyValue&) const = default;
};

// Keys from one on, up to and without another.
struct KeyRange {
  std::string begin;
  std::string end;  // empty: this one key

  static KeyRange one(std::string key) { return {std::move(key), {}}; }
  // All keys that begin with this, which does not end with the largest of all bytes.
  static KeyRange prefix(std::string text) {
    std::string end = text;
    end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
    return {std::move(text), std::move(end)};
  }
  [[nodiscard]] bool holds(std::string_view key) const {
    return end.empty() ? key == begin : key >= begin && key < end;
  }
  bool operator==(const KeyRange&) const = default;
};

struct Range {
  KeyRange keys;
  std::int64_t limit = 0;        // 0: all
  bool is_descending = false;    // by key
  bool is_serializable = false;  // answered by any member from what it has: quicker, maybe old
  bool is_keys_only = false;     // values stay empty
};
struct RangeAnswer {
  std::vector<KeyValue> found{};
  bool has_more = false;  // behind the limit
  Revision revision = 0;  // of the store when it was read
  bool operator==(const RangeAnswer&) const = default;
};

// A condition on one key. A key that does not exist has the revisions 0.
struct Compare {
  enum class Of : std::uint8_t { kCreateRevision, kModRevision };
  enum class Is : std::uint8_t { kEqual, kGreater };
  std::string key;
  Of of = Of::kCreateRevision;
  Is is = Is::kEqual;
  Revision revision = 0;

  static Compare missing(std::string key) { return {.key = std::move(key)}; }
  static Compare exists(std::string key) { return {.key = std::move(key), .is = Is::kGreater}; }
  static Compare created_at(std::string key, Revision revision) {
    return {.key = std::move(key), .revision = revision};
  }
  static Compare changed_at(std::string key, Revision revision) {
    return {.key = std::move(key), .of = Of::kModRevision, .revision = revision};
  }
};

struct Put {
  std::string key{};
  std::string value{};
  LeaseId lease = 0;  // the key goes when the lease does
};

// All of it at one moment: if every condition holds, the changes (of which no two touch one key); otherwise the reads.
struct Txn {
  std::vector<Compare> conditions{};
  std::vector<Put> puts{};
  std::vector<KeyRange> deletes{};
  std::vector<Range> otherwise{};
};
struct TxnAnswer {
  bool is_done = false;  // the conditions held
  Revision revision = 0;
  std::vector<RangeAnswer> otherwise{};  // if they did not: one for each read
};

struct Lease {
  LeaseId id = 0;
  Millis ttl{0};  // from when the store took the call; 0 from keep_alive: there is no such lease any more
};

struct Event {
  enum class Kind : std::uint8_t { kPut, kDelete };
  Kind kind = Kind::kPut;
  KeyValue pair{};  // of a deletion the key and the mod revision alone
};
struct News {
  std::vector<Event> events{};  // in the order of their revisions; those of one revision come together
  Revision revision = 0;        // everything up to this one was told
};
// Told again and again, one call at a time, on any thread; after a trouble no more.
using TellNews = std::function<void(Answer<News>)>;

// Ends with its owner; one last call may still be under way then.
class Watch {
 public:
  Watch() = default;
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  virtual ~Watch() = default;
};

struct Status {
  std::string version{};
  std::uint64_t db_bytes = 0;         // allocated: what etcd's quota counts
  std::uint64_t db_bytes_in_use = 0;  // of which are used
  bool has_leader = false;            // the member that answered knows of one
};

// Thread-safe. No call blocks, but those named so. When it is destroyed all that is under way is told first, as
// trouble.
class Store {
 public:
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;

  virtual void txn(Txn txn, Millis timeout, Tell<TxnAnswer> tell) = 0;
  virtual void range(Range range, Millis timeout, Tell<RangeAnswer> tell) = 0;
  // Forgets what was before this revision, which frees the room of what was deleted or overwritten.
  virtual void compact(Revision revision, Millis timeout, Tell<Revision> tell) = 0;

  // The ttl is rounded up to seconds, and etcd may grant a longer one, as answered.
  virtual void grant(Millis ttl, Millis timeout, Tell<Lease> tell) = 0;
  virtual void keep_alive(LeaseId lease, Millis timeout, Tell<Lease> tell) = 0;
  // Deletes its keys, too.
  virtual void revoke(LeaseId lease, Millis timeout, Tell<LeaseId> tell) = 0;

  // What happens to these keys from this revision on, which is read from what a range or a txn answered (plus 1).
  virtual std::unique_ptr<Watch> watch(KeyRange keys, Revision from, TellNews tell) = 0;

  virtual void status(Millis timeout, Tell<Status> tell) = 0;

  // Calls this once after so long, unless it is destroyed before.
  virtual void after(Millis delay, std::function<void()> call) = 0;

  // The same for those who may block: on a thread of their own. Simulated, they are answered at once. Not to be called
  // from what is told.
  virtual Answer<RangeAnswer> range_now(Range range, Millis timeout) = 0;
  virtual Answer<TxnAnswer> txn_now(Txn txn, Millis timeout) = 0;
};

}  // namespace tenure::etcd
