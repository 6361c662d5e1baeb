// The verbs of the work book.
#include "answers.h"
#include "engine_subject.h"

namespace tenure::scenario {
namespace {

Answer show(const AcquireResult& reply) {
  if (const auto* lease = std::get_if<Acquired>(&reply)) {
    return one_line({named("", lease->already ? "ALREADY_ACQUIRED" : "ACQUIRED"), named("", lease->token),
                     named("fence", lease->fence), named("acquired_at", lease->acquired_at),
                     named("retry_count", lease->retry_count), named("remaining_ms", lease->remaining)});
  }
  if (const auto* enqueued = std::get_if<Enqueued>(&reply)) {
    return one_line({named("", "ENQUEUED"), named("position", enqueued->position)});
  }
  return say(std::holds_alternative<AlreadyProcessed>(reply) ? "ALREADY_PROCESSED" : "ALREADY_FAILED");
}

Answer hint(std::string_view none, std::string_view some, std::optional<Offset> next) {
  if (!next) return say(std::string(none));
  return say(fmt::format("{} {}", some, next->value));
}

Answer show(const FailResult& reply) {
  if (const auto* retry = std::get_if<RetryScheduled>(&reply)) {
    return say(fmt::format("RETRY_SCHEDULED {}", retry->retry_count));
  }
  return hint("GIVE_UP_NO_BACKLOG", "GIVE_UP_NEXT_HINT", std::get<GivenUp>(reply).next);
}

Answer show(const std::optional<DomainStatus>& domain) {
  if (!domain) return say("nil");
  return one_line({named("", domain->domain), named("", domain->in_flight ? "IN_FLIGHT" : "IDLE"),
                   named("offset", domain->offset), named("fence", domain->fence),
                   named("retry_count", domain->retry_count), named("acquired_at", domain->acquired_at),
                   named("expires_at", domain->expires_at), named("backlog", domain->backlog),
                   named("backlog_head", domain->backlog_head), named("processed", domain->processed),
                   named("failed", domain->failed), named("trimmed_below", domain->trimmed_below)});
}

Answer show(const OffsetPage& page) {
  std::vector<AnswerLine> lines;
  for (const Offset offset : page.offsets) lines.push_back(plain_line(std::to_string(offset.value)));
  Answer answer = list_of(std::move(lines));
  answer.cursor = page.cursor;
  return answer;
}

}  // namespace

void EngineSubject::work_acquire(Arguments& args, const Answered& done) {
  WorkRequest request;
  request.domain = args.next("domain");
  request.offset = Offset{args.next_number("offset")};
  args.take_options({{"LEASE"}});
  request.lease = args.duration("LEASE");
  engine_->ask(request, answering<AcquireResult>(done, [](const AcquireResult& reply) { return show(reply); }));
}

void EngineSubject::work_succeed(Arguments& args, const Answered& done) {
  WorkSuccess request;
  request.domain = args.next("domain");
  request.token = args.next("token");
  args.take_options({{"REQUEST"}});
  request.request_id = args.text("REQUEST");
  engine_->ask(request, answering<SucceedResult>(done, [](const SucceedResult& reply) {
                 return hint("NO_BACKLOG", "NEXT_HINT", reply.next);
               }));
}

void EngineSubject::work_fail(Arguments& args, const Answered& done) {
  WorkFailure request;
  request.domain = args.next("domain");
  request.token = args.next("token");
  args.take_options({{"REASON"}, {"REQUEST"}});
  request.reason = args.text("REASON");
  request.request_id = args.text("REQUEST");
  engine_->ask(request, answering<FailResult>(done, [](const FailResult& reply) { return show(reply); }));
}

void EngineSubject::work_extend(Arguments& args, const Answered& done) {
  WorkExtension request;
  request.domain = args.next("domain");
  request.token = args.next("token");
  args.take_options({{"LEASE"}});
  request.lease = args.duration("LEASE").value_or(Millis{0});
  engine_->ask(request, answering<WorkExtended>(done, [](const WorkExtended& reply) {
                 return one_line({named("", "EXTENDED"), named("expires_at", reply.expires_at),
                                  named("remaining_ms", reply.remaining)});
               }));
}

// A long trim goes in steps; the answer is the last step's.
void EngineSubject::work_trim(Arguments& args, const Answered& done) {
  const WorkTrim request{.domain = args.next("domain"), .below = Offset{args.next_number("below")}};
  args.finish();
  bool again = true;
  while (std::exchange(again, false)) {
    engine_->ask(request, [&again, done](const Result<Trimmed>& reply) {
      if (reply && !reply->complete) {
        again = true;
      } else {
        done(reply ? say("OK") : say(reply.error()));
      }
    });
  }
}

void EngineSubject::work_inspect(Arguments& args, const Answered& done) {
  const InspectDomain query{args.next("domain")};
  args.finish();
  engine_->ask(query, answering<InspectDomain::Reply>(done, [](const auto& reply) { return show(reply); }));
}

void EngineSubject::work_backlog(Arguments& args, const Answered& done) {
  const std::string_view domain = args.next("domain");
  args.take_options({{"COUNT"}, {"CURSOR"}});
  engine_->ask(ListBacklog{domain, args.paging()},
               answering<OffsetPage>(done, [](const OffsetPage& page) { return show(page); }));
}

void EngineSubject::work_failed(Arguments& args, const Answered& done) {
  const std::string_view domain = args.next("domain");
  args.take_options({{"COUNT"}, {"CURSOR"}});
  engine_->ask(ListFailedOffsets{domain, args.paging()},
               answering<OffsetPage>(done, [](const OffsetPage& page) { return show(page); }));
}

void EngineSubject::work_done(Arguments& args, const Answered& done) {
  const std::string_view domain = args.next("domain");
  args.take_options({{"COUNT"}, {"CURSOR"}});
  engine_->ask(ListDone{domain, args.paging()}, answering<IntervalPage>(done, [](const IntervalPage& page) {
                 std::vector<AnswerLine> lines;
                 for (const Interval interval : page.intervals) {
                   lines.push_back(plain_line(fmt::format("{}..{}", interval.first.value, interval.last.value)));
                 }
                 Answer answer = list_of(std::move(lines));
                 answer.cursor = page.cursor;
                 return answer;
               }));
}

void EngineSubject::work_list(Arguments& args, const Answered& done) {
  args.take_options({{"COUNT"}, {"CURSOR"}});
  engine_->ask(ListDomains{args.paging()}, answering<DomainPage>(done, [](const DomainPage& page) {
                 std::vector<AnswerLine> lines;
                 for (const std::string& domain : page.domains) lines.push_back(plain_line(domain));
                 Answer answer = list_of(std::move(lines));
                 answer.cursor = page.cursor;
                 answer.in_order = false;
                 return answer;
               }));
}

}  // namespace tenure::scenario
