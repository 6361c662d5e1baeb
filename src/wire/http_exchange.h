// One HTTP request's way to the engine and back: path, query and body in, a status and JSON out. Sockets and HTTP's
// framing are the server's business.
//
// Where there are users, whoever asks needs the same roles as over RESP, and lease ids of others are shown to admins of
// every name alone.
//
// A lock that is granted to a request whose client has gone, or whose reply is not delivered, is given back.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <absl/functional/any_invocable.h>

#include "authority/engine.h"
#include "users/user.h"
#include "wire/claim.h"
#include "wire/requests.h"
#include "wire/routes.h"

namespace tenure::wire {

struct HttpReply {
  int status = 200;
  std::string body{};
  std::string allow{};  // with 405: the methods that are
  std::string_view content_type = "application/json";
  std::optional<ErrorCode> code{};  // of an error
  bool is_stream = false;           // the body is events, which whoever has the connection streams
  std::string_view encoding{};      // of the body; empty: none
  std::string etag{};               // of what a browser shows, and may keep; empty: nobody keeps it
  std::string location{};           // with 307: where to ask instead
};
// {"error":{"code":"NOTASK","message":"..."}}, with the status of the code unless another is given.
HttpReply http_error(const Failure& failure, std::optional<int> status = {});

// One thread, on which the engine gives its answers too. It lives until the last answer is there.
class HttpExchange final : public std::enable_shared_from_this<HttpExchange> {
 public:
  struct Question {
    std::string_view method;
    std::string_view target;
    std::string_view body;
    std::shared_ptr<const users::User> user{};  // who asks; null: nobody who is known
  };

  // The server, as exchanges see it.
  class House {
   public:
    House() = default;
    House(const House&) = delete;
    House& operator=(const House&) = delete;
    virtual ~House() = default;

    // A page of the server's own, other than /openapi.json and /v1/user.
    virtual HttpReply show(const ServerPage& page) = 0;
    // Whether somebody must be known to ask.
    [[nodiscard]] virtual bool has_users() const = 0;
    // Why this user may not ask this; nullopt: it may.
    virtual std::optional<Failure> refusal(const users::User& user, const Verb& verb, const Request& request) = 0;
    // The time in seconds since whenever, as exact as is free: to measure attempts by.
    [[nodiscard]] virtual double seconds() const { return 0; }
    // Somebody has tried to take a lock.
    virtual void on_attempt(const LockAttempt& /*attempt*/) {}
  };

  // Called once, perhaps before `begin` returns; never once it is closed.
  using Deliver = absl::AnyInvocable<void(HttpReply reply)>;

  // Engine and house outlive it; the question is borrowed until this returns. What it puts to the engine is handed over
  // to the journal by whoever drives many exchanges.
  static std::shared_ptr<HttpExchange> begin(Engine& engine, House& house, std::uint64_t payload_bytes_max,
                                             const Question& question, Deliver deliver);
  HttpExchange(const HttpExchange&) = delete;
  HttpExchange& operator=(const HttpExchange&) = delete;
  ~HttpExchange() = default;

  // The verb or the page that it is about; empty: none is known.
  [[nodiscard]] std::string_view subject() const { return subject_; }
  // True: it waits for something to happen.
  [[nodiscard]] bool is_waiting() const { return is_waiting_; }
  // Something of the reply has been sent.
  void delivered() { claim_.reset(); }
  // The client has gone. Ends its wait, gives back what was not delivered.
  void close();

 private:
  HttpExchange(Engine& engine, House& house, std::shared_ptr<const users::User> user, Deliver deliver)
      : engine_(engine), house_(house), user_(std::move(user)), deliver_(std::move(deliver)) {}

  void ask(const Question& question, std::uint64_t payload_bytes_max);
  void show(const ServerPage& page, const Question& question, std::string_view query);
  [[nodiscard]] std::string describe_user() const;
  // Why whoever asks may not go there, whatever the request says.
  [[nodiscard]] std::optional<Failure> refusal(const tl::expected<Destination, Stray>& destination) const;
  template <BookRequest T>
  void ask(const T& request);
  void ask(const AcquireLock& request);
  void ask(const WorkTrim& request);
  // No route leads to the server's verbs.
  template <ServerRequest T>
  void ask(const T& request);
  template <BookRequest T>
  void answer(Result<BookReply<T>> result, const std::optional<Failure>& absence);
  void refuse(const Failure& failure) { reply(http_error(failure)); }
  void reply(HttpReply reply);

  Engine& engine_;
  House& house_;
  const std::shared_ptr<const users::User> user_;
  Deliver deliver_;
  std::optional<LockClaim> claim_;
  std::string_view subject_;
  Ticket ticket_ = 0;
  bool is_waiting_ = false;
  bool is_answered_ = false;
  bool is_closed_ = false;
};

}  // namespace tenure::wire
