// One connection's talk: bytes in, requests to the engine, replies out in the order of the requests, though answers
// come in any. Sockets are the server's business.
//
//   received -> parse -> put to the engine -> answer -> written in its place -> House::on_answers -> take_output
//            -> socket -> delivered
//
// Requests are put to the engine, and handed over to the journal by whoever drives many conversations, once a round. A
// request behind one that waits, or that signs in, is not begun before that one is answered.
//
// A grant of a lock of whose reply not one byte was delivered when the conversation closes is given back.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <absl/functional/any_invocable.h>
#include <absl/functional/function_ref.h>
#include <absl/types/span.h>

#include "authority/engine.h"
#include "users/user.h"
#include "wire/claim.h"
#include "wire/input_buffer.h"
#include "wire/refusal.h"
#include "wire/replies.h"
#include "wire/requests.h"
#include "wire/resp_parser.h"
#include "wire/resp_writer.h"
#include "wire/talk.h"
#include "wire/verbs.h"

namespace tenure::wire {

// One thread at a time, on which the engine gives its answers too. It lives until it is closed and the last answer is
// there.
class Conversation final : public Talk, public std::enable_shared_from_this<Conversation> {
  struct Slot;

 public:
  struct Limits {
    RequestLimits requests{};
    std::size_t under_way_max = 1024;                        // requests
    std::size_t pipelined_bytes_max = std::size_t{1} << 20;  // received and not begun
    std::size_t output_bytes_max = std::size_t{1} << 20;     // not taken yet; beyond it nothing more is begun
  };
  // What a conversation is begun with.
  struct Terms {
    std::uint64_t client_id = 0;
    // The session that is the connection alone: a name that was never used before and will not be, also not by another
    // run of the server, whose journal may remember it.
    std::string own_session{};
    std::uint64_t payload_bytes_max = Settings().payload_bytes_max;
    Limits limits{};
    std::optional<Limits> before_sign_in{};  // absent: nobody needs to sign in
  };
  // Is told who has signed in, or why nobody has.
  using SignIn = absl::AnyInvocable<void(Result<UserPointer> user)>;

  // The promise of a reply, which has its place among the others. One that is never fulfilled is answered UNAVAILABLE.
  // Movable.
  class Promise {
   public:
    Promise(Promise&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
    Promise& operator=(Promise&& other) noexcept {
      std::swap(slot_, other.slot_);
      return *this;
    }
    ~Promise();

    // What a book answered.
    template <class Reply>
    void answer(Result<Reply> result) &&;
    // What write(out) writes: one reply.
    void fulfil(absl::FunctionRef<void(RespWriter& out)> write) &&;

   private:
    friend class Conversation;
    explicit Promise(Slot& slot) : slot_(&slot) {}

    Slot* slot_;
  };

  using HouseRequests = std::variant<ListClients, KillClient, DescribeServer, GetConfig, MakeSnapshot, ShutDown>;

  // The server, as conversations see it.
  class House {
   public:
    House() = default;
    House(const House&) = delete;
    House& operator=(const House&) = delete;
    virtual ~House() = default;

    // There is output to take, and perhaps a request to go on with: `go_on` is wanted. Called from within the engine's
    // answers, and not again before that; not while `received` or `go_on` runs.
    virtual void on_answers(Conversation& conversation) = 0;
    // Why this client may not ask this; nullopt: it may.
    virtual std::optional<Failure> refusal(const Conversation& conversation, const Verb& verb,
                                           const Request& request) = 0;
    // Tells `done`, at once or later on this thread, whose credentials these are. They are borrowed until it returns.
    virtual void check(Conversation& conversation, const Credentials& credentials, SignIn done) = 0;
    // What only the server can answer. The request's texts are borrowed until it returns.
    virtual void serve(Conversation& conversation, const HouseRequests& request, Promise promise) = 0;
    // The time in seconds since whenever, as exact as is free: to measure attempts by.
    [[nodiscard]] virtual double seconds() const { return 0; }
    // Somebody has tried to take a lock.
    virtual void on_attempt(const LockAttempt& /*attempt*/) {}
    // A request is answered with an error.
    virtual void on_refusal(const Refusal& /*refusal*/) {}
    // Whether there are other nodes; and the one that leads, as host:port, if it is another and known.
    [[nodiscard]] virtual bool is_one_of_several() const { return false; }
    [[nodiscard]] virtual std::optional<std::string> leader() const { return std::nullopt; }
  };

  // Engine and house outlive it.
  static std::shared_ptr<Conversation> begin(Engine& engine, House& house, Terms terms);
  ~Conversation() override = default;

  // --- Talk ---
  absl::Span<char> room(std::size_t least) override { return input_.room(least); }
  void received(std::size_t count) override;
  void receive(std::string_view bytes);
  void go_on() override;
  [[nodiscard]] bool wants_input() const override;
  void take_output(std::string& to) override;
  [[nodiscard]] std::size_t output_bytes() const override { return output_.size(); }
  void delivered(std::size_t count) override;
  [[nodiscard]] bool is_ending() const override { return is_ending_; }
  [[nodiscard]] bool is_idle() const override { return slots_.empty() && output_.empty(); }
  [[nodiscard]] bool is_waiting() const override { return is_waiting_; }
  [[nodiscard]] std::size_t input_bytes() const override { return input_.capacity(); }
  // Leaves its session, too.
  void close() override;

  // --- who is there ---
  [[nodiscard]] std::uint64_t client_id() const override { return terms_.client_id; }
  [[nodiscard]] Profile profile() const override;
  [[nodiscard]] Protocol protocol() const { return protocol_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& session() const { return session_; }
  [[nodiscard]] UserPointer user() const override { return user_; }
  [[nodiscard]] bool is_stranger() const override { return terms_.before_sign_in && user_ == nullptr; }
  [[nodiscard]] bool is_signing_in() const override { return is_signing_in_; }
  // Lease ids of others are shown to admins of every name alone.
  void sign_in(const UserPointer& user) override;

 private:
  // A lock that was asked for, and perhaps granted.
  struct Grant {
    LockClaim claim;
    std::uint64_t begin = 0;  // of its reply, counted from the first byte of all output
  };
  // The place of one reply. Its address stays.
  struct Slot {
    std::shared_ptr<Conversation> owner;  // while the promise is not fulfilled
    Protocol protocol = Protocol::kResp2;
    std::string_view verb{};
    bool sees_secrets = true;
    bool waits = false;
    bool is_done = false;
    std::string bytes{};
    std::unique_ptr<Grant> grant{};
  };
  // What HELLO agrees on.
  struct Agreement {
    std::optional<Protocol> protocol;
    std::optional<std::string> name;
  };

  Conversation(Engine& engine, House& house, Terms terms);

  // --- requests ---
  [[nodiscard]] const Limits& limits() const { return is_stranger() ? *terms_.before_sign_in : terms_.limits; }
  [[nodiscard]] bool can_begin() const;
  void begin_requests();
  void begin_request(Words words);
  Slot& open_slot(bool waits);
  Promise promise() { return Promise(open_slot(false)); }
  void reply(absl::FunctionRef<void(RespWriter&)> write);
  void reply(const Result<Done>& result);
  void refuse(const Failure& failure);
  void tell_refusal(std::string_view verb, const Failure& failure) {
    house_.on_refusal({.client_id = terms_.client_id, .code = failure.code, .verb = verb});
  }
  template <BookRequest T>
  void put(const T& request, Slot& slot);
  template <BookRequest T>
  void ask(const T& request);
  void ask(const AcquireLock& request);
  void ask(const WorkTrim& request);
  template <ServerRequest T>
  void ask(const T& request);
  void ask(const Hello& request);
  void ask(const Auth& request) { begin_sign_in(request.credentials, std::nullopt); }
  void begin_sign_in(const Credentials& credentials, std::optional<Agreement> hello);
  void end_sign_in(Promise promise, const Result<UserPointer>& user, const std::optional<Agreement>& hello);
  void agree(const Agreement& hello);
  void ask(const Quit& request);
  void ask(const Reset& request);
  void ask(const SelectDatabase& /*request*/) { reply(Done{}); }
  void ask(const TellTime& request);
  void ask(const TellRole& request);
  void ask(const TellClientId& request);
  void ask(const TellClientName& request);
  void ask(const NameClient& request);
  void ask(const DescribeClient& request);
  void ask(const JoinSession& request) { reply(join(request.session, request.grace)); }
  Result<Done> join(std::string_view session, std::optional<Millis> grace);
  void leave();

  // --- answers ---
  [[nodiscard]] bool is_leading() const { return !house_.is_one_of_several() || engine_.is_leading(); }
  void fill(Slot& slot, absl::FunctionRef<void(RespWriter&)> write);
  void move_done_slots();
  void end_slot(std::uint64_t begin);

  Engine& engine_;
  House& house_;
  const Terms terms_;
  UserPointer user_;

  InputBuffer input_;
  RespParser parser_;  // behind those two, which say how much it takes
  Protocol protocol_ = Protocol::kResp2;
  std::string_view verb_;  // of the request that begins; empty: none is known
  bool is_ending_ = false;
  Ticket ticket_ = 0;  // of the last request that waited
  std::string name_;
  std::string library_name_;
  std::string library_version_;
  std::string session_;  // joined; empty: none
  bool sees_secrets_ = true;
  bool is_signing_in_ = false;

  std::deque<Slot> slots_;
  std::string output_;
  std::vector<std::unique_ptr<Grant>> grants_;  // in the output, not delivered yet
  std::unique_ptr<Grant> spare_grant_;          // one that is done with, for the next
  std::uint64_t taken_ = 0;                     // bytes of output, ever
  std::uint64_t delivered_ = 0;                 // likewise
  bool is_waiting_ = false;                     // a request that may wait is under way
  bool is_told_ = false;                        // the house, that there are answers
  bool is_closed_ = false;
};

template <class Reply>
void Conversation::Promise::answer(Result<Reply> result) && {
  if constexpr (requires { hide_secrets(*result); }) {
    if (result && !slot_->sees_secrets) hide_secrets(*result);
  }
  if constexpr (std::is_same_v<Reply, std::optional<LockGrant>>) {
    House& house = slot_->owner->house_;
    if (!slot_->owner->is_closed_) house.on_attempt(slot_->grant->claim.attempt(result, house.seconds()));
    if (result && *result) slot_->grant->claim.granted((*result)->token);
  }
  // Once it is closed there may be no house any more.
  if (!result && !slot_->owner->is_closed_) slot_->owner->tell_refusal(slot_->verb, result.error());
  std::move(*this).fulfil([&](RespWriter& out) { write_result(out, result); });
}

}  // namespace tenure::wire
