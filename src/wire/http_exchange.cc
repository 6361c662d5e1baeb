#include "wire/http_exchange.h"

#include <fmt/format.h>

#include "base/check.h"
#include "wire/errors.h"
#include "wire/json_writer.h"
#include "wire/named_arguments.h"
#include "wire/openapi.h"
#include "wire/permissions.h"
#include "wire/replies.h"
#include "wire/trimming.h"

namespace tenure::wire {
namespace {

// What an answer that is nil means; nullopt: it has a verdict.
template <BookRequest T>
std::optional<Failure> absence_of(const T& /*request*/) {
  return std::nullopt;
}
std::optional<Failure> absence_of(const GetTask& request) {
  return Failure{ErrorCode::kNoTask, fmt::format("task '{}': expected one that exists, found none", request.task_id)};
}
std::optional<Failure> absence_of(const InspectDomain& request) {
  return Failure{ErrorCode::kNotFound,
                 fmt::format("domain '{}': expected one that exists, found none", request.domain)};
}
std::optional<Failure> absence_of(const GetLock& request) {
  return Failure{ErrorCode::kNotFound, fmt::format("lock '{}{}{}': expected one that is held, found it free",
                                                   request.lock.domain, kLockDelimiter, request.lock.identifier)};
}

}  // namespace

HttpReply http_error(const Failure& failure, std::optional<int> status) {
  HttpReply reply{.status = status.value_or(http_status(failure.code)), .code = failure.code};
  JsonWriter out(reply.body);
  out.begin_object();
  out.name("error");
  out.begin_object();
  out.field("code", to_string(failure.code));
  out.field("message", failure.message);
  out.end_object();
  out.end_object();
  return reply;
}

std::shared_ptr<HttpExchange> HttpExchange::begin(Engine& engine, House& house, std::uint64_t payload_bytes_max,
                                                  const Question& question, Deliver deliver) {
  std::shared_ptr<HttpExchange> exchange(new HttpExchange(engine, house, question.user, std::move(deliver)));
  exchange->ask(question, payload_bytes_max);
  return exchange;
}

void HttpExchange::ask(const Question& question, std::uint64_t payload_bytes_max) {
  auto destination = find_destination(question.method, question.target);
  if (const auto refusal = this->refusal(destination)) return refuse(*refusal);
  if (!destination) {
    HttpReply error = http_error(destination.error().failure, destination.error().status);
    error.allow = std::move(destination.error().allow);
    return reply(std::move(error));
  }
  subject_ = destination->page != nullptr ? destination->page->path : destination->verb->name;
  if (destination->page != nullptr) return show(*destination->page, question, destination->query);
  const bool is_post = destination->verb->route.method == "POST";
  NamedArguments arguments(*destination->verb, payload_bytes_max);
  for (auto& [name, value] : destination->arguments) {
    if (const auto fault = arguments.take(name, {.text = std::move(value)})) return refuse(*fault);
  }
  if (is_post && !destination->query.empty()) {
    return refuse({ErrorCode::kErr, "query: expected nothing, since arguments are in the body; found some"});
  }
  if (!is_post && !question.body.empty()) {
    return refuse({ErrorCode::kErr, "body: expected nothing, since arguments are in the query; found some"});
  }
  if (const auto fault = is_post ? arguments.take_body(question.body) : arguments.take_query(destination->query)) {
    return refuse(*fault);
  }
  Request request;
  if (const auto fault = arguments.make(request)) return refuse(*fault);
  if (user_ != nullptr) {
    if (const auto refusal = house_.refusal(*user_, *destination->verb, request)) return refuse(*refusal);
  }
  std::visit([&](const auto& asked) { ask(asked); }, request);
}

// Strangers are not told which paths there are.
std::optional<Failure> HttpExchange::refusal(const tl::expected<Destination, Stray>& destination) const {
  if (!house_.has_users()) return std::nullopt;
  if (destination && destination->page != nullptr) return refusal_of(user_.get(), *destination->page);
  return user_ == nullptr ? std::optional(nobody_over_http()) : std::nullopt;
}

void HttpExchange::show(const ServerPage& page, const Question& question, std::string_view query) {
  if (!query.empty()) return refuse({ErrorCode::kErr, "query: expected nothing, found some"});
  if (!question.body.empty()) return refuse({ErrorCode::kErr, "body: expected nothing, found some"});
  if (page.subject == ServerPage::Subject::kDescription) return reply({.body = openapi_document()});
  if (page.subject == ServerPage::Subject::kUser) return reply({.body = describe_user()});
  reply(house_.show(page));
}

// Where there are no users, everybody has every role.
std::string HttpExchange::describe_user() const {
  std::vector<users::Right> rights;
  if (user_ != nullptr) {
    rights = user_->rights;
  } else {
    for (const users::Role role : users::kRoles) rights.push_back({.role = role});
  }
  std::string text;
  JsonWriter out(text);
  out.begin_object();
  out.field("user", user_ != nullptr ? std::optional(user_->name) : std::nullopt);
  out.name("roles");
  out.begin_array();
  for (const users::Right& right : rights) {
    out.begin_object();
    out.field("role", to_string(right.role));
    out.field("pattern", right.pattern);
    out.end_object();
  }
  out.end_array();
  out.end_object();
  return text;
}

template <BookRequest T>
void HttpExchange::ask(const T& request) {
  auto done = [self = shared_from_this(), absence = absence_of(request)](Result<BookReply<T>> result) {
    self->template answer<T>(std::move(result), absence);
  };
  if constexpr (requires { request.block; }) {
    if (request.block > Millis{0}) {
      is_waiting_ = true;
      ticket_ = engine_.wait(request.request, request.block, std::move(done));
      return;
    }
  }
  engine_.put(engine_request(request), std::move(done), Engine::Values::kChecked);
}

void HttpExchange::ask(const AcquireLock& request) {
  AcquireLock acquire = request;
  if (user_ != nullptr) acquire.request.user = user_->name;
  claim_.emplace().ask(acquire.request.lock, house_.seconds(), acquire.request.request_id.has_value());
  ask<AcquireLock>(acquire);
}

void HttpExchange::ask(const WorkTrim& request) {
  engine_.put(request, Trimming{engine_, std::string(request.domain), request.below,
                                [self = shared_from_this()](const Result<Trimmed>& last) {
                                  self->answer<WorkTrim>(last, std::nullopt);
                                }});
}

template <ServerRequest T>
void HttpExchange::ask(const T& /*request*/) {
  TENURE_CHECK(false, "a route leads to a verb of the server");
}

template <BookRequest T>
void HttpExchange::answer(Result<BookReply<T>> result, const std::optional<Failure>& absence) {
  is_waiting_ = false;
  if constexpr (std::is_same_v<T, AcquireLock>) {
    if (!is_closed_) house_.on_attempt(claim_->attempt(result, house_.seconds()));
    if (result && *result) claim_->granted((*result)->token);
    if (is_closed_) claim_->give_back(engine_);
  }
  if (is_closed_) return;
  if (!result) return refuse(result.error());
  if constexpr (requires { result->has_value(); }) {
    if (absence && !result->has_value()) return refuse(*absence);
  }
  if constexpr (requires { hide_secrets(*result); }) {
    if (user_ != nullptr && !user_->has_for_all({users::Role::kAdmin})) hide_secrets(*result);
  }
  HttpReply answer;
  JsonWriter out(answer.body);
  write_json(out, *result, kNothing<T>);
  reply(std::move(answer));
}

void HttpExchange::reply(HttpReply reply) {
  is_answered_ = true;
  auto deliver = std::move(deliver_);
  deliver(std::move(reply));
}

void HttpExchange::close() {
  if (std::exchange(is_closed_, true)) return;
  if (claim_ && !is_answered_) house_.on_attempt(claim_->interrupted(house_.seconds()));
  if (ticket_ != 0 && is_waiting_) engine_.cancel(ticket_);
  if (is_answered_ && claim_) claim_->give_back(engine_);
}

}  // namespace tenure::wire
