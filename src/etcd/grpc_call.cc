#include "etcd/grpc_call.h"

#include <string>

#include <fmt/format.h>

namespace tenure::etcd {
namespace {

// There was no connection; the code is one of several.
bool is_not_begun(const grpc::Status& status) {
  const std::string why = status.error_message();
  return why.starts_with("failed to connect to all addresses") || why.starts_with("DNS resolution failed");
}

// Etcd has looked at it and will say the same again.
bool is_refused(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::NOT_FOUND:
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::OUT_OF_RANGE:
    case grpc::StatusCode::UNIMPLEMENTED:
    case grpc::StatusCode::UNAUTHENTICATED:
    case grpc::StatusCode::PERMISSION_DENIED:
      return true;
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return status.error_message().find("message larger than max") != std::string::npos;
    default:
      return false;
  }
}

}  // namespace

Trouble trouble_of(const grpc::Status& status) {
  Trouble trouble;
  trouble.why = status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED
                    ? "etcd has not answered in time"
                    : fmt::format("etcd: {}", status.error_message());
  trouble.is_refusal = is_refused(status);
  // It has no room, or no time: that may pass.
  const bool is_full = status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED;
  if (trouble.is_refusal || is_full || is_not_begun(status)) trouble.outcome = Trouble::Outcome::kNothing;
  return trouble;
}

bool is_token_refused(const grpc::Status& status) {
  if (status.error_code() == grpc::StatusCode::UNAUTHENTICATED) return true;
  return status.error_code() == grpc::StatusCode::INVALID_ARGUMENT &&
         (status.error_message() == "etcdserver: user name is empty" ||
          status.error_message() == "etcdserver: revision of auth store is old");
}

void SignIn::begin(GrpcWire& wire, std::size_t member, gpr_timespec deadline,
                   std::function<void(const grpc::Status&)> then) {
  auto* const step = new SignIn(wire, std::move(then));
  if (!wire.enter(*step)) {
    const std::unique_ptr<SignIn> unused(step);
    step->then_({grpc::StatusCode::CANCELLED, "closing"});
    return;
  }
  pb::AuthenticateRequest ask;
  ask.set_name(wire.user());
  ask.set_password(wire.password());
  step->context_.set_deadline(deadline);
  step->reader_ = wire.member(member).auth.AsyncAuthenticate(&step->context_, ask, &wire.queue());
  auto& reader = *step->reader_;
  wire.hand_over();
  reader.Finish(&step->reply_, &step->status_, step);
}

void SignIn::proceed(bool /*is_ok*/) {
  if (status_.ok()) wire_.set_token(reply_.token());
  then_(status_);
  wire_.exit(*this);
}

}  // namespace tenure::etcd
