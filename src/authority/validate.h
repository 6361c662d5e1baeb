// The limits of each request's values, from left to right as the protocol lists them; the first fault is the answer.
#pragma once

#include <optional>

#include "authority/requests.h"
#include "base/result.h"

namespace tenure {

std::optional<Failure> fault_in(const Submission& request, const Settings& settings);
std::optional<Failure> fault_in(const LeaseRequest& request, const Settings& settings);
std::optional<Failure> fault_in(const TaskExtension& request, const Settings& settings);
std::optional<Failure> fault_in(const Completion& request, const Settings& settings);
std::optional<Failure> fault_in(const FailureReport& request, const Settings& settings);
std::optional<Failure> fault_in(const TaskKill& request, const Settings& settings);
std::optional<Failure> fault_in(const Resubmission& request, const Settings& settings);
std::optional<Failure> fault_in(const QueuePause& request, const Settings& settings);
std::optional<Failure> fault_in(const WorkRequest& request, const Settings& settings);
std::optional<Failure> fault_in(const WorkSuccess& request, const Settings& settings);
std::optional<Failure> fault_in(const WorkFailure& request, const Settings& settings);
std::optional<Failure> fault_in(const WorkExtension& request, const Settings& settings);
std::optional<Failure> fault_in(const WorkTrim& request, const Settings& settings);
std::optional<Failure> fault_in(const LockAcquire& request, const Settings& settings);
std::optional<Failure> fault_in(const LockGiveBack& request, const Settings& settings);
std::optional<Failure> fault_in(const LockExtension& request, const Settings& settings);
std::optional<Failure> fault_in(const LockForce& request, const Settings& settings);
std::optional<Failure> fault_in(const GetTask& request, const Settings& settings);
std::optional<Failure> fault_in(const GetHistory& request, const Settings& settings);
std::optional<Failure> fault_in(const ListTasks& request, const Settings& settings);
std::optional<Failure> fault_in(const ListQueues& request, const Settings& settings);
std::optional<Failure> fault_in(const ListWorkers& request, const Settings& settings);
std::optional<Failure> fault_in(const InspectDomain& request, const Settings& settings);
std::optional<Failure> fault_in(const ListBacklog& request, const Settings& settings);
std::optional<Failure> fault_in(const ListFailedOffsets& request, const Settings& settings);
std::optional<Failure> fault_in(const ListDone& request, const Settings& settings);
std::optional<Failure> fault_in(const ListDomains& request, const Settings& settings);
std::optional<Failure> fault_in(const GetLock& request, const Settings& settings);
std::optional<Failure> fault_in(const ListLocks& request, const Settings& settings);
std::optional<Failure> fault_in(const AwaitTask& request, const Settings& settings);

// What an authority is told to be.
std::optional<Failure> fault_in(const Settings& settings);

// The time a request may block, by the name it has there.
std::optional<Failure> fault_in_wait(std::string_view what, Millis block);

}  // namespace tenure
