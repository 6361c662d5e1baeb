#include "authority/validate.h"
#include "client/asking.h"
#include "client/lock_errands.h"

namespace tenure::client {
namespace {

template <class Reply>
Reply expect_lock(const Result<Reply>& reply, const LockName& lock) {
  if (!reply) raise_lock(reply.error(), lock.domain, lock.identifier);
  return *reply;
}

template <wire::BookRequest Request>
Result<wire::BookReply<Request>> ask_lock(const Desk& desk, const Request& request) {
  return read_answer<wire::BookReply<Request>>(ask(desk, make_call(desk, wire::write_request(request))));
}

// Most locks are free. So it is first asked for among all other calls, and only who has to wait takes a connection for
// that: the same request once more, which is new to the server since nothing came of the first.
Answer ask_until_granted(const Desk& desk, const wire::AcquireLock& acquire, Millis wait, const std::stop_token& stop,
                         std::string_view session) {
  const Millis wait_until = desk.board->now() + wait;
  const auto call = make_call(desk, wire::write_request(acquire));
  call->deadline += wait;
  Answer first = ask_unless_stopped(desk, call, false, stop, session);
  const bool is_nothing = first.reply && first.reply->kind == wire::RespReply::Kind::kNull;
  const Millis left = wait_until - desk.board->now();
  if (!is_nothing || left <= Millis{0} || stop.stop_requested()) return first;
  Answer second = ask_and_wait(desk, wire::write_waiting(acquire), left, true, stop, session);
  second.is_repeated = second.is_repeated || first.is_repeated;
  return second;
}

class Watching final : public SessionKeeper::Subscription {
 public:
  Watching(std::shared_ptr<Switchboard> board, std::string_view session, std::function<void()> lost)
      : board_(std::move(board)), number_(board_->watch(session, std::move(lost))) {}
  ~Watching() override { board_->unwatch(number_); }
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;

 private:
  const std::shared_ptr<Switchboard> board_;
  const std::uint64_t number_;
};

}  // namespace

std::optional<LockGrant> RemoteLocks::acquire(const LockRequest& request, Millis wait, std::stop_token stop) {
  const Desk desk = desk_;
  if (const auto fault = fault_in_wait("wait", wait)) raise_remote(*fault);
  const Millis wait_until = desk.board->now() + wait;
  const std::string_view session = request.session.value_or("");
  wire::AcquireLock acquire;
  static_cast<LockRequest&>(acquire.request) = request;
  acquire.is_bound = request.session.has_value();
  if (acquire.is_bound && session.empty()) {
    raise_remote({.code = ErrorCode::kInvalid, .message = "session: expected 1 to 255 bytes, found none"});
  }
  while (true) {
    const RequestId id(desk, request.request_id);
    acquire.request.request_id = id.text();
    const Millis left = wait_until - desk.board->now();
    const Answer answer = wait == Millis{0} || left <= Millis{0}
                              ? ask(desk, make_call(desk, wire::write_request(acquire)), false, session)
                              : ask_until_granted(desk, acquire, left, stop, session);
    auto grant = read_answer<std::optional<LockGrant>>(answer);
    if (is_to_ask_anew(grant, id.is_own(), answer.is_repeated) && !stop.stop_requested()) continue;
    return expect_lock(grant, request.lock);
  }
}

std::uint32_t RemoteLocks::release(const LockRelease& request) {
  const Desk desk = desk_;
  const RequestId id(desk, request.request_id);
  LockGiveBack release;
  static_cast<LockRelease&>(release) = request;
  release.request_id = id.text();
  return expect_lock(ask_lock(desk, release), request.lock);
}

bool RemoteLocks::force(const LockName& lock, std::optional<Fence> fence) {
  const Desk desk = desk_;
  const Millis deadline = desk.board->now() + desk.timeout;
  ForceErrand errand(lock, fence);
  while (!errand.result()) {
    const auto force = errand.next();
    if (!force) {
      errand.take_holder(expect_lock(ask_lock(desk, GetLock{lock}), lock));
      continue;
    }
    const Answer answer = ask(desk, make_call(desk, wire::write_request(*force)));
    errand.take_answer(expect_lock(read_answer<bool>(answer), lock), answer.is_repeated);
    if (!errand.result() && desk.board->now() >= deadline) {
      raise_lock({.code = ErrorCode::kUnavailable, .message = "the lock changes hands faster than it can be forced"},
                 lock.domain, lock.identifier);
    }
  }
  return expect_lock(*errand.result(), lock);
}

bool RemoteLocks::is_locked(const LockName& lock) { return get(lock).has_value(); }

LockExtended RemoteLocks::extend(const LockExtension& request) {
  return expect_lock(ask_lock(Desk(desk_), request), request.lock);
}

std::optional<LockStatus> RemoteLocks::get(const LockName& lock) {
  return expect_lock(ask_lock(Desk(desk_), GetLock{lock}), lock);
}

LockPage RemoteLocks::list(const LockListing& request) { return expect(Desk(desk_), ListLocks{request}); }

std::string RemoteLocks::own_session(Millis grace) { return desk_.board->own_session(grace); }

std::unique_ptr<SessionKeeper::Subscription> RemoteLocks::watch(std::string_view session, std::function<void()> lost) {
  return std::make_unique<Watching>(desk_.board, session, std::move(lost));
}

}  // namespace tenure::client
