// What the work book answers, and the records that make it so. Nothing here changes the book.
#include <algorithm>

#include "core/work_book.h"

namespace tenure {
namespace {

// Intervals that one step of a trim may drop: about a tenth of a millisecond.
constexpr std::uint64_t kTrimStep = 1024;

std::optional<Millis> remaining_of(const WorkHold& hold, Instant now) {
  if (hold.expires_at == kNever) return std::nullopt;
  return remaining(hold.expires_at, now);
}

Acquired acquired(const WorkHold& hold, Instant now, bool already) {
  return {.token = hold.token.text(),
          .fence = hold.token.fence,
          .acquired_at = hold.acquired_at,
          .retry_count = hold.retry_count,
          .remaining = remaining_of(hold, now),
          .already = already};
}

FailResult fail_result(const WorkAnswer& answer) {
  if (answer.retry_count) return RetryScheduled{*answer.retry_count};
  return GivenUp{answer.next};
}

}  // namespace

Verdict<AcquireResult> WorkBook::decide(const WorkRequest& request, const Moment& moment) const {
  const Settings& settings = moment.settings;
  const Domain* domain = find(request.domain);
  const Offset offset = request.offset;

  if (domain != nullptr) {
    // What lies below the mark counts as processed, unless it is known to have failed.
    if (domain->processed.contains(offset)) return {AlreadyProcessed{}};
    if (domain->failed.contains(offset)) return {AlreadyFailed{}};
    if (offset < domain->trimmed_below) return {AlreadyProcessed{}};
  }

  if (domain != nullptr && domain->hold) {
    if (domain->hold->offset == offset) return {acquired(*domain->hold, moment.now, true)};
    const std::uint64_t waiting = domain->has_backlog() ? domain->backlog->size() : 0;
    if (waiting > 0) {
      if (const auto place = domain->backlog->place_of(offset)) {
        return {Enqueued{*place - domain->backlog->head_place() + 1}};
      }
    }
    if (waiting >= settings.backlog_max) {
      return {fail_with(ErrorCode::kBackpressure, "backlog of domain '{}': expected fewer than {} offsets, found {}",
                        request.domain, settings.backlog_max, waiting)};
    }
    if (is_full(moment)) return {refuse_new_work(moment)};
    return {Enqueued{waiting + 1}, {record::WorkEnqueued{request.domain, offset}}};
  }

  if (domain != nullptr && domain->has_backlog() && domain->backlog->head() != offset) {
    const Offset expected = domain->backlog->head();
    auto failure =
        fail_with(ErrorCode::kBacklogOrder, "domain '{}': expected offset {}, the head of its backlog, got {}",
                  request.domain, expected.value, offset.value);
    failure.value().expected = expected;
    failure.value().got = offset;
    return {std::move(failure)};
  }
  if (domain == nullptr && domains_.size() >= settings.domains_max) {
    return {fail_with(ErrorCode::kBackpressure, "domains: expected fewer than {}, found {}", settings.domains_max,
                      domains_.size())};
  }
  const std::uint64_t intervals = domain == nullptr ? 0 : domain->processed.intervals() + domain->failed.intervals();
  if (intervals >= settings.intervals_max) {
    return {fail_with(ErrorCode::kBackpressure,
                      "intervals of domain '{}': expected fewer than {}, found {}; trim what is done", request.domain,
                      settings.intervals_max, intervals)};
  }
  const bool is_head = domain != nullptr && domain->has_backlog();
  if (!moment.has_room || (!is_head && is_full(moment))) return {refuse_new_work(moment)};

  WorkHold hold;
  hold.offset = offset;
  hold.acquired_at = moment.now;
  if (is_head && domain->returned) static_cast<InFlight&>(hold) = *domain->returned;
  hold.token = Token{common_.next_fence(), moment.entropy.next()};
  if (request.lease) hold.expires_at = moment.now + *request.lease;
  record::WorkAcquired record{request.domain, offset, hold.token, hold.acquired_at, hold.retry_count};
  if (request.lease) record.lease_expiry = hold.expires_at;
  return {acquired(hold, moment.now, false), {record}};
}

Result<const WorkHold*> WorkBook::claim(const Domain* domain, std::string_view name, std::string_view token) {
  if (domain == nullptr || !domain->hold) {
    return fail_with(ErrorCode::kNoLease, "domain '{}': expected a lease, found none", name);
  }
  if (Token::parse(token) != domain->hold->token) {
    return fail_with(ErrorCode::kTokenMismatch, "domain '{}': expected the token of its lease on offset {}, found '{}'",
                     name, domain->hold->offset.value, token);
  }
  return &*domain->hold;
}

Verdict<SucceedResult> WorkBook::decide(const WorkSuccess& request, const Moment& /*moment*/) const {
  const std::uint64_t print =
      request.request_id ? Fingerprint("succeed").add(request.domain).add(request.token).value() : 0;
  const auto known = requests_.recall(request.request_id, print);
  if (!known) return {tl::unexpected(known.error())};
  if (*known != nullptr) return {SucceedResult{(*known)->answer.next}};

  const Domain* domain = find(request.domain);
  const auto hold = claim(domain, request.domain, request.token);
  if (!hold) return {tl::unexpected(hold.error())};
  return {SucceedResult{domain->hint()},
          {record::WorkSucceeded{request.domain, (*hold)->token, (*hold)->offset, mark_of(request.request_id, print)}}};
}

Verdict<FailResult> WorkBook::decide(const WorkFailure& request, const Moment& moment) const {
  const std::uint64_t print =
      request.request_id ? Fingerprint("fail").add(request.domain).add(request.token).value() : 0;
  const auto known = requests_.recall(request.request_id, print);
  if (!known) return {tl::unexpected(known.error())};
  if (*known != nullptr) return {fail_result((*known)->answer)};

  const Domain* domain = find(request.domain);
  const auto claimed = claim(domain, request.domain, request.token);
  if (!claimed) return {tl::unexpected(claimed.error())};
  const WorkHold& hold = **claimed;
  const auto mark = mark_of(request.request_id, print);
  if (hold.retry_count >= moment.settings.work_retries_max) {
    return {GivenUp{domain->hint()},
            {record::WorkGivenUp{request.domain, hold.token, hold.offset, request.reason, mark}}};
  }
  const std::uint32_t retries = hold.retry_count + 1;
  return {RetryScheduled{retries},
          {record::WorkRetried{request.domain, hold.token, hold.offset, retries, request.reason, mark}}};
}

Verdict<WorkExtended> WorkBook::decide(const WorkExtension& request, const Moment& moment) const {
  const auto claimed = claim(find(request.domain), request.domain, request.token);
  if (!claimed) return {tl::unexpected(claimed.error())};
  const WorkHold& hold = **claimed;
  if (hold.expires_at == kNever) return {WorkExtended{}};
  const Instant wanted = moment.now + request.lease;
  const Instant expires_at = std::max(wanted, hold.expires_at);
  Verdict<WorkExtended> verdict{WorkExtended{expires_at, remaining(expires_at, moment.now)}};
  if (wanted > hold.expires_at) verdict.records.emplace_back(record::WorkExtended{request.domain, hold.token, wanted});
  return verdict;
}

Verdict<Trimmed> WorkBook::decide(const WorkTrim& request, const Moment& moment) const {
  const Domain* domain = find(request.domain);
  if (domain == nullptr) {
    if (domains_.size() >= moment.settings.domains_max) {
      return {fail_with(ErrorCode::kBackpressure, "domains: expected fewer than {}, found {}",
                        moment.settings.domains_max, domains_.size())};
    }
    if (is_full(moment)) return {refuse_new_work(moment)};
    return {Trimmed{}, {record::WorkTrimmed{request.domain, request.below}}};
  }
  if (request.below <= domain->trimmed_below) return {Trimmed{}};
  const std::optional<Offset> lowest = domain->has_backlog() ? std::optional(domain->backlog->lowest()) : std::nullopt;
  for (const auto& open : {domain->hold ? std::optional(domain->hold->offset) : std::nullopt, lowest}) {
    if (open && *open < request.below) {
      return {fail_with(ErrorCode::kInvalid, "below: expected at most offset {}, which is not done, found {}",
                        open->value, request.below.value)};
    }
  }
  // The last interval of this step, if there are more of them below the mark than one step may drop.
  Offset below = request.below;
  std::uint64_t steps = 0;
  for (const auto& [first, last] : domain->processed.map()) {
    if (first >= request.below.value) break;
    if (steps++ == kTrimStep) {
      below = Offset{first};
      break;
    }
  }
  return {Trimmed{below == request.below}, {record::WorkTrimmed{request.domain, below}}};
}

Records WorkBook::decide_expiry(const Domain& domain) {
  return {record::WorkExpired{domain.name, domain.hold->token, domain.hold->offset}};
}

Records WorkBook::decide_forgetting(const Settings& settings, Instant now) const {
  Records records;
  archive_.visit_overdue(settings, now, [&](const Keepsake& oldest) {
    records.emplace_back(record::Forgotten{oldest.kind, static_cast<const RequestMemory<WorkAnswer>&>(oldest).id});
  });
  return records;
}

}  // namespace tenure
