// The verbs of the work book.
#include "wire/verb_tables.h"

namespace tenure::wire {
namespace {

using enum Field;

constexpr Argument kWorkAcquire[] = {need(kDomain), need(kOffset), option("LEASE", kLease)};
Request make_work_acquire(const Values& values) {
  return WorkRequest{
      .domain = values.text(kDomain), .offset = Offset{values.number(kOffset)}, .lease = values.maybe_time(kLease)};
}

constexpr Argument kWorkSucceed[] = {need(kDomain), need(kToken), option("REQUEST", kRequestId)};
Request make_work_succeed(const Values& values) {
  return WorkSuccess{
      .domain = values.text(kDomain), .token = values.text(kToken), .request_id = values.maybe_text(kRequestId)};
}

constexpr Argument kWorkFail[] = {need(kDomain), need(kToken), option("REASON", kWhy), option("REQUEST", kRequestId)};
Request make_work_fail(const Values& values) {
  return WorkFailure{.domain = values.text(kDomain),
                     .token = values.text(kToken),
                     .reason = values.maybe_text(kWhy),
                     .request_id = values.maybe_text(kRequestId)};
}

constexpr Argument kWorkExtend[] = {need(kDomain), need(kToken), need_option("LEASE", kLease)};
Request make_work_extend(const Values& values) {
  return WorkExtension{.domain = values.text(kDomain), .token = values.text(kToken), .lease = values.time(kLease)};
}

constexpr Argument kOneDomain[] = {need(kDomain)};
Request make_work_inspect(const Values& values) { return InspectDomain{values.text(kDomain)}; }

constexpr Argument kOffsets[] = {need(kDomain), option("COUNT", kCount), option("CURSOR", kOffsetCursor)};
Request make_work_backlog(const Values& values) {
  return ListBacklog{values.text(kDomain), paging_of(values, kOffsetCursor)};
}
Request make_work_failed(const Values& values) {
  return ListFailedOffsets{values.text(kDomain), paging_of(values, kOffsetCursor)};
}
Request make_work_done(const Values& values) {
  return ListDone{values.text(kDomain), paging_of(values, kOffsetCursor)};
}

constexpr Argument kWorkTrim[] = {need(kDomain), need(kBelow)};
Request make_work_trim(const Values& values) {
  return WorkTrim{.domain = values.text(kDomain), .below = Offset{values.number(kBelow)}};
}

constexpr Argument kWorkPage[] = {option("COUNT", kCount), option("CURSOR", kTableCursor)};
Request make_work_list(const Values& values) { return ListDomains{paging_of(values, kTableCursor)}; }

constexpr Verb kWorkVerbs[] = {
    {.name = "WORK.ACQUIRE",
     .group = Group::kWork,
     .permission = Permission::kWork,
     .summary = "Takes an offset of a domain, or its place in the domain's backlog.",
     .reply = "array: `ACQUIRED` or `ALREADY_ACQUIRED`, token, fence, acquired_at, retry_count, remaining_ms (null "
              "without a lease time); or `ENQUEUED`, position (1 = head); or `ALREADY_PROCESSED`; or `ALREADY_FAILED`",
     .arguments = kWorkAcquire,
     .make = make_work_acquire,
     .route = {"POST", "/v1/work/{domain}/acquire"},
     .reply_schema = reply_schema_of<WorkRequest>},
    {.name = "WORK.SUCCEED",
     .group = Group::kWork,
     .permission = Permission::kWork,
     .summary = "Reports that the offset in flight is processed.",
     .reply = "array: `NO_BACKLOG`; or `NEXT_HINT`, offset",
     .arguments = kWorkSucceed,
     .make = make_work_succeed,
     .route = {"POST", "/v1/work/{domain}/succeed"},
     .reply_schema = reply_schema_of<WorkSuccess>},
    {.name = "WORK.FAIL",
     .group = Group::kWork,
     .permission = Permission::kWork,
     .summary = "Reports a failure: the lease stays for a retry, or the offset is given up.",
     .reply = "array: `RETRY_SCHEDULED`, retry_count; or `GIVE_UP_NO_BACKLOG`; or `GIVE_UP_NEXT_HINT`, offset",
     .arguments = kWorkFail,
     .make = make_work_fail,
     .route = {"POST", "/v1/work/{domain}/fail"},
     .reply_schema = reply_schema_of<WorkFailure>},
    {.name = "WORK.EXTEND",
     .group = Group::kWork,
     .permission = Permission::kWork,
     .summary = "Prolongs a lease that has a lease time; never shortens it.",
     .reply = "array: `EXTENDED`, expires_at, remaining_ms (both null without a lease time)",
     .arguments = kWorkExtend,
     .make = make_work_extend,
     .route = {"POST", "/v1/work/{domain}/extend"},
     .reply_schema = reply_schema_of<WorkExtension>},
    {.name = "WORK.INSPECT",
     .group = Group::kWork,
     .permission = Permission::kRead,
     .summary = "Tells how a domain stands.",
     .reply = "map: domain, state (`IDLE`, `IN_FLIGHT`), offset, fence, retry_count, acquired_at, expires_at, backlog, "
              "backlog_head, processed, failed, trimmed_below; nil if unknown",
     .arguments = kOneDomain,
     .make = make_work_inspect,
     .route = {"GET", "/v1/work/{domain}"},
     .reply_schema = reply_schema_of<InspectDomain>},
    {.name = "WORK.BACKLOG",
     .group = Group::kWork,
     .permission = Permission::kRead,
     .summary = "Lists the offsets that wait for their turn.",
     .reply = "array: next cursor, array of offsets, head first; empty for an unknown domain",
     .arguments = kOffsets,
     .make = make_work_backlog,
     .route = {"GET", "/v1/work/{domain}/backlog"},
     .reply_schema = reply_schema_of<ListBacklog>},
    {.name = "WORK.FAILED",
     .group = Group::kWork,
     .permission = Permission::kRead,
     .summary = "Lists the offsets that were given up.",
     .reply = "array: next cursor, array of offsets, ascending; empty for an unknown domain",
     .arguments = kOffsets,
     .make = make_work_failed,
     .route = {"GET", "/v1/work/{domain}/failed"},
     .reply_schema = reply_schema_of<ListFailedOffsets>},
    {.name = "WORK.DONE",
     .group = Group::kWork,
     .permission = Permission::kRead,
     .summary = "Lists the intervals of offsets that are processed.",
     .reply = "array: next cursor, array of arrays: first, last offset of each interval, ascending; empty for an "
              "unknown domain",
     .arguments = kOffsets,
     .make = make_work_done,
     .route = {"GET", "/v1/work/{domain}/done"},
     .reply_schema = reply_schema_of<ListDone>},
    {.name = "WORK.TRIM",
     .group = Group::kWork,
     .permission = Permission::kAdmin,
     .summary = "Declares everything below an offset done.",
     .reply = "`OK`",
     .arguments = kWorkTrim,
     .make = make_work_trim,
     .route = {"POST", "/v1/work/{domain}/trim"},
     .reply_schema = reply_schema_of<WorkTrim>},
    {.name = "WORK.LIST",
     .group = Group::kWork,
     .permission = Permission::kRead,
     .summary = "Lists the domains.",
     .reply = "array: next cursor, array of domains",
     .arguments = kWorkPage,
     .make = make_work_list,
     .route = {"GET", "/v1/work"},
     .reply_schema = reply_schema_of<ListDomains>},
};

}  // namespace

absl::Span<const Verb> work_verbs() { return kWorkVerbs; }

}  // namespace tenure::wire
