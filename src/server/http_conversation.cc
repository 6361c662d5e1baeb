#include "server/http_conversation.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace tenure::server {
namespace {

// Scripts of pages that came from elsewhere tell where; what is not a page's script tells nothing.
bool is_of_own_page(const HttpRequest& request) {
  if (!request.origin) return true;
  std::string_view host = *request.origin;
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (host.starts_with(scheme)) return host.substr(scheme.size()) == request.host;
  }
  return false;
}

bool is_for_probes(std::string_view target) { return target == "/healthz" || target == "/readyz"; }

}  // namespace

std::string http_text(const wire::HttpReply& reply, bool has_body, bool is_last) {
  std::string text = fmt::format(
      "HTTP/1.1 {} {}\r\nServer: tenured\r\nContent-Type: {}\r\nContent-Length: {}\r\n"
      "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n",
      reply.status, http_reason(reply.status), reply.content_type, reply.body.size());
  if (!reply.allow.empty()) text += fmt::format("Allow: {}\r\n", reply.allow);
  if (is_last) text += "Connection: close\r\n";
  text += "\r\n";
  return has_body ? text + reply.body : text;
}

HttpConversation::HttpConversation(Engine& engine, House& house, const Clock& clock, const Terms& terms)
    : engine_(engine), house_(house), clock_(clock), terms_(terms), reader_(terms.limits) {}

void HttpConversation::received(std::size_t count) {
  input_.received(count);
  go_on();
}

void HttpConversation::go_on() {
  while (can_begin()) {
    HttpReader::Step step = reader_.next(input_.view());
    input_.consume(step.consumed);
    if (step.outcome == HttpReader::Outcome::kBroken) return refuse(*step.failure, step.status);
    if (step.outcome == HttpReader::Outcome::kContinue) output_ += "HTTP/1.1 100 Continue\r\n\r\n";
    if (step.outcome == HttpReader::Outcome::kRequest) {
      since_.reset();
      begin(*step.request);
    } else if (step.outcome == HttpReader::Outcome::kNeedMore) {
      break;
    }
  }
  const bool is_arriving = can_begin() && (reader_.is_amid() || !input_.view().empty());
  if (!is_arriving) {
    since_.reset();
  } else if (!since_) {
    since_ = clock_.boot();
  }
}

bool HttpConversation::can_begin() const {
  return !is_ending_ && exchange_ == nullptr && output_.size() < terms_.output_bytes_max;
}

bool HttpConversation::wants_input() const {
  if (is_ending_) return false;
  return can_begin() || input_.view().size() < terms_.pipelined_bytes_max;
}

bool HttpConversation::check_time() {
  if (!since_ || is_ending_ || clock_.boot() - *since_ <= terms_.arrival) return false;
  refuse({ErrorCode::kErr, fmt::format("request: expected all of it within {} ms, found less", terms_.arrival.count())},
         408);
  return true;
}

void HttpConversation::begin(const HttpRequest& request) {
  subject_ = {};
  is_head_ = request.method == "HEAD";
  is_last_ = is_last_ || !request.keeps_alive;
  if (!is_of_own_page(request)) {
    return write(wire::http_error({ErrorCode::kNoPerm, "Origin: expected none, or this server's; found another"}));
  }
  if (house_.has_users() && !is_for_probes(request.target)) {
    return write(wire::http_error(
        {ErrorCode::kNoAuth, "HTTP: expected a server without users, found one with users, who sign in over RESP"}));
  }
  // It may be answered before it has begun; later it is answered from within the engine.
  is_beginning_ = true;
  auto exchange = wire::HttpExchange::begin(engine_, house_, terms_.payload_bytes_max,
                                            {.method = request.method, .target = request.target, .body = request.body},
                                            [self = weak_from_this()](wire::HttpReply reply) {
                                              const auto conversation = self.lock();
                                              if (conversation != nullptr) conversation->answer(std::move(reply));
                                            });
  is_beginning_ = false;
  exchange_ = std::move(exchange);
  if (at_once_) finish(*std::exchange(at_once_, std::nullopt));
}

void HttpConversation::answer(wire::HttpReply reply) {
  if (is_beginning_) {
    at_once_ = std::move(reply);
    return;
  }
  finish(reply);
  house_.on_answers(*this);
}

void HttpConversation::finish(const wire::HttpReply& reply) {
  subject_ = exchange_->subject();
  undelivered_.emplace_back(taken_ + output_.size(), std::move(exchange_));
  write(reply);
}

// What is not understood has no body to leave out.
void HttpConversation::refuse(const Failure& failure, int status) {
  subject_ = {};
  is_head_ = false;
  is_last_ = true;
  write(wire::http_error(failure, status));
}

void HttpConversation::write(const wire::HttpReply& reply) {
  if (reply.code) house_.on_refusal({.client_id = terms_.client_id, .code = *reply.code, .verb = subject_});
  output_ += http_text(reply, !is_head_, is_last_);
  is_ending_ = is_last_;
}

void HttpConversation::take_output(std::string& to) {
  taken_ += output_.size();
  to += output_;
  output_.clear();
  output_.shrink_to_fit();
}

void HttpConversation::delivered(std::size_t count) {
  delivered_ += count;
  while (!undelivered_.empty() && undelivered_.front().first < delivered_) {
    undelivered_.front().second->delivered();
    undelivered_.pop_front();
  }
}

void HttpConversation::close() {
  is_ending_ = true;
  if (exchange_ != nullptr) std::exchange(exchange_, nullptr)->close();
  for (const auto& [begin, exchange] : undelivered_) exchange->close();
  undelivered_.clear();
}

}  // namespace tenure::server
