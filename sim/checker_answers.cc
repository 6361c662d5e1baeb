// The checker's other half: requests and their answers.
#include <algorithm>

#include "checker.h"

namespace tenure::sim {
namespace {

// It says nothing of what was asked.
bool is_left_open(const Failure& failure) {
  return failure.code == ErrorCode::kUnavailable || failure.code == ErrorCode::kMoved;
}

bool is_nothing(std::string_view text) { return text == "NOTHING" || text == "HELD" || text == "NIL"; }

// Request ids are of one face.
bool share_a_face(const Request& a, const Request& b) {
  const auto is_of_locks = [](const Request& request) {
    return std::holds_alternative<LockAcquire>(request) || std::holds_alternative<LockGiveBack>(request);
  };
  return is_of_locks(a) == is_of_locks(b);
}

}  // namespace

std::uint64_t Checker::arrive(std::shared_ptr<const Letter> letter, std::uint64_t floor) {
  Case arrived{.number = ++numbers_, .letter = std::move(letter), .floor = floor, .stamp = now()};
  arrived.before = journal_->last();
  arrived.others_waiting = count_waiting();
  if (const auto* lock = std::get_if<LockAcquire>(&arrived.letter->request); lock != nullptr && lock->session) {
    arrived.is_joined = laws_.sessions().is_joined(*lock->session);
    arrived.grace = laws_.sessions().grace_of(*lock->session);
  }
  // The same request once more: the one that waits is answered empty.
  if (const auto id = request_id_of(arrived.letter->request)) {
    for (auto& [number, other] : cases_) {
      if (!waits_now(other) || request_id_of(other.letter->request) != id) continue;
      if (share_a_face(other.letter->request, arrived.letter->request)) other.is_superseded = true;
    }
  }
  processing_ = arrived.number;
  return cases_.emplace(arrived.number, std::move(arrived)).first->first;
}

void Checker::processed(std::uint64_t number, bool waits) {
  processing_ = 0;
  Case& asked = cases_.find(number)->second;
  asked.after = journal_->last();
  asked.has_room = journal_->had_room();
  asked.waits = waits;
  asked.place = asked.inherited_place = ++places_;
  // It takes over the place of the one it repeats, unless that has been answered meanwhile.
  if (const auto id = request_id_of(asked.letter->request); id && waits) {
    for (const auto& [other_number, other] : cases_) {
      if (other_number == number || !other.waits || request_id_of(other.letter->request) != id) continue;
      asked.inherited_place = std::min(asked.inherited_place, other.inherited_place);
    }
  }
  ends_.emplace(asked.after, number);
  if (notes_.empty()) reach(position_);
}

// What has been processed by now, and rests on nothing later, can be expected.
void Checker::reach(std::uint64_t position) {
  while (!ends_.empty() && ends_.begin()->first <= position) {
    const std::uint64_t number = ends_.begin()->second;
    ends_.erase(ends_.begin());
    const auto found = cases_.find(number);
    if (found != cases_.end()) expect_without_frame(found->second);
  }
}

Expectation Checker::expect_now(const Case& of, Instant at, const std::vector<std::uint64_t>& draws, bool has_room) {
  RepeatedEntropy entropy(draws);
  const Moment moment{.now = at,
                      .entropy = entropy,
                      .settings = settings_,
                      .state_bytes = shadow_->bytes(),
                      .has_room = has_room,
                      .scratch = scratch_};
  return expect(*shadow_, of, settings_, moment);
}

void Checker::expect_without_frame(Case& of) {
  if (of.expected) return;
  if (prepared_ != of.number) prepare(*shadow_, of.letter->request, of.stamp);
  prepared_ = of.number;
  const Expectation expectation = expect_now(of, of.stamp, {}, of.has_room);
  const std::string text = text_of(expectation.reply);
  if (of.waits) {
    require(is_nothing(text), "request {}: it waits, and could be answered: {}", of.number, text);
    return;
  }
  const Failure* const refused = of.reply ? failure_in(*of.reply) : nullptr;
  if (refused != nullptr && may_be_refused(of, *refused)) {
    of.expected = of.reply_text;
  } else {
    require(expectation.records.empty(), "request {}: {} should have led to records, and there are none: {}", of.number,
            text_of(of.letter->request), text);
    laws_.judge(of.letter->request, expectation.reply, false);
    of.expected = text;
  }
  of.position = of.after;
  conclude(of);
}

void Checker::answered(std::uint64_t number, Reply reply) {
  const auto found = cases_.find(number);
  if (found == cases_.end() || found->second.reply) {
    return note_breach(fmt::format("request {}: answered twice: {}", number, text_of(reply)));
  }
  Case& of = found->second;
  of.reply_text = text_of(reply);
  of.reply = std::move(reply);
  of.durable_at_reply = medium_->durable();
  of.replied_at = now();
  tally_.count(text_of(of.letter->request), *of.reply, of.reply_text);
  replied_.push_back(number);
  if (is_calm_ && of.reply_text.starts_with("-UNAVAILABLE")) note_breach("UNAVAILABLE, and nothing had failed");
}

void Checker::cancelled(std::uint64_t number) {
  const auto found = cases_.find(number);
  if (found != cases_.end()) found->second.cancelled_at = journal_->last();
}

// Why somebody who waited may be answered with nothing; empty: for no reason.
std::string Checker::reason_for_nothing(const Case& of) const {
  if (of.cancelled_at) return "its caller had gone";
  if (is_closing_) return "the authority was being closed";
  if (of.is_superseded) return "it was repeated";
  if (of.replied_at >= of.stamp + of.letter->block) return "its time was over";
  return "";
}

std::int64_t Checker::count_waiting() const {
  return std::ranges::count_if(cases_, [](const auto& entry) { return entry.second.waits; });
}

// Refusals that rest on those who wait, which no state knows.
bool Checker::may_be_refused(const Case& of, const Failure& failure) const {
  const auto has = [&](std::string_view part) { return failure.message.find(part) != std::string::npos; };
  const std::int64_t waiting = std::max(of.others_waiting, count_waiting());
  if (is_left_open(failure)) return true;
  if (failure.code == ErrorCode::kInvalid && has("the request that waits with it")) return waiting > 0;
  if (failure.code == ErrorCode::kInvalid && has("expected one that was joined")) return of.waits;
  if (failure.code == ErrorCode::kBackpressure && of.waits) return true;
  if (failure.code == ErrorCode::kBackpressure && has("waiters for one name")) {
    return static_cast<std::uint64_t>(waiting) >= settings_.waiters_max;
  }
  return false;
}

void Checker::conclude(Case& of) {
  if (!of.reply) return;
  const Failure* const refused = failure_in(*of.reply);
  if (refused != nullptr && is_left_open(*refused)) return;
  // What was expected before it was answered does not know of those who waited.
  require(of.reply_text == *of.expected || (refused != nullptr && !of.has_frame && may_be_refused(of, *refused)),
          "request {}: {} was answered {}; by the journal it is {}", of.number, text_of(of.letter->request),
          of.reply_text, *of.expected);
  require(of.durable_at_reply >= of.position, "request {}: {} was answered when frame {} was not durable, only {}",
          of.number, text_of(of.letter->request), of.position, of.durable_at_reply);
  require(of.has_frame ? of.position > of.floor : of.position >= of.floor,
          "request {}: {} was sent after an answer that rests on frame {}, and itself rests on {}", of.number,
          text_of(of.letter->request), of.floor, of.position);
  if (of.letter->call != 0 && !of.has_frame && calls_.has_effect(of.letter->call)) {
    tally_.count(Fault::kRepeatAnswered);
  }
  floor_ = std::max(floor_, of.position);
  laws_.acknowledge(*of.reply);
  cases_.erase(of.number);
}

// Whoever awaits the end of a task is answered with the frame that ends it.
void Checker::end_awaits() {
  std::vector<Case*> ended;
  for (auto& [number, of] : cases_) {
    const auto* const await = std::get_if<AwaitTask>(&of.letter->request);
    if (await == nullptr || !of.waits || of.expected || of.after >= position_) continue;
    if (of.reply && is_nothing(of.reply_text)) continue;  // it had waited long enough
    const Task* const task = shadow_->tasks().find(await->task_id);
    if (task == nullptr || !is_terminal(task->state)) continue;
    of.expected = text_of(Reply(Result<std::optional<TaskStatus>>(TaskBook::status(*task))));
    of.position = position_;
    ended.push_back(&of);
  }
  for (Case* of : ended) conclude(*of);
}

// All frames that are durable have been judged by now.
void Checker::judge_replies() {
  for (const std::uint64_t number : std::exchange(replied_, {})) {
    const auto found = cases_.find(number);
    if (found == cases_.end()) continue;
    Case& of = found->second;
    const Failure* const refused = failure_in(*of.reply);
    if (refused != nullptr && is_left_open(*refused)) continue;
    if (of.expected && (!of.waits || !is_nothing(of.reply_text))) {
      conclude(of);
    } else if (of.waits) {
      judge_wait(of);
    } else if (of.after > position_) {
      judge_early(of);
    }
  }
}

// A lock may be refused as soon as its holder's grant is durable, whatever else is not: by what is durable it is held.
void Checker::judge_early(Case& of) {
  const auto* const acquire = std::get_if<LockAcquire>(&of.letter->request);
  require(acquire != nullptr && is_nothing(of.reply_text),
          "request {}: {} was answered when frame {} was not durable, only {}", of.number, text_of(of.letter->request),
          of.after, of.durable_at_reply);
  const Lock* const held = shadow_->locks().find(acquire->lock);
  require(held != nullptr && !is_expired(held->expires_at, of.stamp),
          "request {}: {} was refused when by frame {} nobody held it", of.number, text_of(of.letter->request),
          position_);
  tally_.count(Fault::kRefusedEarly);
  of.expected = of.reply_text;
  of.position = position_;
  conclude(of);
}

void Checker::judge_wait(Case& of) {
  if (const Failure* const refused = failure_in(*of.reply)) {
    require(may_be_refused(of, *refused), "request {}: {} waited, and was answered {}", of.number,
            text_of(of.letter->request), of.reply_text);
  } else {
    require(is_nothing(of.reply_text), "request {}: {} was answered {} when that was not durable", of.number,
            text_of(of.letter->request), of.reply_text);
    require(!reason_for_nothing(of).empty(), "request {}: {} waited, and was answered nothing before its time",
            of.number, text_of(of.letter->request));
  }
  cases_.erase(of.number);
}

void Checker::require_finished() const {
  const auto open = laws_.find_open();
  require(!open, "not finished, and nothing goes wrong any more: {}", open.value_or(""));
}

void Checker::require_answered() const {
  const auto texts = unanswered();
  require(texts.empty(), "never answered, and nothing goes wrong any more: {}", fmt::join(texts, ", "));
}

std::vector<std::string> Checker::unanswered() const {
  std::vector<std::string> texts;
  for (const auto& [number, of] : cases_) {
    if (!of.reply) texts.push_back(fmt::format("request {}: {}", number, text_of(of.letter->request)));
  }
  return texts;
}

}  // namespace tenure::sim
