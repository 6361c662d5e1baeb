// All laws over records and answers, and who has joined which session.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/state.h"
#include "request.h"
#include "task_law.h"
#include "work_law.h"

namespace tenure::sim {

// Who had joined which session, when. Soft state: a life of the authority begins without. One thread.
class Sessions {
 public:
  void begin_life() { past_.clear(); }
  void join(const std::string& session, Instant now, std::optional<Millis> grace);
  void leave(const std::string& session, Instant now);
  // A lock that was bound in an earlier life.
  void find(const std::string& session, Instant now, Millis grace);

  [[nodiscard]] bool is_joined(std::string_view session) const;
  [[nodiscard]] Millis grace_of(std::string_view session) const;
  // Whether it may have been joined, with this grace, at this instant.
  [[nodiscard]] bool had(std::string_view session, Instant at, Millis grace) const;
  // Throws Breach if the session was not over by then.
  void check_over(const std::string& session, Instant now) const;

 private:
  struct Point {
    Instant at;
    std::uint64_t joined = 0;
    Millis grace{0};
  };

  [[nodiscard]] Point latest(std::string_view session) const;

  std::map<std::string, std::vector<Point>, std::less<>> past_;
};

// One thread. Whatever breaks a law throws Breach.
class Laws {
 public:
  // The next durable record; `state` is what the records before it add up to.
  void see(const Record& record, Instant stamp, const State& state, const Settings& settings);
  // An answer, right behind the frame that it rests on; `is_new`: the frame is its own.
  void judge(const Request& request, const Reply& reply, bool is_new) const;
  // An answer that was given.
  void acknowledge(const Reply& reply);

  Sessions& sessions() { return sessions_; }
  void finish() const { tasks_.finish(); }
  // Something that is not finished, by name.
  [[nodiscard]] std::optional<std::string> find_open() const;

 private:
  void see_fence(Fence fence);
  void see(const record::Forgotten& record, Instant stamp, const State& state, const Settings& settings);

  TaskLaw tasks_;
  WorkLaw work_;
  LockLaw locks_;
  Sessions sessions_;
  Fence fence_;
};

}  // namespace tenure::sim
