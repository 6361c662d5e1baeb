#include "hazelcast/cluster.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "hazelcast/data.h"

namespace tenure::hazelcast {
namespace {

// The first tries come at once: most often a partition has just moved.
constexpr int kTriesAtOnce = 3;
constexpr Millis kPauseLongest{250};

Uuid new_uuid(Entropy& entropy) {
  // Version 4, as everybody's random ones.
  return {.high = (entropy.next() & ~std::uint64_t{0xF000}) | 0x4000,
          .low = (entropy.next() & ~(std::uint64_t{3} << 62)) | (std::uint64_t{2} << 62)};
}

}  // namespace

Cluster::Cluster(Settings settings, Network& network, Entropy& entropy, Millis now)
    : settings_(std::move(settings)),
      network_(network),
      entropy_(entropy),
      client_(new_uuid(entropy)),
      alone_since_(now),
      dial_first_at_(now),
      due_(now) {
  for (const std::string& address : settings_.addresses) {
    if (const auto where = read_address(address)) addresses_.push_back(*where);
  }
}

Cluster::~Cluster() { close({.code = ErrorCode::kUnavailable, .message = "the client is closed"}); }

void Cluster::close(const Failure& failure) {
  connections_.clear();
  watched_ = 0;
  for (auto& [correlation, flight] : std::exchange(flights_, {})) flight.call->done(tl::unexpected(failure));
  for (const auto& call : std::exchange(waiting_, {})) call->done(tl::unexpected(failure));
}

void Cluster::invoke(std::shared_ptr<Call> call) {
  earliest_deadline_ = std::min(earliest_deadline_, patience_with(*call));
  waiting_.push_back(std::move(call));
}

void Cluster::tend(Millis now) {
  due_ = Millis::max();
  if (now >= earliest_deadline_) give_up_late_calls(now);
  tend_links(now);
  dial_missing(now);
  send_calls(now);
  need_at(earliest_deadline_);
}

// --- sending ---

void Cluster::send_calls(Millis now) {
  if (waiting_.empty() || !is_up()) return;
  std::deque<std::shared_ptr<Call>> later;
  for (auto& call : std::exchange(waiting_, {})) {
    if (now >= call->not_before) {
      send(call, now);
    } else {
      need_at(call->not_before);
      later.push_back(std::move(call));
    }
  }
  waiting_ = std::move(later);
}

void Cluster::send(const std::shared_ptr<Call>& call, Millis now) {
  const std::int32_t partition = partition_of(call->what.key, partitions_);
  const auto to = link_for(partition);
  const std::int64_t correlation = ++correlations_;
  const Millis wait = std::max(call->wait_until - now, Millis{0});
  call->was_sent = true;
  flights_.emplace(correlation, Flight{.call = call, .link = to->first});
  to->second.link->send(write_lock_call(call->what, wait.count(), partition, correlation));
}

Cluster::Connections::iterator Cluster::link_for(std::int32_t partition) {
  const Uuid owner = owners_.empty() ? Uuid{} : owners_[static_cast<std::size_t>(partition)];
  auto any = connections_.end();
  for (auto it = connections_.begin(); it != connections_.end(); ++it) {
    if (it->second.state != State::kUp) continue;
    if (it->second.member == owner) return it;
    any = it;
  }
  return any;
}

// --- answers ---

void Cluster::answer(const Message& message, Millis now) {
  const auto found = flights_.find(message.correlation());
  if (message.correlation() == watch_correlation_) {
    if (const auto refusal = read_error(message)) drop(watched_, refusal->failure().message, now);
    return;
  }
  // Of a ping, or of what was given up.
  if (found == flights_.end()) return;
  const auto call = std::move(found->second.call);
  flights_.erase(found);
  const auto error = read_error(message);
  if (!error) return finish(call, read_lock_answer(call->what.verb, message));
  if (!error->may_pass()) return finish(call, tl::unexpected(error->failure()));
  trouble_ = error->failure();
  ask_again(call, now);
}

void Cluster::ask_again(const std::shared_ptr<Call>& call, Millis now) {
  const int pauses = ++call->failures - kTriesAtOnce;
  call->not_before = pauses <= 0 ? now : now + std::min(Millis{1 << std::min(pauses, 10)}, kPauseLongest);
  waiting_.push_back(call);
}

void Cluster::finish(const std::shared_ptr<Call>& call, Result<bool> result) {
  const bool is_acquired = result && *result;
  // One that was asked twice may have been refused while the first still waits.
  const bool is_refused = result && !*result && call->failures == 0;
  const bool is_taken = call->done(std::move(result));
  if (call->what.verb != LockVerb::kTryLock || !call->was_sent || call->is_reentry) return;
  if (!is_refused && !(is_acquired && is_taken)) give_back(*call);
}

// Under a thread's number that no other call has: if it was not acquired, nothing is let go.
void Cluster::give_back(const Call& call) {
  auto back = std::make_shared<Call>();
  back->what = call.what;
  back->what.verb = LockVerb::kUnlock;
  back->what.reference = --references_;
  back->deadline = call.deadline + settings_.timeout;
  back->done = [](const Result<bool>&) { return true; };
  invoke(std::move(back));
}

// --- the end of patience ---

// A wait may be long. Without anybody who could end it, it is not worth while.
Millis Cluster::patience_with(const Call& call) const {
  if (has_link()) return call.deadline;
  return std::min(call.deadline, std::max(alone_since_, call.begun) + settings_.timeout);
}

void Cluster::give_up_late_calls(Millis now) {
  earliest_deadline_ = Millis::max();
  std::vector<std::shared_ptr<Call>> late;
  const auto is_late = [&](const std::shared_ptr<Call>& call) {
    const Millis deadline = patience_with(*call);
    if (now >= deadline) {
      late.push_back(call);
      return true;
    }
    earliest_deadline_ = std::min(earliest_deadline_, deadline);
    return false;
  };
  std::erase_if(waiting_, is_late);
  std::erase_if(flights_, [&](const auto& entry) { return is_late(entry.second.call); });
  for (const auto& call : late) finish(call, tl::unexpected(unanswered(*call)));
}

Failure Cluster::unanswered(const Call& call) const {
  return {.code = ErrorCode::kUnavailable,
          .message = call.was_sent ? fmt::format("the cluster {} does not answer in time, what was asked may or may "
                                                 "not have happened: {}",
                                                 settings_.cluster, trouble_.message)
                                   : fmt::format("the cluster {} cannot be reached, nothing was asked: {}",
                                                 settings_.cluster, trouble_.message)};
}

}  // namespace tenure::hazelcast
