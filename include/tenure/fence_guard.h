// The other half of every lock with a lease. A holder that was paused past its lease does not know that it has lost it;
// the resource can know, if it remembers the newest fence it has seen and refuses every older one:
//
//   auto guard = tenure::FenceGuard::open("orders.fences");         // or FenceGuard(), which forgets with the process
//   guard.write("order-7", lock.fence().value(), [&] { save(order); });   // false: refused, and nothing was called
//
// Fences are compared within one name only, so a guard keeps one for each resource.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <tenure/errors.h>
#include <tenure/export.h>
#include <tenure/types.h>

namespace tenure {

class FenceBook;
class Files;

// A fence older than one that was seen before.
class TENURE_API StaleFence : public Error {
 public:
  using Error::Error;
};

// Thread-safe. Resources are named by up to 255 bytes; otherwise calls throw InvalidRequest. A durable guard has synced
// a new fence when the call that brought it returns, or runs what it was given; once its file cannot be written it
// throws Unavailable for ever, since nobody knows any more what it has promised.
class TENURE_API FenceGuard {
 public:
  // In memory.
  FenceGuard();
  // Durable, in this file, which is made if it is missing; <path>.lock beside it keeps a second process out. Throws
  // Unavailable if it is in use or cannot be read or written, InvalidRequest if it is damaged.
  static FenceGuard open(const std::string& path);
  // The same on other files.
  static FenceGuard open(const std::string& path, Files& files);
  FenceGuard(FenceGuard&&) noexcept;
  FenceGuard& operator=(FenceGuard&&) noexcept;
  ~FenceGuard();

  // True: no newer fence was seen; from now on every older one is refused. The same fence may come again and again.
  bool admit(std::string_view resource, Fence fence);
  // Throws StaleFence instead of answering false.
  void require(std::string_view resource, Fence fence);
  // Writes if the fence is admitted, and lets no other fence of the resource in before that is done: between admit()
  // and a write that follows it a newer one could be. `write` must not use the guard for the same resource.
  bool write(std::string_view resource, Fence fence, const std::function<void()>& write);
  // nullopt: none was seen.
  [[nodiscard]] std::optional<Fence> newest(std::string_view resource) const;

 private:
  explicit FenceGuard(std::unique_ptr<FenceBook> book);
  std::unique_ptr<FenceBook> book_;
};

}  // namespace tenure
