// Writes requests as clients send them, arrays of bulk strings: the other half of read_request (verbs.h), for clients.
// What is as the verb's default has it is left out.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wire/requests.h"

namespace tenure::wire {

// One word behind those of `request`.
void append_word(std::string& request, std::string_view word);

// Words one after the other. One thread.
class RequestWriter {
 public:
  RequestWriter& word(std::string_view text);
  RequestWriter& word(std::integral auto number) { return word(std::string_view(std::to_string(number))); }
  RequestWriter& word(Millis time) { return word(time.count()); }
  RequestWriter& word(Offset offset) { return word(offset.value); }
  RequestWriter& word(Fence fence) { return word(fence.value); }
  // Nothing where the value is absent.
  template <class T>
  RequestWriter& option(std::string_view name, const std::optional<T>& value) {
    return value ? word(name).word(*value) : *this;
  }
  // Nothing where the value is the default.
  template <class T>
  RequestWriter& option(std::string_view name, const T& value, const T& otherwise) {
    return value == otherwise ? *this : word(name).word(value);
  }
  RequestWriter& flag(std::string_view name, bool is_set) { return is_set ? word(name) : *this; }

  // The request; or all of it but so many words that the caller appends.
  [[nodiscard]] std::string finish(std::size_t words_to_come = 0) const;

 private:
  std::size_t count_ = 0;
  std::string words_;
};

// --- the books; what may wait does not ---

std::string write_request(const Submission& request);
std::string write_request(const LeaseTasks& request);
std::string write_request(const TaskExtension& request);
std::string write_request(const Completion& request);
std::string write_request(const FailureReport& request);
std::string write_request(const TaskKill& request);
std::string write_request(const Resubmission& request);
std::string write_request(const GetTask& request);
std::string write_request(const GetHistory& request);
std::string write_request(const AwaitTaskEnd& request);
std::string write_request(const ListTasks& request);
std::string write_request(const ListQueues& request);
std::string write_request(const QueuePause& request);
std::string write_request(const ListWorkers& request);
std::string write_request(const WorkRequest& request);
std::string write_request(const WorkSuccess& request);
std::string write_request(const WorkFailure& request);
std::string write_request(const WorkExtension& request);
std::string write_request(const InspectDomain& request);
std::string write_request(const ListBacklog& request);
std::string write_request(const ListFailedOffsets& request);
std::string write_request(const ListDone& request);
std::string write_request(const WorkTrim& request);
std::string write_request(const ListDomains& request);
std::string write_request(const AcquireLock& request);
std::string write_request(const LockGiveBack& request);
std::string write_request(const LockExtension& request);
std::string write_request(const LockForce& request);
std::string write_request(const GetLock& request);
std::string write_request(const ListLocks& request);

// The same, waiting: all but the last word, which is how many milliseconds. So it can be asked again for what is left.
std::string write_waiting(const LeaseTasks& request);
std::string write_waiting(const AwaitTaskEnd& request);
std::string write_waiting(const AcquireLock& request);

// --- the server ---

std::string write_request(const Hello& request);
std::string write_request(const JoinSession& request);
std::string write_request(const Ping& request);
std::string write_request(const Reset& request);
std::string write_request(const TellTime& request);
std::string write_request(const MakeSnapshot& request);

}  // namespace tenure::wire
