#include "laws.h"

namespace tenure::sim {

// --- sessions ---

Sessions::Point Sessions::latest(std::string_view session) const {
  const auto found = past_.find(session);
  return found == past_.end() ? Point{} : found->second.back();
}

void Sessions::join(const std::string& session, Instant now, std::optional<Millis> grace) {
  Point point = latest(session);
  // One that came too late begins another session, without a grace.
  if (point.joined == 0 && point.at + point.grace <= now) point.grace = Millis{0};
  past_[session].push_back({now, point.joined + 1, grace.value_or(point.grace)});
}

void Sessions::leave(const std::string& session, Instant now) {
  const Point point = latest(session);
  past_[session].push_back({now, point.joined - 1, point.grace});
}

void Sessions::find(const std::string& session, Instant now, Millis grace) {
  past_[session].push_back({now, 0, grace});
}

bool Sessions::is_joined(std::string_view session) const { return latest(session).joined > 0; }

Millis Sessions::grace_of(std::string_view session) const { return latest(session).grace; }

bool Sessions::had(std::string_view session, Instant at, Millis grace) const {
  const auto found = past_.find(session);
  if (found == past_.end()) return false;
  // Of several changes at one instant any may have been the last by then.
  for (auto point = found->second.rbegin(); point != found->second.rend(); ++point) {
    if (point->at > at) continue;
    if (point->joined > 0 && point->grace == grace) return true;
    if (point->at < at) return false;
  }
  return false;
}

void Sessions::check_over(const std::string& session, Instant now) const {
  const auto found = past_.find(session);
  if (found == past_.end()) return;
  for (auto point = found->second.rbegin(); point != found->second.rend(); ++point) {
    if (point->at > now) continue;
    if (point->joined == 0 && point->at + point->grace <= now) return;
    require(point->at == now, "session {}: ended at {}, and had {} connections or its grace", session, now.ms,
            point->joined);
  }
}

// --- records ---

void Laws::see_fence(Fence fence) {
  require(fence > fence_, "fence {} after {}", fence.value, fence_.value);
  fence_ = fence;
}

void Laws::see(const record::Forgotten& record, Instant stamp, const State& state, const Settings& settings) {
  const bool is_task = record.kind == Remembered::kTask || record.kind == Remembered::kTaskRequest;
  const Archive& archive = is_task                                   ? state.tasks().archive()
                           : record.kind == Remembered::kWorkRequest ? state.work().archive()
                                                                     : state.locks().archive();
  require(archive.is_over(settings, stamp), "{} '{}': forgotten before its time", to_string(record.kind), record.name);
  if (record.kind == Remembered::kTask) tasks_.forget(record.name);
}

void Laws::see(const Record& record, Instant stamp, const State& state, const Settings& settings) {
  std::visit(
      [&]<class R>(const R& fact) {
        if constexpr (requires { tasks_.see(fact, stamp); }) {
          if constexpr (std::is_same_v<R, record::LeaseGranted>) see_fence(fact.lease_id.fence);
          tasks_.see(fact, stamp);
        } else if constexpr (requires { tasks_.see(fact); }) {
          tasks_.see(fact);
        } else if constexpr (requires { work_.see(fact, stamp); }) {
          if constexpr (std::is_same_v<R, record::WorkAcquired>) see_fence(fact.token.fence);
          work_.see(fact, stamp);
        } else if constexpr (requires { locks_.see(fact, stamp); }) {
          if constexpr (std::is_same_v<R, record::LockGranted>) see_fence(fact.token.fence);
          if constexpr (std::is_same_v<R, record::LockReleased>) {
            if (fact.cause == ReleaseCause::kDisconnected) {
              const auto session = locks_.session_of(fact);
              require(session.has_value(), "lock {}: released with a session that it has not", fact.identifier);
              sessions_.check_over(*session, stamp);
            }
          }
          locks_.see(fact, stamp);
        } else if constexpr (std::is_same_v<R, record::Forgotten>) {
          see(fact, stamp, state, settings);
        } else if constexpr (std::is_same_v<R, record::FenceRaised>) {
          see_fence(fact.fence);
        }
      },
      record);
}

// --- answers ---

void Laws::judge(const Request& request, const Reply& reply, bool is_new) const {
  if (failure_in(reply) != nullptr) return;
  std::visit(
      [&]<class R>(const R& asked) {
        const auto& said = *std::get<Result<ReplyOf<R>>>(reply);
        if constexpr (std::is_same_v<R, Submission> || std::is_same_v<R, Resubmission> ||
                      std::is_same_v<R, LeaseRequest>) {
          tasks_.judge(said);
        } else if constexpr (std::is_same_v<R, FailureReport>) {
          tasks_.judge(asked, said, is_new);
        } else if constexpr (requires { tasks_.judge(asked, said); }) {
          tasks_.judge(asked, said);
        } else if constexpr (requires { work_.judge(asked, said); }) {
          work_.judge(asked, said);
        } else if constexpr (std::is_same_v<R, WorkSuccess>) {
          work_.judge(asked);
        } else if constexpr (std::is_same_v<R, LockAcquire>) {
          if (said) locks_.judge(asked, *said);
        } else if constexpr (std::is_same_v<R, LockGiveBack>) {
          locks_.judge(asked);
        }
      },
      request);
}

void Laws::acknowledge(const Reply& reply) {
  const auto* const submitted = std::get_if<Result<Submitted>>(&reply);
  if (submitted != nullptr && *submitted) tasks_.acknowledge((*submitted)->task_id);
}

std::optional<std::string> Laws::find_open() const {
  if (auto task = tasks_.find_open()) return task;
  if (auto domain = work_.find_open()) return domain;
  return locks_.find_open();
}

}  // namespace tenure::sim
