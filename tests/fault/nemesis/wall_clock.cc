// Preloaded into a server, moves its wall clock by the seconds that stand in the file WALL_CLOCK_FILE names, whenever
// they change. (libfaketime and jemalloc wait for each other when a program starts.)
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

long seconds_moved() {
  const char* const path = std::getenv("WALL_CLOCK_FILE");  // NOLINT(concurrency-mt-unsafe): nobody sets it
  const int file = path == nullptr ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[32] = {};
  const ssize_t size = read(file, text, sizeof(text) - 1);
  close(file);
  return size > 0 ? std::strtol(text, nullptr, 10) : 0;
}

}  // namespace

// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name)
extern "C" int clock_gettime(clockid_t which, timespec* time) noexcept {
  const long failed = syscall(SYS_clock_gettime, which, time);
  if (failed == 0 && which == CLOCK_REALTIME) time->tv_sec += seconds_moved();
  return static_cast<int>(failed);
}
