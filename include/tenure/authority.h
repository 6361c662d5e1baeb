// Start here. An Authority decides who owns a piece of work, until when, and proves it with a fence. It has three faces
// over one engine and one journal:
//
//   auto authority = tenure::Authority::in_memory();
//   authority->tasks()   durable leased tasks               (tasks.h)
//   authority->work()    ordered work over an outside log   (work_lease.h)
//   authority->locks()   locks that free themselves         (locks.h)
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include <tenure/errors.h>
#include <tenure/locks.h>
#include <tenure/settings.h>
#include <tenure/tasks.h>
#include <tenure/types.h>
#include <tenure/work_lease.h>

namespace tenure {

// Thread-safe. Destroying it ends every blocked call with its empty answer; no call may begin after that.
class Authority {
 public:
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
};

}  // namespace tenure
