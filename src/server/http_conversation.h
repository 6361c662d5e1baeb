// One connection's talk in HTTP/1.1: requests out of its bytes, one exchange at a time, replies in their order.
//
// A request that has begun must be there in time; one that cannot be read is answered, and ends the connection. A page
// of another origin gets nothing: its script speaks with the rights of whoever looks at it, not with its own.
//
// Where there are users, each request says who asks. That is found out once its head is there: of one that nobody
// stands for no large body is read.
//
// A reply may be a stream of events. It is the connection's last, and ends with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <tenure/types.h>
#include "authority/engine.h"
#include "base/clock.h"
#include "server/events.h"
#include "server/http_reader.h"
#include "wire/conversation.h"
#include "wire/http_exchange.h"
#include "wire/input_buffer.h"
#include "wire/refusal.h"
#include "wire/talk.h"

namespace tenure::server {

// One thread, on which the engine gives its answers too.
class HttpConversation final : public wire::Talk, public std::enable_shared_from_this<HttpConversation> {
 public:
  struct Terms {
    std::uint64_t client_id = 0;
    HttpLimits limits{};
    std::uint64_t payload_bytes_max = Settings().payload_bytes_max;
    std::size_t pipelined_bytes_max = std::size_t{1} << 20;  // received and not begun
    std::size_t output_bytes_max = std::size_t{1} << 20;     // not taken yet; beyond it nothing more is begun
    Millis arrival = std::chrono::seconds(60);               // of a request, from its first byte to its last
    Millis heartbeat = std::chrono::seconds(15);             // of a stream that has nothing to tell
    bool is_local = false;                                   // for this machine, where everybody may do all
  };

  // The server, as these conversations see it.
  class House : public wire::HttpExchange::House {
   public:
    // There is output to take; `go_on` is wanted. Called from within the engine's answers.
    virtual void on_answers(HttpConversation& conversation) = 0;
    // Tells `done`, at once or later on this thread, whose credentials these are. They are borrowed until it returns.
    virtual void check(HttpConversation& conversation, const wire::Credentials& credentials,
                       wire::Conversation::SignIn done) = 0;
    // Null: there is none.
    [[nodiscard]] virtual UserPointer user_named(std::string_view name) const = 0;
    // Events from behind the one of this id, or from now on. Output is asked for when there are more.
    virtual Result<std::unique_ptr<Events::Stream>> open_events(std::uint64_t client_id,
                                                                const std::optional<std::string>& last_id) = 0;
    // A request is answered with an error.
    virtual void on_refusal(const wire::Refusal& /*refusal*/) {}
    // Where the node that leads is reached, as http://host:port; empty: that is not known, or there is but this one.
    [[nodiscard]] virtual std::string leader_url() const { return {}; }
  };

  // Engine, house and clock outlive it.
  HttpConversation(Engine& engine, House& house, const Clock& clock, const Terms& terms);
  ~HttpConversation() override = default;

  // --- Talk ---
  absl::Span<char> room(std::size_t least) override { return input_.room(least); }
  void received(std::size_t count) override;
  void go_on() override;
  [[nodiscard]] bool wants_input() const override;
  bool check_time() override;
  void take_output(std::string& to) override;
  [[nodiscard]] std::size_t output_bytes() const override { return output_.size(); }
  void delivered(std::size_t count) override;
  void end() override;
  [[nodiscard]] bool is_ending() const override { return is_ending_; }
  [[nodiscard]] bool is_idle() const override {
    return exchange_ == nullptr && stream_ == nullptr && !is_signing_in_ && output_.empty();
  }
  [[nodiscard]] bool is_waiting() const override {
    return stream_ != nullptr || (exchange_ != nullptr && exchange_->is_waiting());
  }
  [[nodiscard]] std::size_t input_bytes() const override { return input_.capacity() + reader_.bytes(); }
  void close() override;
  [[nodiscard]] std::uint64_t client_id() const override { return terms_.client_id; }
  [[nodiscard]] Profile profile() const override;
  // Who stood for the last request.
  [[nodiscard]] UserPointer user() const override { return user_; }
  [[nodiscard]] bool is_stranger() const override { return user_ == nullptr && house_.has_users(); }
  [[nodiscard]] bool is_signing_in() const override { return is_signing_in_; }
  void sign_in(const UserPointer& user) override { user_ = user; }
  // Who stands for requests that say nothing else.
  void certify(const std::string& name, const UserPointer& user) override;

 private:
  [[nodiscard]] bool can_begin() const;
  [[nodiscard]] std::size_t limited(std::size_t usual) const;
  void identify(const HttpRequest& head);
  void end_sign_in(const Result<UserPointer>& user);
  // True: its end is known without its body.
  bool is_refused_early(const HttpReader::Step& step);
  void begin(const HttpRequest& request);
  void answer(wire::HttpReply reply);
  void finish(wire::HttpReply reply);
  void refuse(const Failure& failure, std::optional<int> status);
  void write(wire::HttpReply reply);
  [[nodiscard]] wire::HttpReply redirected(wire::HttpReply reply) const;
  void begin_stream();
  void write_piece(std::string_view text);
  void write_events();

  Engine& engine_;
  House& house_;
  const Clock& clock_;
  const Terms terms_;

  wire::InputBuffer input_;
  HttpReader reader_;
  std::string output_;
  std::string certified_name_;
  UserPointer user_;
  std::optional<Failure> denial_;                 // why nobody stands for the request that is arriving
  bool is_signing_in_ = false;                    // who does is being found out
  std::shared_ptr<wire::HttpExchange> exchange_;  // under way
  std::string_view subject_;                      // of that; empty: none is known
  bool is_head_ = false;                          // of that: the reply has no body
  bool is_last_ = false;                          // of that: the connection ends behind it
  bool is_old_ = false;                           // of that: no chunks
  std::optional<std::string> last_event_id_;      // of that
  std::string if_none_match_;                     // of that
  std::string target_;                            // of that
  bool is_by_script_ = false;                     // of that
  std::unique_ptr<Events::Stream> stream_;
  Millis last_told_{0};  // by the stream
  bool is_ending_ = false;
  bool is_beginning_ = false;  // an exchange, or to find out who asks
  std::optional<wire::HttpReply> at_once_;
  std::optional<Millis> since_;  // when the request that is arriving began
  // Whose replies are not delivered yet, by where they begin, counted from the first byte of all output.
  std::deque<std::pair<std::uint64_t, std::shared_ptr<wire::HttpExchange>>> undelivered_;
  std::uint64_t taken_ = 0;      // bytes of output, ever
  std::uint64_t delivered_ = 0;  // likewise
};

// How a reply is written.
struct HttpManner {
  bool has_body = true;       // false: it is one to HEAD, or the client has kept the body
  bool is_last = false;       // the connection ends behind it
  bool is_by_script = false;  // what asks is a page's script: the browser shall not ask for a password itself
};
// The whole reply: head and body.
std::string http_text(const wire::HttpReply& reply, const HttpManner& manner);

}  // namespace tenure::server
