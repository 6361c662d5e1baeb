#include "journal/spare_segment.h"

#include "journal/file_names.h"

namespace tenure {
namespace {

// When the disk is full: how long until it is tried again.
constexpr std::chrono::seconds kPause(1);

}  // namespace

SpareSegment::SpareSegment(Files& files, const std::string& folder, std::uint64_t bytes)
    : files_(files),
      path_(path_of(folder, kSpareName)),
      taken_path_(path_of(folder, kNextSegmentName)),
      bytes_(bytes) {}

SpareSegment::~SpareSegment() { stop_thread(); }

void SpareSegment::start_thread() {
  thread_ = std::thread([this] { run(); });
}

void SpareSegment::stop_thread() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void SpareSegment::run() {
  while (true) {
    prepare();
    const MutexLock lock(mutex_);
    if (!stopping_ && spare_ == Spare::kNone) changed_.wait_for(mutex_, kPause);
    while (!stopping_ && spare_ != Spare::kNone) changed_.wait(mutex_);
    if (stopping_) return;
  }
}

void SpareSegment::prepare() {
  {
    const MutexLock lock(mutex_);
    if (spare_ != Spare::kNone) return;
    spare_ = Spare::kBeingMade;
  }
  const bool is_made = make(path_, bytes_).has_value();
  has_failed_ = !is_made;
  const MutexLock lock(mutex_);
  spare_ = is_made ? Spare::kReady : Spare::kNone;
  changed_.notify_all();
}

Result<std::string> SpareSegment::take(std::uint64_t bytes) {
  bool has_spare = false;
  {
    const MutexLock lock(mutex_);
    while (spare_ == Spare::kBeingMade) changed_.wait(mutex_);
    has_spare = spare_ == Spare::kReady && bytes == bytes_;
  }
  // Somebody may have removed or cut it: *.tmp looks as if nobody needed it.
  has_spare = has_spare && files_.size_of(path_) == Result<std::uint64_t>(bytes);
  auto done = has_spare ? files_.rename(path_, taken_path_) : make(taken_path_, bytes);
  if (!done) return tl::unexpected(done.error());
  const MutexLock lock(mutex_);
  if (bytes == bytes_) spare_ = Spare::kNone;
  changed_.notify_all();
  return taken_path_;
}

Result<Done> SpareSegment::make(const std::string& path, std::uint64_t bytes) {
  if (files_.exists(path)) {
    if (auto removed = files_.remove(path); !removed) return removed;
  }
  auto made = files_.make_zeros(path, bytes);
  // The last of a disk is not taken for something that is no use to anybody.
  if (!made) static_cast<void>(files_.remove(path));
  return made;
}

}  // namespace tenure
