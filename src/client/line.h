// One connection and its calls. It is dialled when there is something to say, says who it is, sends calls as they come
// without waiting for answers, and gives each its reply, in order. When it breaks, it is dialled again, and what can be
// asked again is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include <tenure/types.h>
#include "base/result.h"
#include "client/call.h"
#include "client/stream.h"

namespace tenure::client {

// One thread.
class Line {
 public:
  // Where lines lead, and what they have in common. Outlives them.
  class Exchange {
   public:
    virtual ~Exchange() = default;
    virtual Result<std::unique_ptr<Stream>> dial() = 0;
    [[nodiscard]] virtual std::string address() const = 0;
    // The server said so.
    virtual void move_to(const std::string& address) = 0;
    // It does not answer there.
    virtual void move_on() = 0;
    [[nodiscard]] virtual Millis connect_timeout() const = 0;
    // How long to wait after so many failures in a row, of which the first is 1.
    virtual Millis backoff(int failures) = 0;
  };

  // Told of a line's connections.
  class Witness {
   public:
    Witness() = default;
    Witness(const Witness&) = delete;
    Witness& operator=(const Witness&) = delete;
    virtual ~Witness() = default;
    // The greeting that was sent then is answered.
    virtual void greeted(const Line& line, Millis sent, Millis now) = 0;
    // So is what was sent then, on the same connection.
    virtual void answered(const Line& line, Millis sent) = 0;
    // The connection is no more; it may not have been greeted.
    virtual void broken(const Line& line) = 0;
  };

  // `greeting` are the requests that begin each connection, so many. The witness may be null.
  Line(Exchange& exchange, std::string greeting, int greetings, std::shared_ptr<Witness> witness = nullptr);
  ~Line() { drop_stream(); }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  void greet_with(std::string greeting, int greetings);
  // It is dialled again at once when it breaks, also if there is nothing to ask.
  void keep_up(bool is_kept) { is_kept_ = is_kept; }

  void put(std::shared_ptr<Call> call);
  // The deadline of a call was moved to then.
  void expect_by(Millis deadline) { earliest_deadline_ = std::min(earliest_deadline_, deadline); }
  // What time asks for: gives up calls, dials, and sends. To be called after each change, and at `next_due`.
  void tend(Millis now);
  // The descriptor can be read or written.
  void on_ready(Millis now);

  [[nodiscard]] int descriptor() const { return stream_ == nullptr ? -1 : stream_->descriptor(); }
  [[nodiscard]] bool wants_to_write() const {
    return !output_.empty() || (stream_ != nullptr && stream_->wants_to_write());
  }
  // Never: kNotDue.
  [[nodiscard]] Millis next_due() const;
  static constexpr Millis kNotDue = Millis::max();
  // Nothing is asked or to be asked.
  [[nodiscard]] bool is_idle() const { return queue_.empty() && sent_.empty(); }
  [[nodiscard]] bool is_up() const { return state_ == State::kUp; }
  [[nodiscard]] bool carries(const Call& call) const;

  // Ends the connection; what was asked on it is asked again on the next.
  void hang_up(std::string reason, Millis now);
  // Ends the connection, and every call with the failure.
  void close(const Failure& failure);

 private:
  enum class State : std::uint8_t { kDown, kConnecting, kGreeting, kUp };

  void dial(Millis now);
  void drop_stream();
  void go_on_connecting(Millis now);
  void connected(Millis now);
  void speak(Millis now);
  void send(const std::shared_ptr<Call>& call, Millis now);
  void flush(Millis now);
  void receive(Millis now);
  void take_reply(wire::RespReply reply, Millis now);
  void take_greeting(const wire::RespReply& reply, Millis now);
  void take_answer(wire::RespReply reply, Millis now);
  void refuse(const Failure& failure, Millis now);
  void follow(const std::string& target, Millis now);
  void break_off(std::string reason, Millis now);
  void fail(const Failure& failure, Millis now);
  void give_up_late_calls(Millis now);
  void give_up(Call& call);
  [[nodiscard]] Failure unanswered(const Call& call) const;

  Exchange& exchange_;
  std::string greeting_;
  int greetings_;
  std::shared_ptr<Witness> witness_;
  bool is_kept_ = false;

  State state_ = State::kDown;
  std::unique_ptr<Stream> stream_;
  int greetings_left_ = 0;
  Millis greeted_at_{0};
  std::string output_;
  std::uint64_t output_begin_ = 0;  // bytes handed to the stream; those of `output_` are behind them
  std::string input_;
  std::size_t input_begin_ = 0;              // what stands before is read
  std::deque<std::shared_ptr<Call>> queue_;  // to be sent
  std::deque<std::shared_ptr<Call>> sent_;   // in this order they are answered
  int failures_ = 0;                         // in a row
  Millis dial_at_{0};
  Millis connect_by_{0};
  Millis received_at_{0};
  Millis earliest_deadline_ = kNotDue;  // of all calls, or before it
  std::string trouble_ = "it was not tried";
};

}  // namespace tenure::client
