#include "call_law.h"

#include <algorithm>

namespace tenure::sim {
namespace {

// What happens once, and not again because it is asked again. To acquire an offset and to extend a lease is the same
// twice as once.
template <class R>
inline constexpr bool kCounts = std::is_same_v<R, record::TaskCreated> || std::is_same_v<R, record::LeaseGranted> ||
                                std::is_same_v<R, record::TaskCompleted> || std::is_same_v<R, record::TaskFailed> ||
                                std::is_same_v<R, record::TaskDead> || std::is_same_v<R, record::WorkSucceeded> ||
                                std::is_same_v<R, record::WorkRetried> || std::is_same_v<R, record::WorkGivenUp> ||
                                std::is_same_v<R, record::LockGranted> || std::is_same_v<R, record::LockReentered> ||
                                std::is_same_v<R, record::LockReleased> || std::is_same_v<R, record::LockForced>;

std::string key_of(const std::string& who, const Request& request) { return who + " " + text_of(request); }

}  // namespace

CallLaw::Number CallLaw::begin(const std::string& who) {
  const Number number = calls_.size() + 1;
  calls_.emplace(number, Call{.who = who, .text = {}});
  return number;
}

void CallLaw::ask(Number call, const std::string& who, const Request& request) {
  Call& asked = calls_.find(call)->second;
  if (asked.text.empty()) asked.text = text_of(request);
  ++asked.requests;
  if (const auto id = request_id_of(request)) asked.request_ids.emplace(*id);
  by_text_[key_of(who, request)] = call;
}

void CallLaw::end_unsent(Number call) const {
  const Call& ended = calls_.find(call)->second;
  // Without an id it cannot be told from another call that asks the same.
  if (ended.requests > 1 || ended.request_ids.empty()) return;
  require(ended.arrivals == 0, "{}: {} is said not to have been sent, and has arrived", ended.who, ended.text);
}

void CallLaw::finish() const {
  for (const auto& [number, call] : calls_) {
    require(!call.told || call.told == call.task || is_forgotten(call),
            "{}: {} is told to have made task {}, and has made {}", call.who, call.text, call.told.value_or(""),
            call.task.value_or("none"));
  }
}

CallLaw::Number CallLaw::arrive(const std::string& who, const Request& request) {
  const auto found = by_text_.find(key_of(who, request));
  require(found != by_text_.end(), "{}: nobody has asked {}", who, text_of(request));
  ++calls_.find(found->second)->second.arrivals;
  return found->second;
}

bool CallLaw::is_forgotten(const Call& call) const {
  return std::ranges::any_of(call.request_ids, [&](const std::string& id) { return forgotten_.contains(id); });
}

void CallLaw::count(Call& call, std::string_view what) const {
  require(++call.effects == 1 || is_forgotten(call), "{}: {} was asked for once, and has a second effect, {}", call.who,
          call.text, what);
}

void CallLaw::see(Number call, const Record& record) {
  Call& of = calls_.find(call)->second;
  std::visit(
      [&]<class R>(const R& fact) {
        if constexpr (std::is_same_v<R, record::TaskCreated>) of.task = std::string(fact.task_id);
        if constexpr (std::is_same_v<R, record::LockGranted> || std::is_same_v<R, record::LockReentered>) {
          by_token_[fact.token].push_back(call);
        }
        if constexpr (kCounts<R>) count(of, R::kName);
      },
      record);
}

void CallLaw::end(Token token) {
  const auto found = by_token_.find(token);
  if (found == by_token_.end()) return;
  for (const Number call : found->second) undo(call);
  by_token_.erase(found);
}

}  // namespace tenure::sim
