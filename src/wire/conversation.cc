#include "wire/conversation.h"

#include <algorithm>
#include <cstring>

#include "base/planted.h"
#include "wire/server_replies.h"
#include "wire/trimming.h"
#include "wire/word.h"

namespace tenure::wire {

// --- promises ---

Conversation::Promise::~Promise() {
  if (slot_ == nullptr) return;
  std::move(*this).fulfil(
      [](RespWriter& out) { out.error({ErrorCode::kUnavailable, "the server stopped before this was answered"}); });
}

void Conversation::Promise::fulfil(absl::FunctionRef<void(RespWriter& out)> write) && {
  Slot& slot = *std::exchange(slot_, nullptr);
  const std::shared_ptr<Conversation> conversation = std::move(slot.owner);
  if (conversation->is_closed_) {
    if (slot.grant != nullptr) slot.grant->claim.give_back(conversation->engine_);
    return;
  }
  conversation->fill(slot, write);
  if (!std::exchange(conversation->is_told_, true)) conversation->house_.on_answers(*conversation);
}

void Conversation::fill(Slot& slot, absl::FunctionRef<void(RespWriter&)> write) {
  const bool is_first = &slot == &slots_.front();
  const std::uint64_t begin = taken_ + output_.size();
  RespWriter out(is_first ? output_ : slot.bytes, slot.protocol);
  write(out);
  out.finish();
  slot.is_done = true;
  if (slot.waits) is_waiting_ = false;
  if (!is_first) return;
  end_slot(begin);
  move_done_slots();
}

void Conversation::move_done_slots() {
  while (!slots_.empty() && slots_.front().is_done) {
    const std::uint64_t begin = taken_ + output_.size();
    output_ += slots_.front().bytes;
    end_slot(begin);
  }
}

// The first one: its reply begins there.
void Conversation::end_slot(std::uint64_t begin) {
  if (std::unique_ptr<Grant> grant = std::move(slots_.front().grant)) {
    grant->begin = begin;
    if (grant->claim.is_granted()) {
      grants_.push_back(std::move(grant));
    } else {
      spare_grant_ = std::move(grant);
    }
  }
  slots_.pop_front();
}

// --- the connection ---

std::shared_ptr<Conversation> Conversation::begin(Engine& engine, House& house, Terms terms) {
  return std::shared_ptr<Conversation>(new Conversation(engine, house, std::move(terms)));
}

Conversation::Conversation(Engine& engine, House& house, Terms terms)
    : engine_(engine), house_(house), terms_(std::move(terms)), parser_(limits().requests) {}

void Conversation::received(std::size_t count) {
  input_.received(count);
  go_on();
}

void Conversation::receive(std::string_view bytes) {
  const absl::Span<char> to = room(bytes.size());
  std::copy(bytes.begin(), bytes.end(), to.begin());
  received(bytes.size());
}

void Conversation::go_on() {
  // What is answered at once its caller takes anyway.
  is_told_ = true;
  begin_requests();
  is_told_ = false;
}

void Conversation::begin_requests() {
  while (!input_.view().empty() && can_begin()) {
    const RespParser::Step step = parser_.next(input_.view());
    if (step.outcome == RespParser::Outcome::kRequest) {
      begin_request(step.words);
    } else if (step.failure != nullptr) {
      verb_ = {};
      refuse(*step.failure);
    }
    is_ending_ = is_ending_ || step.outcome == RespParser::Outcome::kBroken;
    input_.consume(step.consumed);
    if (step.outcome == RespParser::Outcome::kNeedMore) return;
  }
}

bool Conversation::can_begin() const {
  return !is_ending_ && !is_waiting_ && !is_signing_in_ && slots_.size() < limits().under_way_max &&
         (output_.size() < limits().output_bytes_max || is_planted(PlantedBug::kOutputWithoutLimit));
}

bool Conversation::wants_input() const {
  if (is_ending_) return false;
  return can_begin() || input_.view().size() < limits().pipelined_bytes_max;
}

void Conversation::take_output(std::string& to) {
  taken_ += output_.size();
  if (to.empty()) {
    to.swap(output_);
  } else {
    to += output_;
    output_.clear();
  }
}

void Conversation::delivered(std::size_t count) {
  delivered_ += count;
  if (grants_.empty()) return;
  const auto first_left = std::find_if(grants_.begin(), grants_.end(),
                                       [&](const std::unique_ptr<Grant>& grant) { return grant->begin >= delivered_; });
  if (first_left != grants_.begin()) spare_grant_ = std::move(grants_.front());
  grants_.erase(grants_.begin(), first_left);
}

void Conversation::close() {
  if (std::exchange(is_closed_, true)) return;
  is_ending_ = true;
  auto undelivered = std::move(grants_);
  for (Slot& slot : slots_) {
    if (slot.grant == nullptr) continue;
    if (slot.is_done) {
      undelivered.push_back(std::move(slot.grant));
    } else {
      house_.on_attempt(slot.grant->claim.interrupted(house_.seconds()));
    }
  }
  if (ticket_ != 0 && !is_planted(PlantedBug::kWaiterKept)) engine_.cancel(ticket_);
  for (const auto& grant : undelivered) grant->claim.give_back(engine_);
  leave();
}

Talk::Profile Conversation::profile() const {
  return {.name = name_,
          .user = user_ != nullptr ? user_->name : "default",
          .session = session_,
          .protocol = std::to_string(static_cast<int>(protocol_)),
          .library_name = library_name_,
          .library_version = library_version_};
}

// --- requests ---

void Conversation::begin_request(Words words) {
  verb_ = {};
  const auto verb = find_verb(words);
  if (!verb) return refuse(verb.error());
  verb_ = (*verb)->name;
  Request request;
  if (const auto fault = read_request(**verb, words, terms_.payload_bytes_max, request)) return refuse(*fault);
  if (const auto refusal = house_.refusal(*this, **verb, request)) return refuse(*refusal);
  std::visit([&](const auto& asked) { ask(asked); }, request);
}

Conversation::Slot& Conversation::open_slot(bool waits) {
  is_waiting_ = waits;
  return slots_.emplace_back(Slot{.owner = shared_from_this(),
                                  .protocol = protocol_,
                                  .verb = verb_,
                                  .sees_secrets = sees_secrets_,
                                  .waits = waits});
}

// Whoever made the request begin takes the output anyway.
void Conversation::reply(absl::FunctionRef<void(RespWriter&)> write) {
  Slot& slot = open_slot(false);
  slot.owner.reset();
  fill(slot, write);
}

void Conversation::reply(const Result<Done>& result) {
  reply([&](RespWriter& out) { write_result(out, result); });
}

void Conversation::refuse(const Failure& failure) {
  tell_refusal(verb_, failure);
  reply([&](RespWriter& out) { out.error(failure); });
}

template <BookRequest T>
void Conversation::put(const T& request, Slot& slot) {
  auto done = [promise = Promise(slot)](Result<BookReply<T>> result) mutable {
    std::move(promise).answer(std::move(result));
  };
  if constexpr (requires { request.block; }) {
    if (request.block > Millis{0}) {
      ticket_ = engine_.wait(request.request, request.block, std::move(done));
      return;
    }
  }
  engine_.put(engine_request(request), std::move(done), Engine::Values::kChecked);
}

template <BookRequest T>
void Conversation::ask(const T& request) {
  bool waits = false;
  if constexpr (requires { request.block; }) waits = request.block > Millis{0};
  put(request, open_slot(waits));
}

void Conversation::ask(const AcquireLock& request) {
  AcquireLock acquire = request;
  if (acquire.is_bound) {
    if (session_.empty()) {
      if (const auto joined = join(terms_.own_session, std::nullopt); !joined) return refuse(joined.error());
    }
    acquire.request.session = session_;
  }
  if (user_ != nullptr) acquire.request.user = user_->name;
  Slot& slot = open_slot(acquire.block > Millis{0});
  slot.grant = spare_grant_ != nullptr ? std::move(spare_grant_) : std::make_unique<Grant>();
  slot.grant->claim.ask(acquire.request.lock, house_.seconds(), acquire.request.request_id.has_value());
  put(acquire, slot);
}

void Conversation::ask(const WorkTrim& request) {
  engine_.put(request, Trimming{engine_, std::string(request.domain), request.below,
                                [promise = promise()](const Result<Trimmed>& last) mutable {
                                  std::move(promise).answer(last);
                                }});
}

template <ServerRequest T>
void Conversation::ask(const T& request) {
  if constexpr (kIsAlternative<T, HouseRequests>) {
    house_.serve(*this, request, promise());
  } else {
    reply([&](RespWriter& out) { write_reply(out, request); });
  }
}

// --- signing in ---

void Conversation::sign_in(const UserPointer& user) {
  user_ = user;
  sees_secrets_ = user_ == nullptr || user_->has_for_all({users::Role::kAdmin});
  parser_.set_limits(limits().requests);
}

void Conversation::begin_sign_in(const Credentials& credentials, std::optional<Agreement> hello) {
  is_signing_in_ = true;
  auto done = [promise = promise(), hello = std::move(hello)](const Result<UserPointer>& user) mutable {
    Conversation& conversation = *promise.slot_->owner;
    conversation.end_sign_in(std::move(promise), user, hello);
  };
  house_.check(*this, credentials, std::move(done));
}

void Conversation::end_sign_in(Promise promise, const Result<UserPointer>& user,
                               const std::optional<Agreement>& hello) {
  is_signing_in_ = false;
  if (!user) {
    if (!is_closed_) tell_refusal(promise.slot_->verb, user.error());
    return std::move(promise).fulfil([&](RespWriter& out) { out.error(user.error()); });
  }
  sign_in(*user);
  if (!hello) return std::move(promise).answer(Result<Done>(Done{}));
  agree(*hello);
  promise.slot_->protocol = protocol_;
  std::move(promise).fulfil([&](RespWriter& out) { write_greeting(out, terms_.client_id, is_leading()); });
}

void Conversation::agree(const Agreement& hello) {
  protocol_ = hello.protocol.value_or(protocol_);
  if (hello.name) name_ = *hello.name;
}

void Conversation::ask(const Hello& request) {
  Agreement hello;
  if (request.version) hello.protocol = static_cast<Protocol>(*request.version);
  if (request.name) hello.name = std::string(*request.name);
  if (request.credentials) return begin_sign_in(*request.credentials, std::move(hello));
  agree(hello);
  reply([&](RespWriter& out) { write_greeting(out, terms_.client_id, is_leading()); });
}

void Conversation::ask(const Quit& /*request*/) {
  reply(Done{});
  is_ending_ = true;
}

void Conversation::ask(const Reset& /*request*/) {
  leave();
  protocol_ = Protocol::kResp2;
  name_.clear();
  sign_in(nullptr);
  reply([](RespWriter& out) { out.simple("RESET"); });
}

void Conversation::ask(const TellTime& /*request*/) {
  reply([&](RespWriter& out) { write_time(out, engine_.now()); });
}

void Conversation::ask(const TellRole& /*request*/) {
  reply([&](RespWriter& out) {
    if (is_leading()) return write_role(out);
    write_follower_role(out, house_.leader(), engine_.applied());
  });
}

void Conversation::ask(const TellClientId& /*request*/) {
  reply([&](RespWriter& out) { out.value(terms_.client_id); });
}

void Conversation::ask(const TellClientName& /*request*/) {
  reply([&](RespWriter& out) { out.value(name_.empty() ? std::nullopt : std::optional<std::string_view>(name_)); });
}

void Conversation::ask(const NameClient& request) {
  name_ = request.name;
  reply(Done{});
}

void Conversation::ask(const DescribeClient& request) {
  const bool is_name = is_word(request.attribute, "LIB-NAME");
  if (!is_name && !is_word(request.attribute, "LIB-VER")) {
    return refuse(
        {ErrorCode::kErr, fmt::format("attribute: expected LIB-NAME or LIB-VER, found {}", quote(request.attribute))});
  }
  (is_name ? library_name_ : library_version_) = request.value;
  reply(Done{});
}

// Joined before the other is left: that may be the same.
Result<Done> Conversation::join(std::string_view session, std::optional<Millis> grace) {
  auto joined = engine_.join(session, grace);
  if (!joined) return joined;
  leave();
  session_ = session;
  return joined;
}

void Conversation::leave() {
  if (!session_.empty()) static_cast<void>(engine_.leave(session_));
  session_.clear();
}

}  // namespace tenure::wire
