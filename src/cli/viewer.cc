#include "cli/viewer.h"

#include <poll.h>

namespace tenure::cli {
namespace {

// More than any terminal shows.
constexpr std::int64_t kSeenMax = 200;
// A server that does not answer is told of soon.
constexpr Millis kLookPatience = std::chrono::seconds(3);

}  // namespace

TopView look(const Errand& errand) {
  TopView view;
  const Paging paging{.count = kSeenMax, .cursor = "0"};
  const auto client = errand.client != nullptr ? errand.client->within(kLookPatience) : nullptr;
  Authority& authority = client != nullptr ? *client : errand.authority;
  if (client != nullptr) view.figures.emplace(client->info());
  view.queues = authority.tasks().queues(paging);
  view.workers = authority.tasks().workers(paging);
  view.locks = authority.locks().list({.paging = paging});
  view.now = authority.now();
  view.at = errand.desk.clock.boot();
  return view;
}

Viewer::Viewer(const Errand& errand, Millis interval) : errand_(errand), interval_(interval) {
  watcher_ = std::thread([this] { watch(); });
}

Viewer::~Viewer() {
  over_.ring();
  watcher_.join();
}

Viewer::Seen Viewer::seen() const {
  const MutexLock lock(mutex_);
  return seen_;
}

void Viewer::look_once() {
  std::optional<TopView> view;
  std::string trouble;
  try {
    view = look(errand_);
  } catch (const Error& error) {
    trouble = error.what();
  }
  const MutexLock lock(mutex_);
  seen_.trouble = std::move(trouble);
  if (!view) return;
  seen_.before = std::move(seen_.view);
  seen_.view = std::move(view);
}

void Viewer::watch() {
  pollfd over{.fd = over_.descriptor(), .events = POLLIN, .revents = 0};
  do {
    look_once();
    bell_.ring();
  } while (::poll(&over, 1, static_cast<int>(interval_.count())) <= 0);
}

}  // namespace tenure::cli
