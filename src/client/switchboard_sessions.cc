// Sessions: who has joined which, and when the locks that are bound to one may be gone.
#include <algorithm>
#include <utility>

#include "client/switchboard.h"
#include "wire/request_writer.h"

namespace tenure::client {
namespace {

// A server that is asked whether it is there, and says nothing for so long, has perhaps given up the connection.
constexpr Millis kSilenceMax = std::chrono::seconds(10);

}  // namespace

std::string Switchboard::hello() const {
  wire::Hello hello{.version = 3, .credentials = {}, .name = {}};
  if (!settings_.password.empty()) {
    hello.credentials.emplace();
    if (!settings_.user.empty()) hello.credentials->user = settings_.user;
    hello.credentials->password = settings_.password;
  }
  if (!settings_.name.empty()) hello.name = settings_.name;
  return wire::write_request(hello);
}

Failure Switchboard::closed() { return {.code = ErrorCode::kUnavailable, .message = "the client is closed"}; }

Failure Switchboard::no_such_session(std::string_view session) {
  return {.code = ErrorCode::kInvalid,
          .message = fmt::format("session '{}': expected one that was joined, found none", session)};
}

// --- orders from any thread ---

std::string Switchboard::own_session(Millis grace) {
  std::string session = fmt::format("{}:{}", session_id_, grace.count());
  do_on_loop([this, session, grace] {
    if (lanes_.contains(session)) return;
    Lane& lane = make_lane(session);
    lane.members = 1;
    lane.grace = grace;
    lane.watch->set_grace(grace);
    greet_as_member(lane, session, grace);
    lane.shared->keep_up(true);
  });
  return session;
}

std::uint64_t Switchboard::watch(std::string_view session, std::function<void()> lost) {
  const MutexLock lock(watchers_mutex_);
  watchers_[++watcher_numbers_] = {std::string(session), std::move(lost)};
  return watcher_numbers_;
}

void Switchboard::unwatch(std::uint64_t number) {
  const MutexLock lock(watchers_mutex_);
  watchers_.erase(number);
}

void Switchboard::join(std::string_view session, std::optional<Millis> grace, Millis timeout,
                       absl::AnyInvocable<void(Answer)> done) {
  auto call = std::make_shared<Call>();
  call->bytes = wire::write_request(wire::JoinSession{session, grace});
  call->deadline = now() + timeout;
  call->done = std::move(done);
  if (!do_on_loop([this, session = std::string(session), grace, call] { enter(session, grace, call); })) {
    call->answer(tl::unexpected(closed()));
  }
}

void Switchboard::leave(std::string_view session, Millis timeout, absl::AnyInvocable<void(Answer)> done) {
  auto shared = std::make_shared<absl::AnyInvocable<void(Answer)>>(std::move(done));
  const bool is_open = do_on_loop([this, session = std::string(session), deadline = now() + timeout, shared] {
    go_out(session, deadline, std::move(*shared));
  });
  if (!is_open) (*shared)({.reply = wire::RespReply{}});
}

// --- members ---

void Switchboard::enter(const std::string& session, std::optional<Millis> grace, std::shared_ptr<Call> call) {
  if (session.empty()) {
    return call->answer(fail_with(ErrorCode::kInvalid, "session: expected 1 to 255 bytes, found none"));
  }
  const auto known = lanes_.find(session);
  Lane& lane = known == lanes_.end() ? make_lane(session) : known->second;
  const bool is_new = lane.members++ == 0;
  if (is_new || grace) greet_as_member(lane, session, grace);
  // Until it is known which one counts, the shorter does.
  if (is_new || (grace && *grace < lane.grace)) lane.watch->set_grace(grace.value_or(Millis{0}));
  if (is_new || grace) lane.grace = grace.value_or(Millis{0});
  lane.shared->keep_up(true);
  // A session that cannot be joined is none; the lane is looked up again, since its owner may have left meanwhile.
  call->done = [this, session, done = std::move(call->done)](Answer answer) mutable {
    if (answer.reply) {
      do_on_loop([this, session] {
        const auto lane_of = lanes_.find(session);
        if (lane_of != lanes_.end()) lane_of->second.watch->set_grace(lane_of->second.grace);
      });
    } else {
      do_on_loop([this, session] {
        const auto lane_of = lanes_.find(session);
        if (lane_of == lanes_.end() || --lane_of->second.members > 0) return;
        lane_of->second.shared->close(closed());
        for (const auto& line : lane_of->second.own) line->close(closed());
        lanes_.erase(lane_of);
      });
    }
    done(std::move(answer));
  };
  lane.shared->put(std::move(call));
}

void Switchboard::go_out(const std::string& session, Millis deadline, absl::AnyInvocable<void(Answer)> done) {
  const auto found = session.empty() ? lanes_.end() : lanes_.find(session);
  if (found == lanes_.end() || --found->second.members > 0) return done({.reply = wire::RespReply{}});
  Lane lane = std::move(found->second);
  lanes_.erase(found);
  tell_lost(session);
  std::vector<std::unique_ptr<Line>> lines = std::move(lane.own);
  const Line* const shared = lane.shared.get();
  lines.push_back(std::move(lane.shared));
  // Who still waits for a lock of the session waits in vain; what the shared line has been asked is soon answered.
  std::erase_if(lines, [&](const auto& line) {
    const bool is_leaving = line->is_up() && (line->is_idle() || line.get() == shared);
    if (!is_leaving) line->close(no_such_session(session));
    return !is_leaving;
  });
  if (lines.empty()) return done({.reply = wire::RespReply{}});
  struct Farewell {
    std::size_t left;
    absl::AnyInvocable<void(Answer)> done;
  };
  auto farewell = std::make_shared<Farewell>(Farewell{lines.size(), std::move(done)});
  for (auto& line : lines) {
    auto reset = std::make_shared<Call>();
    reset->bytes = wire::write_request(wire::Reset{});
    reset->repeat = Repeat::kNever;  // a connection that breaks has left, too
    reset->deadline = deadline;
    reset->done = [farewell](const Answer&) {
      if (--farewell->left == 0) farewell->done({.reply = wire::RespReply{}});
    };
    line->keep_up(false);
    line->put(std::move(reset));
    parting_.push_back(std::move(line));
  }
}

void Switchboard::greet_as_member(Lane& lane, const std::string& session, std::optional<Millis> grace) const {
  lane.greeting = hello() + wire::write_request(wire::JoinSession{session, grace});
  lane.greetings = 2;
  lane.shared->greet_with(lane.greeting, lane.greetings);
  for (const auto& line : lane.own) line->greet_with(lane.greeting, lane.greetings);
}

// --- watching ---

void Switchboard::watch_over(const std::string& session, Lane& lane, Millis time) {
  if (lane.watch == nullptr) return;
  if (lane.watch->may_have_ended(time)) tell_lost(session);
  if (lane.shared->is_up() && time < lane.ask_at) return;
  lane.ask_at = time + lane.watch->question_interval();
  if (!lane.shared->is_up()) return;
  auto question = std::make_shared<Call>();
  question->bytes = wire::write_request(wire::Ping{});
  question->deadline = time + kSilenceMax;
  question->done = [this, session](const Answer& answer) {
    if (!answer.reply) do_on_loop([this, session] { hang_up(session); });
  };
  lane.shared->put(std::move(question));
}

// Nobody knows which of its connections the server still has: new ones are made.
void Switchboard::hang_up(const std::string& session) {
  const auto lane = lanes_.find(session);
  if (lane == lanes_.end()) return;
  lane->second.shared->hang_up("it is not answered in time", now());
  for (const auto& line : lane->second.own) line->hang_up("it is not answered in time", now());
}

void Switchboard::tell_lost(const std::string& session) {
  const MutexLock lock(watchers_mutex_);
  for (const auto& [number, watcher] : watchers_) {
    if (watcher.session == session) watcher.lost();
  }
}

}  // namespace tenure::client
