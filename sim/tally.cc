#include "tally.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "core/record_codec.h"

namespace tenure::sim {
namespace {

constexpr std::string_view kFaultNames[] = {
#define TENURE_X(symbol, text, where) text,
    TENURE_SIM_FAULTS(TENURE_X)
#undef TENURE_X
};
constexpr Where kFaultPlaces[] = {
#define TENURE_X(symbol, text, where) Where::where,
    TENURE_SIM_FAULTS(TENURE_X)
#undef TENURE_X
};

// Every way in which a request is answered.
constexpr std::string_view kVerdicts[] = {"submit CREATED",
                                          "submit EXISTING",
                                          "resubmit CREATED",
                                          "resubmit EXISTING",
                                          "lease LEASED",
                                          "lease NOTHING",
                                          "extend EXTENDED",
                                          "extend CANCELLED",
                                          "complete COMMITTED",
                                          "complete CANCELLED",
                                          "fail COMMITTED WAITING",
                                          "fail COMMITTED FAILED",
                                          "fail CANCELLED",
                                          "kill OK",
                                          "pause OK",
                                          "resume OK",
                                          "acquire-work ACQUIRED",
                                          "acquire-work ALREADY_ACQUIRED",
                                          "acquire-work ENQUEUED",
                                          "acquire-work ALREADY_PROCESSED",
                                          "acquire-work ALREADY_FAILED",
                                          "succeed NEXT_HINT",
                                          "succeed NO_BACKLOG",
                                          "fail-work RETRY_SCHEDULED",
                                          "fail-work GIVE_UP_NEXT_HINT",
                                          "fail-work GIVE_UP_NO_BACKLOG",
                                          "extend-work EXTENDED",
                                          "trim OK",
                                          "acquire-lock GRANTED",
                                          "acquire-lock HELD",
                                          "release RELEASED",
                                          "extend-lock EXTENDED",
                                          "force FORCED",
                                          "force FREE",
                                          "get TASK",
                                          "get NIL",
                                          "history HISTORY",
                                          "list-tasks LIST",
                                          "list-queues LIST",
                                          "await TASK",
                                          "await NIL",
                                          "inspect DOMAIN",
                                          "inspect NIL",
                                          "list-backlog OFFSETS",
                                          "list-failed OFFSETS",
                                          "list-done LIST",
                                          "list-domains LIST",
                                          "get-lock LOCK",
                                          "get-lock NIL",
                                          "list-locks LIST",
                                          "join OK"};

// Of the embedded authority; the others are a server's.
constexpr ErrorCode kRefusals[] = {ErrorCode::kInvalid,    ErrorCode::kTooLarge,      ErrorCode::kNoTask,
                                   ErrorCode::kTaskExists, ErrorCode::kTerminal,      ErrorCode::kNotTerminal,
                                   ErrorCode::kNoLease,    ErrorCode::kTokenMismatch, ErrorCode::kBacklogOrder,
                                   ErrorCode::kExpired,    ErrorCode::kNotHeld,       ErrorCode::kBackpressure,
                                   ErrorCode::kUnavailable};

std::string_view first_words(std::string_view text, int words) {
  std::size_t end = 0;
  for (int i = 0; i < words && end != std::string_view::npos; ++i) end = text.find(' ', i == 0 ? 0 : end + 1);
  return text.substr(0, end);
}

std::string released(ReleaseCause cause) { return fmt::format("released {}", to_string(cause)); }
std::string forgotten(Remembered kind) { return fmt::format("forgotten {}", to_string(kind)); }

}  // namespace

std::string_view to_string(Fault fault) { return kFaultNames[static_cast<std::size_t>(fault)]; }

Tally::Tally() : faults_(std::size(kFaultNames)) {
  for (const std::string_view name : record_names()) records_.emplace(name, 0);
  for (const auto cause : {ReleaseCause::kByHolder, ReleaseCause::kDisconnected, ReleaseCause::kUndelivered}) {
    details_[released(cause)] = 0;
  }
  for (const auto kind : {Remembered::kTask, Remembered::kTaskRequest, Remembered::kWorkRequest,
                          Remembered::kLockRequest, Remembered::kLostLease}) {
    details_[forgotten(kind)] = 0;
  }
  details_["poisoned"] = 0;
  for (const std::string_view verdict : kVerdicts) verdicts_.emplace(verdict, 0);
  for (const ErrorCode code : kRefusals) refusals_.emplace(to_string(code), 0);
}

void Tally::count(const Record& record) {
  ++records_.find(name_of(record))->second;
  if (const auto* lock = std::get_if<record::LockReleased>(&record)) ++details_[released(lock->cause)];
  if (const auto* kept = std::get_if<record::Forgotten>(&record)) ++details_[forgotten(kept->kind)];
  if (const auto* dead = std::get_if<record::TaskDead>(&record); dead != nullptr && dead->reason == kPoison) {
    ++details_["poisoned"];
  }
}

void Tally::count(std::string_view request_text, const Reply& reply, std::string_view reply_text) {
  if (const Failure* failure = failure_in(reply)) {
    ++refusals_[std::string(to_string(failure->code))];
    return;
  }
  // A task's failure has its new state in the second word.
  const std::string_view verb = first_words(request_text, 1);
  ++verdicts_[fmt::format("{} {}", verb, first_words(reply_text, verb == "fail" ? 2 : 1))];
}

std::map<std::string, Tally::Counts> Tally::by_kind() const {
  std::map<std::string, Counts> kinds{
      {"record", records_}, {"detail", details_}, {"verdict", verdicts_}, {"refusal", refusals_}};
  for (std::size_t i = 0; i < faults_.size(); ++i) kinds["fault"].emplace(kFaultNames[i], faults_[i]);
  return kinds;
}

std::vector<std::string> Tally::lines() const {
  std::vector<std::string> lines{fmt::format("events||{}", events_)};
  for (const auto& [kind, counts] : by_kind()) {
    for (const auto& [name, count] : counts) lines.push_back(fmt::format("{}|{}|{}", kind, name, count));
  }
  return lines;
}

void Tally::add(std::string_view line) {
  const std::string_view kind = line.substr(0, line.find('|'));
  const std::string_view rest = line.substr(kind.size() + 1);
  const std::string name(rest.substr(0, rest.rfind('|')));
  const std::string_view digits = rest.substr(name.size() + 1);
  std::uint64_t count = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (kind == "events") {
    events_ += count;
  } else if (kind == "fault") {
    const auto* const found = std::ranges::find(kFaultNames, name);
    faults_[static_cast<std::size_t>(found - std::begin(kFaultNames))] += count;
  } else {
    Counts& counts = kind == "record"    ? records_
                     : kind == "detail"  ? details_
                     : kind == "verdict" ? verdicts_
                                         : refusals_;
    counts[name] += count;
  }
}

std::string Tally::table() const {
  std::string table;
  for (const auto& [kind, counts] : by_kind()) {
    fmt::format_to(std::back_inserter(table), "{}\n", kind);
    for (const auto& [name, count] : counts) fmt::format_to(std::back_inserter(table), "  {:<44}{:>12}\n", name, count);
  }
  return table;
}

std::vector<std::string> Tally::missing(Where where) const {
  const auto is_elsewhere = [where](std::string_view kind, std::string_view name) {
    if (kind != "fault") return false;
    const auto* const found = std::ranges::find(kFaultNames, name);
    const Where place = kFaultPlaces[found - std::begin(kFaultNames)];
    return place != Where::kAny && place != where;
  };
  std::vector<std::string> missing;
  for (const auto& [kind, counts] : by_kind()) {
    for (const auto& [name, count] : counts) {
      if (count == 0 && !is_elsewhere(kind, name)) missing.push_back(fmt::format("{} '{}'", kind, name));
    }
  }
  return missing;
}

}  // namespace tenure::sim
