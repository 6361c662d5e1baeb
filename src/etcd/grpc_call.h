// Calls of an etcd member that are answered once. For the sources whose names begin with grpc alone.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "etcd/grpc_wire.h"

namespace tenure::etcd {

// What the end of a call means to whoever called.
Trouble trouble_of(const grpc::Status& status);
// The token was none, or is none any more.
bool is_token_refused(const grpc::Status& status);

// Gets a token; `then` goes on, on the queue's thread. Nothing happens if the wire is being closed.
class SignIn final : public Step {
 public:
  static void begin(GrpcWire& wire, std::size_t member, gpr_timespec deadline,
                    std::function<void(const grpc::Status&)> then);
  void proceed(bool is_ok) override;
  void cancel() override { context_.TryCancel(); }

 private:
  SignIn(GrpcWire& wire, std::function<void(const grpc::Status&)> then) : wire_(wire), then_(std::move(then)) {}

  GrpcWire& wire_;
  const std::function<void(const grpc::Status&)> then_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<pb::AuthenticateResponse>> reader_;
  pb::AuthenticateResponse reply_;
  grpc::Status status_;
};

// What is done when the answer is lost.
enum class Repeat : bool {
  kNever,   // it is told as unknown
  kAlways,  // the next member is asked: once or twice is the same
};

template <class Ask, class Reply>
class Call final : public Step {
 public:
  using Reader = std::unique_ptr<grpc::ClientAsyncResponseReader<Reply>>;
  using Start = Reader (*)(GrpcMember&, grpc::ClientContext*, const Ask&, grpc::CompletionQueue*);
  using Then = std::function<void(const grpc::Status&, Reply&)>;

  static void begin(GrpcWire& wire, Ask ask, Start start, Repeat repeat, Millis timeout, Then then) {
    std::unique_ptr<Call> call(new Call(wire, std::move(ask), start, repeat, timeout, std::move(then)));
    if (wire.enter(*call)) call.release()->attempt();
  }

  void proceed(bool /*is_ok*/) override {
    if (is_token_refused(status_) && !token_.empty() && !std::exchange(has_renewed_token_, true)) {
      wire_.forget_token(token_);
      return attempt();
    }
    const Trouble trouble = status_.ok() ? Trouble{} : trouble_of(status_);
    const bool is_heard = status_.ok() || trouble.is_refusal;
    if (!is_heard) wire_.leave(member_);
    const bool is_harmless = repeat_ == Repeat::kAlways || trouble.outcome == Trouble::Outcome::kNothing;
    if (!is_heard && is_harmless && ++tries_ < wire_.members() && !wire_.is_closing()) return attempt();
    conclude();
  }
  void cancel() override {
    if (context_) context_->TryCancel();
  }

 private:
  Call(GrpcWire& wire, Ask ask, Start start, Repeat repeat, Millis timeout, Then then)
      : wire_(wire),
        ask_(std::move(ask)),
        start_(start),
        repeat_(repeat),
        deadline_(deadline_in(timeout)),
        then_(std::move(then)) {}

  void attempt() {
    member_ = wire_.preferred();
    if (wire_.needs_token()) {
      SignIn::begin(wire_, member_, deadline_, [this](const grpc::Status& status) {
        status_ = status;
        status.ok() ? attempt() : proceed(false);
      });
      return;
    }
    token_ = wire_.token();
    reader_.reset();
    context_.emplace();
    context_->set_deadline(deadline_of_attempt());
    if (!token_.empty()) context_->AddMetadata("token", token_);
    reader_ = start_(wire_.member(member_), &*context_, ask_, &wire_.queue());
    auto& reader = *reader_;
    wire_.hand_over();
    reader.Finish(&reply_, &status_, this);
  }

  // A member that does not answer leaves some time for the others.
  [[nodiscard]] gpr_timespec deadline_of_attempt() const {
    if (repeat_ == Repeat::kNever || tries_ + 1 >= wire_.members()) return deadline_;
    const gpr_timespec left = gpr_time_sub(deadline_, gpr_now(deadline_.clock_type));
    return deadline_in(Millis{gpr_time_to_millis(left) / 2});
  }

  void conclude() {
    then_(status_, reply_);
    wire_.exit(*this);
  }

  GrpcWire& wire_;
  const Ask ask_;
  const Start start_;
  const Repeat repeat_;
  const gpr_timespec deadline_;
  const Then then_;
  std::size_t member_ = 0;
  std::size_t tries_ = 0;
  std::string token_;
  bool has_renewed_token_ = false;
  std::optional<grpc::ClientContext> context_;
  Reader reader_;
  Reply reply_;
  grpc::Status status_;
};

}  // namespace tenure::etcd
