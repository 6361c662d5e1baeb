#include <utility>

#include <fmt/format.h>

#include <tenure/fence_guard.h>
#include "base/files.h"
#include "base/limits.h"
#include "base/mutex.h"
#include "client/fence_log.h"

namespace tenure {

// Thread-safe. Each resource has its turn, held while something is written to it; the fences have one mutex.
class FenceBook {
 public:
  FenceBook() = default;

  static std::unique_ptr<FenceBook> open(Files& files, const std::string& path) {
    auto book = std::make_unique<FenceBook>();
    const MutexLock lock(book->mutex_);
    auto log = FenceLog::open(files, path, book->fences_);
    if (!log) raise(log.error());
    book->log_ = std::move(*log);
    return book;
  }

  bool write(std::string_view resource, Fence fence, const std::function<void()>& write) {
    if (resource.empty() || resource.size() > kNameBytesMax) {
      throw InvalidRequest(ErrorCode::kInvalid,
                           fmt::format("a resource's name has 1 to {} bytes, not {}", kNameBytesMax, resource.size()));
    }
    const MutexLock turn(turn_of(resource));
    if (!admit(resource, fence)) return false;
    if (write) write();
    return true;
  }

  std::optional<Fence> newest(std::string_view resource) {
    const MutexLock lock(mutex_);
    const auto found = fences_.find(resource);
    if (found == fences_.end()) return std::nullopt;
    return found->second;
  }

 private:
  // Never taken away again.
  Mutex& turn_of(std::string_view resource) {
    const MutexLock lock(mutex_);
    auto found = turns_.find(resource);
    if (found == turns_.end()) found = turns_.emplace(resource, std::make_unique<Mutex>()).first;
    return *found->second;
  }

  bool admit(std::string_view resource, Fence fence) {
    const MutexLock lock(mutex_);
    if (failure_) raise(*failure_);
    const auto found = fences_.find(resource);
    if (found != fences_.end() && fence <= found->second) return fence == found->second;
    fences_.insert_or_assign(std::string(resource), fence);
    if (!log_) return true;
    if (auto appended = log_->append(resource, fence, fences_); !appended) {
      failure_ = appended.error();
      raise(*failure_);
    }
    return true;
  }

  Mutex mutex_;
  FenceLog::Fences fences_ TENURE_GUARDED_BY(mutex_);
  std::map<std::string, std::unique_ptr<Mutex>, std::less<>> turns_ TENURE_GUARDED_BY(mutex_);
  std::unique_ptr<FenceLog> log_ TENURE_GUARDED_BY(mutex_);  // none in memory
  std::optional<Failure> failure_ TENURE_GUARDED_BY(mutex_);
};

FenceGuard::FenceGuard() : book_(std::make_unique<FenceBook>()) {}
FenceGuard::FenceGuard(std::unique_ptr<FenceBook> book) : book_(std::move(book)) {}
FenceGuard::FenceGuard(FenceGuard&&) noexcept = default;
FenceGuard& FenceGuard::operator=(FenceGuard&&) noexcept = default;
FenceGuard::~FenceGuard() = default;

FenceGuard FenceGuard::open(const std::string& path) { return open(absolute_path(path), real_files()); }

FenceGuard FenceGuard::open(const std::string& path, Files& files) { return FenceGuard(FenceBook::open(files, path)); }

bool FenceGuard::admit(std::string_view resource, Fence fence) { return book_->write(resource, fence, {}); }

void FenceGuard::require(std::string_view resource, Fence fence) {
  if (admit(resource, fence)) return;
  throw StaleFence(ErrorCode::kExpired, fmt::format("{}: fence {} is older than {}", resource, fence.value,
                                                    book_->newest(resource).value_or(Fence{}).value));
}

bool FenceGuard::write(std::string_view resource, Fence fence, const std::function<void()>& write) {
  return book_->write(resource, fence, write);
}

std::optional<Fence> FenceGuard::newest(std::string_view resource) const { return book_->newest(resource); }

}  // namespace tenure
