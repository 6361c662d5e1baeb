#include "desk.h"

#include <utility>

namespace tenure::sim {

void Desk::process(const Mail& mail) {
  std::visit([&](const auto& request) { process(mail, request); }, mail.letter->request);
  ports_.settle();
}

template <class R>
void Desk::process(const Mail& mail, const R& request) {
  if constexpr (std::is_same_v<R, JoinSession>) {
    join(mail, request);
  } else {
    Begun begun{.place = ++begun_, .term = ports_.term()};
    if (begun.term != 0) begun.number = ports_.checker.arrive(mail.letter, mail.floor);
    if (ports_.story.is_heard())
      ports_.story.tell("{} hears #{} {}", ports_.name, begun.number, text_of(mail.letter->request));
    if (!begin_wait(mail, request, begun)) {
      auto done = [this, begun, mail](Result<ReplyOf<R>> reply) { answer(begun, mail, std::move(reply)); };
      if (ports_.dice.one_in(4) && ports_.engine.is_leading()) {
        ports_.engine.put(request, std::move(done));
        ports_.lives.plan(Millis{ports_.dice.between(0, 2)}, [this] {
          ports_.engine.hand_over();
          ports_.settle();
        });
      } else {
        ports_.engine.ask(request, std::move(done));
      }
      if (is_judged(begun)) ports_.checker.processed(begun.number, false);
    }
  }
}

// False: it does not wait.
template <class R>
bool Desk::begin_wait(const Mail& mail, const R& request, const Begun& begun) {
  if constexpr (kMayWait<R>) {
    if (mail.letter->block <= Millis{0}) return false;
    const Ticket ticket =
        ports_.engine.wait(request, mail.letter->block,
                           [this, begun, mail](Result<ReplyOf<R>> reply) { answer(begun, mail, std::move(reply)); });
    if (ticket != 0) connections_[mail.connection].waits.insert({begun.place, {ticket, begun.number}});
    if (is_judged(begun)) ports_.checker.processed(begun.number, ticket != 0);
    return true;
  }
  return false;
}

void Desk::join(const Mail& mail, const JoinSession& request) {
  Connection& connection = connections_[mail.connection];
  if (ports_.story.is_heard()) ports_.story.tell("{} hears {}", ports_.name, text_of(mail.letter->request));
  const auto joined = ports_.engine.join(request.session, request.grace);
  if (joined) {
    // The checker's account follows: a connection is of one session.
    if (ports_.term() != 0) {
      ports_.checker.laws().sessions().join(std::string(request.session), ports_.engine.now(), request.grace);
    }
    leave(connection);
    connection.session = std::string(request.session);
  }
  const Reply reply = joined;
  ports_.tally.count(text_of(mail.letter->request), reply, text_of(reply));
  if (mail.reply_to) ports_.network.carry([mail, reply] { mail.reply_to(reply); });
}

void Desk::leave(Connection& connection) {
  if (!connection.session) return;
  if (ports_.term() != 0) ports_.checker.laws().sessions().leave(*connection.session, ports_.engine.now());
  const auto left = ports_.engine.leave(*connection.session);
  require(left.has_value() || ports_.may_refuse(), "session {} was joined, and cannot be left", *connection.session);
  connection.session.reset();
}

void Desk::hang_up(std::uint64_t connection) {
  ports_.story.tell("{} sees connection {} closed", ports_.name, connection);
  gone_.insert(connection);
  const auto found = connections_.find(connection);
  if (found == connections_.end()) return;
  for (const auto& [place, wait] : std::exchange(found->second.waits, {})) {
    ports_.checker.cancelled(wait.number);
    if (ports_.engine.cancel(wait.ticket)) ports_.tally.count(Fault::kCallerHungUp);
  }
  leave(found->second);
  connections_.erase(found);
  ports_.settle();
}

void Desk::forget_soft_state() {
  for (auto& [number, connection] : connections_) {
    connection.waits.clear();
    connection.session.reset();
  }
}

// From a callback: nothing here asks the engine.
void Desk::answer(const Begun& begun, const Mail& mail, Reply reply) {
  if (ports_.story.is_heard()) ports_.story.tell("{} answers #{}: {}", ports_.name, begun.number, text_of(reply));
  const bool is_told = is_judged(begun);
  if (is_told) ports_.checker.answered(begun.number, reply);
  if (ports_.on_answer) ports_.on_answer(reply, is_told);
  if (gone_.contains(mail.connection)) {
    // Not a byte of it can be delivered.
    const auto* const granted = std::get_if<Result<std::optional<LockGrant>>>(&reply);
    const bool has_id = request_id_of(mail.letter->request).has_value();
    if (granted != nullptr && *granted && **granted && !has_id) give_back(mail, ***granted);
    return;
  }
  const auto found = connections_.find(mail.connection);
  if (found != connections_.end()) found->second.waits.erase(begun.place);
  if (!mail.reply_to) return;
  if (mail.is_wired) return mail.reply_to(reply);
  ports_.network.carry([mail, reply = std::move(reply)] { mail.reply_to(reply); });
}

void Desk::give_back(const Mail& mail, const LockGrant& grant) {
  ports_.tally.count(Fault::kGrantUndelivered);
  auto letter = std::make_shared<Letter>();
  letter->texts = std::make_shared<Texts>();
  LockGiveBack request;
  const LockName& lock = std::get<LockAcquire>(mail.letter->request).lock;
  request.lock = {letter->texts->keep(std::string(lock.domain)), letter->texts->keep(std::string(lock.identifier))};
  request.token = letter->texts->keep(grant.token);
  request.cause = ReleaseCause::kUndelivered;
  letter->request = request;
  letter->call = mail.letter->call;
  letter->gives_back = true;
  ports_.lives.plan(Millis{0}, [this, letter] { process({.letter = letter, .floor = ports_.checker.floor()}); });
}

}  // namespace tenure::sim
