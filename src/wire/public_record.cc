#include "wire/public_record.h"

#include <algorithm>
#include <iterator>

#include "core/table_codec.h"

namespace tenure::wire {
namespace {

struct Telling {
  std::string_view record;
  std::string_view told;
  std::string_view secret{};
};

// A session is joined by whoever knows its name. A digest is a sum over the whole state, tokens included, by a function
// that need not withstand whoever sees many of them.
constexpr Telling kTellings[] = {
    {"TaskCreated",
     "task_id execution_window_ms retry_policy created_at queue priority key attempts not_before resubmit_of",
     "payload request"},
    {"LeaseGranted", "task_id worker_id attempt lease_expiry granted_at fence lease_ms window_ends_at",
     "lease_id request"},
    {"LeaseExtended", "task_id new_lease_expiry", "lease_id"},
    {"TaskCompleted", "task_id", "lease_id result"},
    {"TaskFailed", "task_id failure_reason next_state not_before", "lease_id"},
    {"TaskCancelled", "task_id", "lease_id"},
    {"LeaseExpired", "task_id", "lease_id"},
    {"TaskDead", "task_id reason"},
    {"WorkAcquired", "domain offset acquired_at retry_count lease_expiry", "token"},
    {"WorkEnqueued", "domain offset"},
    {"WorkSucceeded", "domain offset", "token request"},
    {"WorkRetried", "domain offset retry_count reason", "token request"},
    {"WorkGivenUp", "domain offset reason", "token request"},
    {"WorkExtended", "domain new_lease_expiry", "token"},
    {"WorkExpired", "domain offset", "token"},
    {"WorkTrimmed", "domain below"},
    {"LockGranted", "space domain identifier owner lease_ms lease_expiry user grace_ms", "token session request"},
    {"LockReentered", "space domain identifier holds lease_expiry", "token request"},
    {"LockExtended", "space domain identifier new_lease_expiry", "token"},
    {"LockReleased", "space domain identifier holds cause", "token request"},
    {"LockExpired", "space domain identifier", "token"},
    {"LockForced", "space domain identifier", "token"},
    {"Forgotten", "kind name"},
    {"QueuePaused", "queue"},
    {"QueueResumed", "queue"},
    {"FenceRaised", "fence"},
    {"DigestTaken", "", "digest"},
};

// What was forgotten is a task's id, or a request's, or a token.
bool is_secret_here(const record::Forgotten& forgotten, std::string_view field) {
  return field == "name" && forgotten.kind != Remembered::kTask;
}
template <class R>
bool is_secret_here(const R& /*record*/, std::string_view /*field*/) {
  return false;
}

// Among words with a blank between.
constexpr bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

constexpr const Telling* telling_of(std::string_view record) {
  const auto* const found = std::find_if(std::begin(kTellings), std::end(kTellings),
                                         [&](const Telling& telling) { return telling.record == record; });
  return found == std::end(kTellings) ? nullptr : found;
}

// The numbers of the fields that are told, as bits.
template <class R>
consteval std::uint64_t told_of() {
  const Telling* telling = telling_of(R::kName);
  if (telling == nullptr) throw "a record of which nobody has said what is told";
  const auto names = table_codec::names_of<R>();
  std::uint64_t told = 0;
  for (std::size_t number = 0; number < names.size(); ++number) {
    if (names[number].empty()) continue;
    const bool is_told = has_word(telling->told, names[number]);
    if (is_told == has_word(telling->secret, names[number]))
      throw "a field of which nobody has said whether it is told";
    if (is_told) told |= std::uint64_t{1} << number;
  }
  return told;
}

template <class R>
consteval bool tells_own_fence() {
  const auto names = table_codec::names_of<R>();
  return std::find(names.begin(), names.end(), "fence") != names.end();
}

template <class R>
void append_public_fields(std::string& out, const R& record) {
  constexpr std::uint64_t kTold = told_of<R>();
  table_codec::visit_present(record, [&](std::uint32_t number, std::string_view name, const auto& member, bool) {
    if ((kTold >> number & 1) != 0) {
      if (!is_secret_here(record, name)) table_codec::append_json_field(out, name, member);
    } else if constexpr (std::is_same_v<std::remove_cvref_t<decltype(member)>, Token> && !tells_own_fence<R>()) {
      table_codec::append_json_field(out, "fence", member.fence);
    }
  });
}

}  // namespace

std::string public_json(const Record& record, Instant at) {
  std::string out = "{";
  table_codec::append_json_field(out, "record", table_codec::name_of_any(record));
  table_codec::append_json_field(out, "at", at);
  std::visit([&](const auto& one) { append_public_fields(out, one); }, record);
  out.push_back('}');
  return out;
}

bool is_public(std::string_view record, std::string_view field) {
  const Telling* telling = telling_of(record);
  return telling != nullptr && has_word(telling->told, field);
}

}  // namespace tenure::wire
