#include "server/http_conversation.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "server/config.h"
#include "server/log.h"
#include "wire/authorization.h"
#include "wire/permissions.h"

namespace tenure::server {
namespace {

constexpr std::string_view kBasicChallenge = "WWW-Authenticate: Basic realm=\"tenure\", charset=\"UTF-8\"\r\n";
constexpr std::string_view kBearerChallenge = "WWW-Authenticate: Bearer realm=\"tenure\"\r\n";
// Of what a browser shows: nothing in it comes from elsewhere or goes there, and nobody else's page frames it.
constexpr std::string_view kPagePolicy =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
    "Referrer-Policy: no-referrer\r\n";
// Of events that are taken from a stream at a time.
constexpr std::size_t kPieceBytes = std::size_t{64} << 10;

// Scripts of pages that came from elsewhere tell where; what is not a page's script tells nothing.
bool is_of_own_page(const HttpRequest& request) {
  if (!request.origin) return true;
  std::string_view host = *request.origin;
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (host.starts_with(scheme)) return host.substr(scheme.size()) == request.host;
  }
  return false;
}

// Somebody's domain may be made to lead to this machine, and a page of it then asks us as if it were ours (DNS
// rebinding). Addresses and the machine's own names, which have no dots, cannot.
bool is_domain(std::string_view host) {
  if (host.starts_with('[')) return false;
  host = host.substr(0, host.find(':'));
  const bool is_address = host.find_first_not_of("0123456789.") == std::string_view::npos;
  return host.find('.') != std::string_view::npos && !is_address && !host.ends_with(".localhost");
}

}  // namespace

std::string http_text(const wire::HttpReply& reply, const HttpManner& manner) {
  std::string text = fmt::format(
      "HTTP/1.1 {} {}\r\nServer: tenured\r\nContent-Type: {}\r\nContent-Length: {}\r\n"
      "Cache-Control: {}\r\nX-Content-Type-Options: nosniff\r\n",
      reply.status, http_reason(reply.status), reply.content_type, reply.body.size(),
      reply.etag.empty() ? "no-store" : "no-cache");
  if (!reply.etag.empty()) text += fmt::format("ETag: {}\r\n{}", reply.etag, kPagePolicy);
  if (!reply.encoding.empty()) text += fmt::format("Content-Encoding: {}\r\n", reply.encoding);
  if (reply.status == 401) {
    if (!manner.is_by_script) text += kBasicChallenge;
    text += kBearerChallenge;
  }
  if (!reply.location.empty()) text += fmt::format("Location: {}\r\n", reply.location);
  if (!reply.allow.empty()) text += fmt::format("Allow: {}\r\n", reply.allow);
  if (manner.is_last) text += "Connection: close\r\n";
  text += "\r\n";
  return manner.has_body ? text + reply.body : text;
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
    if (is_refused_early(step)) return;
    if (step.outcome == HttpReader::Outcome::kHead) identify(reader_.head());
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
  return !is_ending_ && exchange_ == nullptr && stream_ == nullptr && !is_signing_in_ &&
         output_.size() < limited(terms_.output_bytes_max);
}

bool HttpConversation::wants_input() const {
  if (is_ending_) return false;
  return can_begin() || input_.view().size() < limited(terms_.pipelined_bytes_max);
}

// What strangers may use is less.
std::size_t HttpConversation::limited(std::size_t usual) const {
  return is_stranger() ? std::min<std::size_t>(usual, kStrangerBytes) : usual;
}

bool HttpConversation::check_time() {
  if (stream_ != nullptr && output_.empty() && clock_.boot() - last_told_ >= terms_.heartbeat) {
    write_piece(kHeartbeat);
    return true;
  }
  if (!since_ || is_ending_ || clock_.boot() - *since_ <= terms_.arrival) return false;
  refuse({ErrorCode::kErr, fmt::format("request: expected all of it within {} ms, found less", terms_.arrival.count())},
         408);
  return true;
}

// --- who asks ---

void HttpConversation::identify(const HttpRequest& head) {
  is_by_script_ = head.is_by_script;
  denial_.reset();
  user_.reset();
  if (!house_.has_users()) return;
  if (head.authorization) {
    const auto credentials = wire::parse_authorization(head.authorization->view());
    if (!credentials) return end_sign_in(tl::unexpected(credentials.error()));
    is_signing_in_ = true;
    is_beginning_ = true;
    house_.check(*this, credentials->view(), [self = weak_from_this()](const Result<UserPointer>& user) {
      const auto conversation = self.lock();
      if (conversation == nullptr) return;
      conversation->end_sign_in(user);
      if (!conversation->is_beginning_) conversation->house_.on_answers(*conversation);
    });
    is_beginning_ = false;
    return;
  }
  if (!certified_name_.empty()) user_ = house_.user_named(certified_name_);
  if (user_ == nullptr) reader_.limit_body(kStrangerBytes);
}

void HttpConversation::certify(const std::string& name, const UserPointer& user) {
  certified_name_ = name;
  user_ = user;
}

void HttpConversation::end_sign_in(const Result<UserPointer>& user) {
  is_signing_in_ = false;
  if (user) {
    user_ = *user;
  } else {
    denial_ = user.error();
    reader_.limit_body(kStrangerBytes);
  }
}

// Whoever asks whether the body may come does not know whether it is read.
bool HttpConversation::is_refused_early(const HttpReader::Step& step) {
  const bool is_broken = step.outcome == HttpReader::Outcome::kBroken;
  const bool is_about_body = step.outcome == HttpReader::Outcome::kContinue || (is_broken && step.status == 413);
  if (is_about_body && is_stranger()) {
    refuse(denial_.value_or(wire::nobody_over_http()), std::nullopt);
  } else if (is_broken) {
    refuse(*step.failure, step.status);
  }
  return is_ending_;
}

wire::Talk::Profile HttpConversation::profile() const {
  return {.user = user_ != nullptr ? user_->name : "default", .protocol = "http"};
}

// --- exchanges ---

void HttpConversation::begin(const HttpRequest& request) {
  subject_ = {};
  is_head_ = request.method == "HEAD";
  is_last_ = is_last_ || !request.keeps_alive;
  is_old_ = request.is_old;
  last_event_id_ = request.last_event_id;
  if_none_match_ = request.if_none_match;
  target_ = request.target;
  if (!is_of_own_page(request)) {
    return write(wire::http_error({ErrorCode::kNoPerm, "Origin: expected none, or this server's; found another"}));
  }
  if (terms_.is_local && is_domain(request.host)) {
    return write(wire::http_error(
        {ErrorCode::kNoPerm, fmt::format("Host: expected this machine, as localhost or an address, found '{}': "
                                         "a server for others has --users, or --insecure",
                                         request.host)}));
  }
  if (denial_) return write(wire::http_error(*denial_));
  // It may be answered before it has begun; later it is answered from within the engine.
  is_beginning_ = true;
  auto exchange = wire::HttpExchange::begin(
      engine_, house_, terms_.payload_bytes_max,
      {.method = request.method, .target = request.target, .body = request.body, .user = user_},
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
  finish(std::move(reply));
  house_.on_answers(*this);
}

void HttpConversation::finish(wire::HttpReply reply) {
  subject_ = exchange_->subject();
  undelivered_.emplace_back(taken_ + output_.size(), std::move(exchange_));
  write(std::move(reply));
}

// What is not understood has no body to leave out.
void HttpConversation::refuse(const Failure& failure, std::optional<int> status) {
  subject_ = {};
  is_head_ = false;
  is_last_ = true;
  if_none_match_.clear();
  write(wire::http_error(failure, status));
}

// The same question, to the node that leads.
wire::HttpReply HttpConversation::redirected(wire::HttpReply reply) const {
  const std::string url = house_.leader_url();
  if (url.empty()) return wire::http_error({ErrorCode::kUnavailable, "another node leads, and where is not known"});
  reply.location = url + (target_.starts_with('/') ? target_ : "");
  return reply;
}

// What the client has kept is not sent again.
void HttpConversation::write(wire::HttpReply reply) {
  if (reply.is_stream) return begin_stream();
  if (reply.code == ErrorCode::kMoved) reply = redirected(std::move(reply));
  if (reply.code) house_.on_refusal({.client_id = terms_.client_id, .code = *reply.code, .verb = subject_});
  const bool is_kept = !reply.etag.empty() && if_none_match_.find(reply.etag) != std::string::npos;
  if (is_kept) reply.status = 304;
  output_ += http_text(reply, {.has_body = !is_head_ && !is_kept, .is_last = is_last_, .is_by_script = is_by_script_});
  is_ending_ = is_last_;
}

// --- a stream ---

void HttpConversation::begin_stream() {
  auto stream = house_.open_events(terms_.client_id, last_event_id_);
  if (!stream) return write(wire::http_error(stream.error()));
  output_ += fmt::format(
      "HTTP/1.1 200 OK\r\nServer: tenured\r\nContent-Type: text/event-stream\r\n{}Cache-Control: no-store\r\n"
      "X-Content-Type-Options: nosniff\r\nX-Accel-Buffering: no\r\nConnection: close\r\n\r\n",
      is_old_ ? "" : "Transfer-Encoding: chunked\r\n");
  is_last_ = true;
  is_ending_ = is_head_;
  if (!is_head_) stream_ = std::move(*stream);
}

void HttpConversation::write_piece(std::string_view text) {
  if (text.empty()) return;
  output_ += is_old_ ? std::string(text) : fmt::format("{:x}\r\n{}\r\n", text.size(), text);
  last_told_ = clock_.boot();
}

// A stream that is cut off lacks its last chunk.
void HttpConversation::write_events() {
  std::string events;
  const bool is_in_time = stream_->read(events, kPieceBytes);
  write_piece(events);
  if (is_in_time) return;
  log_warning("client.cut_off", "it does not take its events", {{"client", terms_.client_id}});
  stream_.reset();
  is_ending_ = true;
}

void HttpConversation::end() {
  is_last_ = true;
  if (stream_ == nullptr) return;
  write_events();
  if (stream_ == nullptr) return;
  stream_.reset();
  is_ending_ = true;
  if (!is_old_) output_ += "0\r\n\r\n";
}

void HttpConversation::take_output(std::string& to) {
  if (stream_ != nullptr && output_.size() < kPieceBytes) write_events();
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
  stream_.reset();
}

}  // namespace tenure::server
