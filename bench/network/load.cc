#include "load.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <poll.h>
#include <stdexcept>
#include <sys/epoll.h>
#include <utility>

#include <fmt/core.h>

#include "expect.h"

namespace tenure::bench {
namespace {

using Clock = Instant::clock;
using std::chrono::duration_cast;

// A peer that is silent for so long has failed.
constexpr auto kSilenceMax = std::chrono::seconds(10);
constexpr auto kWarmingStep = std::chrono::milliseconds(20);
constexpr std::size_t kLatenciesReserved = std::size_t{1} << 20;

Instant::duration duration_of(double seconds) {
  return duration_cast<Instant::duration>(std::chrono::duration<double>(seconds));
}

double seconds_of(Instant::duration duration) { return std::chrono::duration<double>(duration).count(); }

int milliseconds_until(Instant end) {
  const auto left = duration_cast<std::chrono::milliseconds>(end - Clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1000)) + 1;
}

// The latency that so many hundredths are not above; reorders.
double percentile_us(std::vector<std::uint64_t>& latencies_ns, std::size_t percent) {
  const std::size_t index = std::min(latencies_ns.size() * percent / 100, latencies_ns.size() - 1);
  const auto at = latencies_ns.begin() + static_cast<std::ptrdiff_t>(index);
  std::nth_element(latencies_ns.begin(), at, latencies_ns.end());
  return static_cast<double>(*at) / 1e3;
}

}  // namespace

Load::Load(Plan plan, Speech& speech, std::uint16_t port)
    : plan_(std::move(plan)),
      speech_(speech),
      poll_(make_poll()),
      is_blocked_(plan_.connections),
      begun_(plan_.lanes()),
      now_(Clock::now()) {
  latencies_ns_.reserve(kLatenciesReserved);
  connections_.reserve(plan_.connections);
  for (std::size_t i = 0; i < plan_.connections; ++i) {
    connections_.emplace_back(port);
    connections_.back().output() = speech_.greeting(i);
    watch(poll_, connections_.back().socket(), EPOLLIN, i);
  }
}

Figures Load::run() {
  prepare();
  begin_all();
  warm_up();
  cycles_ = 0;
  latencies_ns_.clear();
  const Instant begun = Clock::now();
  serve_until(begun + duration_of(plan_.seconds));
  const Figures measured = figures(begun);
  is_ending_ = true;
  serve_until(Clock::now() + kSilenceMax);
  check_all_over();
  return measured;
}

void Load::prepare() {
  for (const std::string& request : speech_.preparations()) ask_at_once(request);
}

void Load::ask_at_once(const std::string& request) {
  Connection& connection = connections_.front();
  connection.output() += request;
  while (true) {
    connection.flush();
    while (const std::size_t end = speech_.find_end(connection.input())) {
      const std::string reply(connection.input().substr(0, end));
      connection.consume(end);
      if (!speech_.pass_over(reply, connection.output())) return speech_.take_preparation(reply);
    }
    pollfd waiting{.fd = connection.socket().get(), .events = POLLIN, .revents = 0};
    const auto patience = duration_cast<std::chrono::milliseconds>(kSilenceMax);
    if (connection.output().empty() && ::poll(&waiting, 1, static_cast<int>(patience.count())) == 0)
      unexpected("a reply to a preparation", "nothing");
    connection.receive();
  }
}

void Load::begin_all() {
  now_ = Clock::now();
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    for (std::size_t k = 0; k < plan_.depth; ++k) begin(connections_[i], i * plan_.depth + k);
    flush(i);
  }
}

void Load::begin(Connection& connection, Lane lane) {
  begun_[lane] = now_;
  Turn turn(connection.output(), now_, now_);
  speech_.begin(lane, turn);
  settle(connection, lane, turn);
}

void Load::settle(Connection& connection, Lane lane, const Turn& turn) {
  connection.await(lane, turn.asked());
  cycles_ += turn.units();
  if (turn.took())
    latencies_ns_.push_back(static_cast<std::uint64_t>(duration_cast<std::chrono::nanoseconds>(*turn.took()).count()));
  if (!turn.is_over()) return;
  if (is_ending_) {
    ++lanes_over_;
  } else {
    begin(connection, lane);
  }
}

void Load::warm_up() {
  serve_until(Clock::now() + duration_of(plan_.warm_up_seconds));
  const Instant patience = Clock::now() + kSilenceMax;
  while (!speech_.is_warm()) {
    if (Clock::now() > patience) unexpected("the peer to be warm", fmt::format("not within {} s", kSilenceMax.count()));
    serve_until(Clock::now() + kWarmingStep);
  }
}

void Load::serve_until(Instant end) {
  std::array<epoll_event, 256> events{};
  Instant heard = Clock::now();
  while (lanes_over_ < plan_.lanes() && Clock::now() < end) {
    const int count =
        ::epoll_wait(poll_.get(), events.data(), static_cast<int>(events.size()), milliseconds_until(end));
    if (count < 0 && errno != EINTR) throw_system_error("epoll_wait");
    if (count > 0) heard = Clock::now();
    for (int i = 0; i < count; ++i) serve(events.at(static_cast<std::size_t>(i)).data.u64);
    if (Clock::now() - heard > kSilenceMax) unexpected(fmt::format("a reply within {} s", kSilenceMax.count()), "none");
  }
}

void Load::serve(std::size_t index) {
  Connection& connection = connections_[index];
  connection.receive();
  now_ = Clock::now();
  take_replies(connection);
  flush(index);
}

void Load::take_replies(Connection& connection) {
  while (const std::size_t end = speech_.find_end(connection.input())) {
    const std::string_view reply = connection.input().substr(0, end);
    if (!speech_.pass_over(reply, connection.output())) {
      const Lane lane = connection.take_lane();
      Turn turn(connection.output(), begun_[lane], now_);
      speech_.take(lane, reply, turn);
      settle(connection, lane, turn);
    }
    connection.consume(end);
  }
}

void Load::flush(std::size_t index) {
  const bool is_blocked = !connections_[index].flush();
  if (is_blocked == is_blocked_[index]) return;
  is_blocked_[index] = is_blocked;
  rewatch(poll_, connections_[index].socket(), is_blocked ? EPOLLIN | EPOLLOUT : EPOLLIN, index);
}

void Load::check_all_over() const {
  if (lanes_over_ == plan_.lanes()) return;
  unexpected("the last cycles to end", fmt::format("{} that did not", plan_.lanes() - lanes_over_));
}

Figures Load::figures(Instant begun) const {
  Figures figures{.seconds = seconds_of(Clock::now() - begun), .cycles = cycles_};
  if (cycles_ == 0 || latencies_ns_.empty()) unexpected("cycles to be done", "none");
  auto latencies_ns = latencies_ns_;
  figures.p50_us = percentile_us(latencies_ns, 50);
  figures.p99_us = percentile_us(latencies_ns, 99);
  figures.max_us = static_cast<double>(*std::max_element(latencies_ns.begin(), latencies_ns.end())) / 1e3;
  return figures;
}

}  // namespace tenure::bench
