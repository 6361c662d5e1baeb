// Start here. An Authority decides who owns a piece of work, until when, and proves it with a fence. It has three faces
// over one engine and one journal:
//
//   auto authority = tenure::Authority::open("data");   durable, in a folder; or in_memory()
//   authority->tasks()   durable leased tasks               (tasks.h)
//   authority->work()    ordered work over an outside log   (work_lease.h)
//   authority->locks()   locks that free themselves         (locks.h)
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <tenure/errors.h>
#include <tenure/export.h>
#include <tenure/locks.h>
#include <tenure/settings.h>
#include <tenure/tasks.h>
#include <tenure/types.h>
#include <tenure/work_lease.h>

namespace tenure {

// How the journal of a folder is kept.
struct Storage {
  std::uint64_t segment_bytes = std::uint64_t{64} << 20;  // of each of its files
  // A snapshot is made when the journal has grown by this much since the last one, and by the last one's size.
  std::uint64_t snapshot_bytes = std::uint64_t{256} << 20;
  // Told, line by line, what the opening does and finds (progress of a long replay, a torn tail that was cut), and
  // later of snapshots: from another thread.
  std::function<void(const std::string& line)> tell{};
};

// Thread-safe. Destroying it ends every blocked call with its empty answer and refuses what else is asked with
// Unavailable; it waits for calls under way, and no call may begin once it is gone.
class TENURE_API Authority {
 public:
  // Durable: everything that was answered is in the folder's journal, and is there again when it is next opened. The
  // folder is made if it is missing; one process at a time may have it open. Throws InvalidRequest for a folder that is
  // no journal or a damaged one, Unavailable for one that is in use or cannot be read or written; each says what to do.
  static std::unique_ptr<Authority> open(const std::string& folder, const Settings& settings = {},
                                         const Storage& storage = {});
  // Everything in memory: gone with the process.
  static std::unique_ptr<Authority> in_memory(const Settings& settings = {});

  Authority() = default;
  Authority(const Authority&) = delete;
  Authority& operator=(const Authority&) = delete;
  virtual ~Authority() = default;

  virtual Tasks& tasks() = 0;
  virtual WorkLeases& work() = 0;
  virtual Locks& locks() = 0;

  // Sessions hold bound locks (LockRequest::session). One lives while somebody has joined it, and then for its grace;
  // when it ends its locks are released. A join without a grace leaves the grace as it is, at first 0.
  virtual void join(std::string_view session, std::optional<Millis> grace = {}) = 0;
  virtual void leave(std::string_view session) = 0;

  // The authority's time, which all instants in answers are of: never back, and not always that of the wall clock.
  [[nodiscard]] virtual Instant now() const = 0;

  // Makes a snapshot now, and waits for it: the next opening reads it instead of the frames before it. They come by
  // themselves, see Storage. In memory there is nothing to do. Throws Unavailable if it cannot be made.
  virtual void snapshot() = 0;
};

}  // namespace tenure
