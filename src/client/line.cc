#include "client/line.h"

#include <algorithm>
#include <utility>

#include "wire/reply_reader.h"
#include "wire/request_writer.h"

namespace tenure::client {
namespace {

// A reply that is still growing is read from its start each time more has come: so much is taken at once if it is
// there.
constexpr std::size_t kInputAtOnce = std::size_t{1} << 20;

// A server that says it cannot answer may have done what it was asked, as one that is gone may have.
bool is_no_answer(ErrorCode code) { return code == ErrorCode::kUnavailable; }

}  // namespace

Line::Line(Exchange& exchange, std::string greeting, int greetings, std::shared_ptr<Witness> witness)
    : exchange_(exchange), greeting_(std::move(greeting)), greetings_(greetings), witness_(std::move(witness)) {}

void Line::drop_stream() {
  if (stream_ != nullptr && witness_ != nullptr) witness_->broken(*this);
  stream_.reset();
}

void Line::greet_with(std::string greeting, int greetings) {
  greeting_ = std::move(greeting);
  greetings_ = greetings;
}

void Line::put(std::shared_ptr<Call> call) {
  expect_by(call->deadline);
  queue_.push_back(std::move(call));
}

bool Line::carries(const Call& call) const {
  const auto is_it = [&](const auto& other) { return other.get() == &call; };
  return std::any_of(sent_.begin(), sent_.end(), is_it) || std::any_of(queue_.begin(), queue_.end(), is_it);
}

Millis Line::next_due() const {
  Millis due = earliest_deadline_;
  if (state_ == State::kDown && (is_kept_ || !queue_.empty())) due = std::min(due, dial_at_);
  if (state_ == State::kConnecting || state_ == State::kGreeting) due = std::min(due, connect_by_);
  return due;
}

void Line::tend(Millis now) {
  if (now >= earliest_deadline_) give_up_late_calls(now);
  if ((state_ == State::kConnecting || state_ == State::kGreeting) && now >= connect_by_) {
    exchange_.move_on();
    break_off("no connection in time", now);
  }
  if (state_ == State::kDown && (is_kept_ || !queue_.empty()) && now >= dial_at_) dial(now);
  if (state_ == State::kUp && !queue_.empty()) speak(now);
}

// --- connecting ---

void Line::dial(Millis now) {
  connect_by_ = now + exchange_.connect_timeout();
  auto stream = exchange_.dial();
  if (!stream) {
    exchange_.move_on();
    return break_off(stream.error().message, now);
  }
  stream_ = std::move(*stream);
  state_ = State::kConnecting;
  go_on_connecting(now);
}

void Line::go_on_connecting(Millis now) {
  const auto is_connected = stream_->advance();
  if (!is_connected) {
    fail(is_connected.error(), now);
    return exchange_.move_on();
  }
  if (*is_connected) connected(now);
}

void Line::connected(Millis now) {
  state_ = State::kGreeting;
  greetings_left_ = greetings_;
  greeted_at_ = now;
  received_at_ = now - Millis{1};  // nothing on this connection yet
  output_ = greeting_;
  output_begin_ = 0;
  flush(now);
}

void Line::on_ready(Millis now) {
  if (state_ == State::kConnecting) return go_on_connecting(now);
  if (state_ != State::kDown) flush(now);
  if (state_ != State::kDown) receive(now);
}

// --- sending ---

void Line::speak(Millis now) {
  for (auto& call : queue_) {
    if (!call->done) continue;
    send(call, now);
    sent_.push_back(std::move(call));
  }
  queue_.clear();
  flush(now);
}

void Line::send(const std::shared_ptr<Call>& call, Millis now) {
  call->begin = output_begin_ + output_.size();
  call->sent_at = now;
  output_ += call->bytes;
  // 0 would not take over the place of the same request that waits already.
  if (call->wait_until)
    wire::append_word(output_, std::to_string(std::max(Millis{1}, *call->wait_until - now).count()));
}

void Line::flush(Millis now) {
  if (output_.empty() && stream_->wants_to_write()) {
    if (const auto passed_on = stream_->send({}); !passed_on) return fail(passed_on.error(), now);
  }
  std::size_t begin = 0;
  while (begin < output_.size()) {
    const auto sent = stream_->send(std::string_view(output_).substr(begin));
    if (!sent) return fail(sent.error(), now);
    if (*sent == 0) break;
    begin += *sent;
    output_begin_ += *sent;
  }
  output_.erase(0, begin);
}

// --- receiving ---

void Line::receive(Millis now) {
  const std::size_t before = input_.size();
  auto received = stream_->receive(input_);
  while (received && *received > 0 && input_.size() < before + kInputAtOnce) received = stream_->receive(input_);
  if (input_.size() > before) received_at_ = now;
  // What was said before the end counts.
  while (stream_ != nullptr && input_begin_ < input_.size()) {
    auto first = wire::first_reply(std::string_view(input_).substr(input_begin_));
    if (!first) return break_off(fmt::format("it does not speak the protocol: {}", first.error().message), now);
    if (!*first) break;
    input_begin_ += (*first)->consumed;
    take_reply(std::move((*first)->reply), now);
  }
  if (stream_ == nullptr) return;
  input_.erase(0, std::exchange(input_begin_, 0));
  if (input_.empty() && input_.capacity() > kInputAtOnce) input_.shrink_to_fit();
  if (!received) fail(received.error(), now);
}

void Line::take_reply(wire::RespReply reply, Millis now) {
  if (state_ == State::kGreeting) {
    take_greeting(reply, now);
  } else if (sent_.empty()) {
    break_off("it does not speak the protocol: it answers what was not asked", now);
  } else {
    take_answer(std::move(reply), now);
  }
}

void Line::take_greeting(const wire::RespReply& reply, Millis now) {
  if (reply.kind == wire::RespReply::Kind::kError) {
    const Failure failure = wire::read_error(reply.text);
    if (failure.code == ErrorCode::kMoved) return follow(failure.message, now);
    if (is_no_answer(failure.code) || failure.code == ErrorCode::kBackpressure) {
      exchange_.move_on();
      return break_off(failure.message, now);
    }
    return refuse(failure, now);
  }
  if (const auto* server = reply.find("server"); server != nullptr && server->text != "tenure") {
    return refuse(
        {.code = ErrorCode::kUnavailable,
         .message = fmt::format("{}: expected a Tenure server, found one of '{}'", exchange_.address(), server->text)},
        now);
  }
  if (--greetings_left_ > 0) return;
  state_ = State::kUp;
  if (witness_ != nullptr) witness_->greeted(*this, greeted_at_, now);
  speak(now);
}

// The stream is of no more use; perhaps the next one is.
void Line::fail(const Failure& failure, Millis now) {
  const bool is_unheard = state_ == State::kGreeting && received_at_ < greeted_at_;
  if (is_unheard && !stream_->is_refused()) {
    return break_off(failure.message +
                         ", before a word: expected a server that speaks what this client does, with TLS "
                         "or without",
                     now);
  }
  if (!stream_->is_refused()) return break_off(failure.message, now);
  refuse({.code = failure.code, .message = fmt::format("{}: {}", exchange_.address(), failure.message)}, now);
}

// The server answers, and does not want us; it will not do so because it is asked again.
void Line::refuse(const Failure& failure, Millis now) {
  for (const auto& call : std::exchange(queue_, {})) call->answer(tl::unexpected(failure));
  break_off(failure.message, now);
}

void Line::take_answer(wire::RespReply reply, Millis now) {
  const auto call = std::move(sent_.front());
  sent_.pop_front();
  if (witness_ != nullptr) witness_->answered(*this, call->sent_at);
  if (reply.kind != wire::RespReply::Kind::kError) {
    failures_ = 0;
    return call->answer(std::move(reply));
  }
  Failure failure = wire::read_error(reply.text);
  if (failure.code == ErrorCode::kMoved) {  // nothing was done
    queue_.push_front(call);
    return follow(failure.message, now);
  }
  if (is_no_answer(failure.code) && call->repeat == Repeat::kFreely) {
    sent_.push_front(call);
    exchange_.move_on();  // one of several that is cut off from the others says so for long
    return break_off(failure.message, now);
  }
  failures_ = 0;
  call->answer(tl::unexpected(std::move(failure)));
}

// `0 host:port`
void Line::follow(const std::string& target, Millis now) {
  const std::size_t blank = target.rfind(' ');
  exchange_.move_to(blank == std::string::npos ? target : target.substr(blank + 1));
  break_off("it moved to " + target, now);
}

// --- the end ---

void Line::break_off(std::string reason, Millis now) {
  trouble_ = std::move(reason);
  drop_stream();
  state_ = State::kDown;
  const std::uint64_t handed_over = output_begin_;
  output_.clear();
  input_.clear();
  input_begin_ = 0;
  ++failures_;
  dial_at_ = now + exchange_.backoff(failures_);
  std::deque<std::shared_ptr<Call>> again;
  for (auto& call : std::exchange(sent_, {})) {
    if (!call->done) continue;
    const bool was_sent = call->begin < handed_over;
    if (was_sent && call->repeat == Repeat::kNever) {
      call->answer(tl::unexpected(unanswered(*call)));
      continue;
    }
    call->is_repeated = call->is_repeated || was_sent;
    if (!was_sent) call->sent_at = Millis{-1};
    again.push_back(std::move(call));
  }
  queue_.insert(queue_.begin(), std::make_move_iterator(again.begin()), std::make_move_iterator(again.end()));
}

Failure Line::unanswered(const Call& call) const {
  if (!call.may_be_done()) {
    return {.code = ErrorCode::kUnavailable,
            .message = fmt::format("{}: no connection in time, nothing was asked: {}", exchange_.address(), trouble_)};
  }
  return {.code = ErrorCode::kUnavailable,
          .message = fmt::format("{}: the answer is missing, what was asked may or may not have happened: {}",
                                 exchange_.address(), state_ == State::kUp ? "it is not answered in time" : trouble_)};
}

void Line::give_up(Call& call) { call.answer(tl::unexpected(unanswered(call))); }

// A server that has not said a word since the call was sent may be gone without the network telling.
void Line::give_up_late_calls(Millis now) {
  earliest_deadline_ = kNotDue;
  bool is_dead = false;
  for (auto* calls : {&sent_, &queue_}) {
    for (const auto& call : *calls) {
      if (!call->done) continue;
      if (now < call->deadline) {
        earliest_deadline_ = std::min(earliest_deadline_, call->deadline);
        continue;
      }
      is_dead = is_dead || (calls == &sent_ && received_at_ <= call->sent_at);
      give_up(*call);
    }
  }
  std::erase_if(queue_, [](const auto& call) { return !call->done; });
  if (is_dead) break_off("it is not answered in time", now);
}

void Line::hang_up(std::string reason, Millis now) {
  if (stream_ != nullptr) break_off(std::move(reason), now);
}

void Line::close(const Failure& failure) {
  drop_stream();
  state_ = State::kDown;
  is_kept_ = false;
  for (const auto& call : std::exchange(sent_, {})) call->answer(tl::unexpected(failure));
  for (const auto& call : std::exchange(queue_, {})) call->answer(tl::unexpected(failure));
}

}  // namespace tenure::client
