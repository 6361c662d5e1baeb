// How a thread asks over a switchboard and waits for the answer.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "authority/reception.h"
#include "client/remote.h"
#include "wire/reply_reader.h"
#include "wire/request_writer.h"

namespace tenure::client {

// Throws as raise does; an error that does not name what its exception must name is a plain one.
[[noreturn]] inline void raise_remote(const Failure& failure, std::string_view domain = {}) {
  if (failure.code == ErrorCode::kBacklogOrder && !(failure.expected && failure.got)) {
    throw Error(failure.code, failure.message);
  }
  raise(failure, domain);
}

template <class Reply>
Result<Reply> read_answer(const Answer& answer) {
  if (!answer.reply) return tl::unexpected(answer.reply.error());
  Reply reply{};
  if (wire::read_reply(*answer.reply, reply)) return reply;
  return fail_with(ErrorCode::kUnavailable,
                   "the server gives an answer of another kind: what was asked may or may not have happened");
}

inline std::shared_ptr<Call> make_call(const Desk& desk, std::string bytes, Repeat repeat = Repeat::kFreely) {
  auto call = std::make_shared<Call>();
  call->bytes = std::move(bytes);
  call->repeat = repeat;
  call->deadline = desk.board->now() + desk.timeout;
  return call;
}

// Asks, and waits for the answer. `has_own_line`: it may take long.
inline Answer ask(const Desk& desk, const std::shared_ptr<Call>& call, bool has_own_line = false,
                  std::string_view session = {}) {
  Reception<Answer> reception;
  call->done = [tell = reception.callback()](Answer answer) mutable { tell(std::move(answer)); };
  desk.board->ask(call, has_own_line, session);
  return *reception.wait();
}

// The same, but once `stop` is asked to stop it waits no longer than it must: what was not sent is answered with
// nothing.
inline Answer ask_unless_stopped(const Desk& desk, const std::shared_ptr<Call>& call, bool has_own_line,
                                 std::stop_token stop, std::string_view session) {
  Reception<Answer> reception;
  call->done = [tell = reception.callback()](Answer answer) mutable { tell(std::move(answer)); };
  desk.board->ask(call, has_own_line, session);
  const std::stop_callback give_up(std::move(stop), [&] { desk.board->cancel(call, session); });
  return *reception.wait();
}

// Asks something that may wait for its answer, until the time has passed or `stop` is asked to stop.
inline Answer ask_and_wait(const Desk& desk, std::string bytes, Millis block, bool has_request_id, std::stop_token stop,
                           std::string_view session = {}) {
  auto call = make_call(desk, std::move(bytes));
  call->wait_until = desk.board->now() + block;
  call->deadline = *call->wait_until + desk.timeout;
  call->has_request_id = has_request_id;
  return ask_unless_stopped(desk, call, true, std::move(stop), session);
}

template <class Reply>
Reply expect_answer(const Answer& answer, std::string_view domain = {}) {
  auto reply = read_answer<Reply>(answer);
  if (!reply) raise_remote(reply.error(), domain);
  return std::move(*reply);
}

// The answer to a plain request of a book, or its exception.
template <wire::BookRequest Request>
wire::BookReply<Request> expect(const Desk& desk, const Request& request, std::string_view domain = {}) {
  return expect_answer<wire::BookReply<Request>>(
      ask(desk, make_call(desk, wire::write_request(request), kRepeat<Request>)), domain);
}

// The caller's request id, or one that is made up; and whose it is.
class RequestId {
 public:
  RequestId(const Desk& desk, std::optional<std::string_view> given) : is_own_(!given) {
    id_ = given ? std::string(*given) : desk.board->new_request_id();
  }
  [[nodiscard]] std::string_view text() const { return id_; }
  [[nodiscard]] bool is_own() const { return is_own_; }

 private:
  bool is_own_;
  std::string id_;
};

}  // namespace tenure::client
