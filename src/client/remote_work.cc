#include "client/asking.h"

namespace tenure::client {

// Asked twice, an offset that was acquired is ALREADY_ACQUIRED with the same token, one in the backlog keeps its place.
AcquireResult RemoteWork::try_acquire(const WorkRequest& request) {
  return expect(Desk(desk_), request, request.domain);
}

SucceedResult RemoteWork::succeed(const WorkSuccess& request) {
  const Desk desk = desk_;
  const RequestId id(desk, request.request_id);
  WorkSuccess success = request;
  success.request_id = id.text();
  return expect(desk, success);
}

FailResult RemoteWork::fail(const WorkFailure& request) {
  const Desk desk = desk_;
  const RequestId id(desk, request.request_id);
  WorkFailure failure = request;
  failure.request_id = id.text();
  return expect(desk, failure);
}

WorkExtended RemoteWork::extend(const WorkExtension& request) { return expect(Desk(desk_), request); }

void RemoteWork::trim(std::string_view domain, Offset below) { expect(Desk(desk_), WorkTrim{domain, below}); }

std::optional<DomainStatus> RemoteWork::inspect(std::string_view domain) {
  return expect(Desk(desk_), InspectDomain{domain});
}

OffsetPage RemoteWork::backlog(std::string_view domain, const Paging& paging) {
  return expect(Desk(desk_), ListBacklog{domain, paging});
}

OffsetPage RemoteWork::failed(std::string_view domain, const Paging& paging) {
  return expect(Desk(desk_), ListFailedOffsets{domain, paging});
}

IntervalPage RemoteWork::done(std::string_view domain, const Paging& paging) {
  return expect(Desk(desk_), ListDone{domain, paging});
}

DomainPage RemoteWork::domains(const Paging& paging) { return expect(Desk(desk_), ListDomains{paging}); }

}  // namespace tenure::client
