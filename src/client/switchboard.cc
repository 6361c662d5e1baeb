#include "client/switchboard.h"

#include <algorithm>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "client/backoff.h"
#include "wire/request_writer.h"

namespace tenure::client {
namespace {

constexpr Millis kLongestSleep = std::chrono::hours(1);

}  // namespace

Switchboard::Switchboard(std::string address, ClientSettings settings, std::unique_ptr<Dialer> dialer,
                         const Clock& clock)
    : settings_(std::move(settings)),
      dialer_(std::move(dialer)),
      clock_(clock),
      bell_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      current_(address) {
  TENURE_CHECK(bell_ >= 0, "an eventfd cannot be made: error {}", errno);
  addresses_.push_back(std::move(address));
  addresses_.insert(addresses_.end(), settings_.others.begin(), settings_.others.end());
  id_ = hex16(entropy_.next()) + hex16(entropy_.next());
  session_id_ = hex16(entropy_.next()) + hex16(entropy_.next());
  make_lane("");
  loop_ = std::thread([this] { run(); });
}

Switchboard::~Switchboard() {
  close();
  ::close(bell_);
}

void Switchboard::close() {
  {
    const MutexLock lock(mutex_);
    if (std::exchange(is_closing_, true)) return;
  }
  wake();
  loop_.join();
}

std::string Switchboard::new_request_id() { return id_ + "-" + std::to_string(++requests_); }

// --- orders from any thread ---

void Switchboard::wake() const {
  const std::uint64_t one = 1;
  // A bell that has rung too often to count once more wakes as well.
  [[maybe_unused]] const ssize_t written = ::write(bell_, &one, sizeof one);
}

// False: the loop has ended.
bool Switchboard::do_on_loop(Errand errand) {
  bool is_first = false;
  {
    const MutexLock lock(mutex_);
    if (is_closing_) return false;
    is_first = errands_.empty();
    errands_.push_back(std::move(errand));
  }
  if (is_first) wake();
  return true;
}

void Switchboard::ask(const std::shared_ptr<Call>& call, bool has_own_line, std::string_view session) {
  const bool is_open =
      do_on_loop([this, call, has_own_line, session = std::string(session)] { put(call, has_own_line, session); });
  if (!is_open) call->answer(tl::unexpected(closed()));
}

void Switchboard::cancel(std::shared_ptr<Call> call, std::string_view session) {
  do_on_loop([this, call = std::move(call), session = std::string(session)] { end_wait(call, session); });
}

// --- the loop ---

void Switchboard::run() {
  while (true) {
    const bool is_last = run_errands();
    if (is_last) break;
    tend_all();
    watch_all();
  }
  close_all();
}

// True: there will be no more.
bool Switchboard::run_errands() {
  std::vector<Errand> errands;
  bool is_last = false;
  {
    const MutexLock lock(mutex_);
    errands.swap(errands_);
    is_last = is_closing_;
  }
  for (Errand& errand : errands) errand();
  return is_last;
}

template <class Use>
void Switchboard::for_each_line(const Use& use) {
  for (auto& [session, lane] : lanes_) {
    use(*lane.shared);
    for (const auto& line : lane.own) use(*line);
  }
  for (const auto& line : parting_) use(*line);
}

void Switchboard::tend_all() {
  const Millis time = now();
  for (auto& [session, lane] : lanes_) watch_over(session, lane, time);
  for_each_line([&](Line& line) { line.tend(time); });
  for (auto& [session, lane] : lanes_) drop_free_lines(lane);
  std::erase_if(parting_, [](const auto& line) { return line->is_idle(); });
}

// Sleeps until something has come, or is due.
void Switchboard::watch_all() {
  std::vector<pollfd> watched = {{.fd = bell_, .events = POLLIN, .revents = 0}};
  std::vector<Line*> lines = {nullptr};
  Millis due = now() + kLongestSleep;
  for_each_line([&](Line& line) {
    due = std::min(due, line.next_due());
    if (line.descriptor() < 0) return;
    const int events = POLLIN | (line.wants_to_write() ? POLLOUT : 0);
    watched.push_back({.fd = line.descriptor(), .events = static_cast<short>(events), .revents = 0});
    lines.push_back(&line);
  });
  for (const auto& [session, lane] : lanes_) {
    if (lane.watch == nullptr) continue;
    due = std::min(due, lane.watch->may_end_at());
    if (lane.shared->is_up()) due = std::min(due, lane.ask_at);
  }
  const Millis left = std::max(Millis{0}, due - now());
  if (::poll(watched.data(), watched.size(), static_cast<int>(left.count())) <= 0) return;
  if (watched[0].revents != 0) {
    std::uint64_t rings = 0;
    [[maybe_unused]] const ssize_t count = ::read(bell_, &rings, sizeof rings);
  }
  const Millis time = now();
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (watched[i].revents != 0) lines[i]->on_ready(time);
  }
}

void Switchboard::close_all() {
  for_each_line([](Line& line) { line.close(closed()); });
}

// --- lanes ---

Switchboard::Lane& Switchboard::make_lane(const std::string& session) {
  Lane& lane = lanes_[session];
  lane.greeting = hello();
  lane.greetings = 1;
  if (!session.empty()) lane.watch = std::make_shared<SessionWatch>(Millis{0});
  lane.shared = make_line(lane);
  return lane;
}

std::unique_ptr<Line> Switchboard::make_line(const Lane& lane) {
  return std::make_unique<Line>(exchange(), lane.greeting, lane.greetings, lane.watch);
}

void Switchboard::put(const std::shared_ptr<Call>& call, bool has_own_line, const std::string& session) {
  const auto lane = lanes_.find(session);
  if (lane == lanes_.end()) return call->answer(tl::unexpected(no_such_session(session)));
  if (has_own_line) {
    put_on_own_line(lane->second, call);
  } else {
    lane->second.shared->put(call);
  }
}

void Switchboard::put_on_own_line(Lane& lane, std::shared_ptr<Call> call) {
  // One that is connected, before one that is not.
  Line* free = nullptr;
  for (const auto& line : lane.own) {
    if (line->is_idle() && (free == nullptr || line->is_up())) free = line.get();
  }
  // What takes back a wait is let in all the same: it ends one.
  if (free == nullptr && !call->is_repeated && own_lines() >= settings_.waiting_connections_max) {
    return call->answer(fail_with(ErrorCode::kBackpressure,
                                  "expected at most {} calls that wait at once, found one more",
                                  settings_.waiting_connections_max));
  }
  if (free == nullptr) free = lane.own.emplace_back(make_line(lane)).get();
  free->put(std::move(call));
}

std::size_t Switchboard::own_lines() const {
  std::size_t count = 0;
  for (const auto& [session, lane] : lanes_) count += lane.own.size();
  return count;
}

void Switchboard::drop_free_lines(Lane& lane) const {
  std::size_t kept = 0;
  std::erase_if(lane.own, [&](const auto& line) {
    return line->is_idle() && (!line->is_up() || ++kept > settings_.idle_connections);
  });
}

// What has no request id changes nothing: it hangs up.
void Switchboard::end_wait(const std::shared_ptr<Call>& call, const std::string& session) {
  if (!call->done) return;
  if (!call->may_be_done()) return call->answer(wire::RespReply{});
  const auto lane = lanes_.find(session);
  if (!call->wait_until) {  // it is answered at once, by a server that answers
    call->deadline = std::min(call->deadline, now() + settings_.timeout);
    if (lane != lanes_.end()) lane->second.shared->expect_by(call->deadline);
    return;
  }
  if (!call->has_request_id) {
    if (lane != lanes_.end()) {
      std::erase_if(lane->second.own, [&](const auto& line) { return line->carries(*call); });
    }
    return call->answer(wire::RespReply{});
  }
  put(end_of_wait(*call, now() + settings_.timeout), true, session);
}

// --- where lines lead ---

Result<std::unique_ptr<Stream>> Switchboard::dial() { return dialer_->dial(current_); }

void Switchboard::move_on() {
  next_address_ = (next_address_ + 1) % addresses_.size();
  current_ = addresses_[next_address_];
}

Millis Switchboard::backoff(int failures) {
  return reconnect_pause(settings_.backoff_initial, settings_.backoff_max, failures, entropy_.next());
}

}  // namespace tenure::client
