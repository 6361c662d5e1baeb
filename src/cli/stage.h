// The stage the demo plays on: an embedded authority whose time moves only when the story says so, and a way of
// telling.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "authority/engine.h"
#include "authority/faces.h"
#include "base/clock.h"
#include "base/entropy.h"
#include "journal/journal.h"

namespace tenure::cli {

// One thread.
class Stage {
 public:
  // The journal outlives it.
  Stage(Journal& journal, bool colours);

  Tasks& tasks() { return tasks_; }
  WorkLeases& work() { return work_; }
  Locks& locks() { return locks_; }

  // A chapter's heading, and a line of the story.
  void chapter(std::string_view title) const;
  void tell(std::string_view text) const;
  // Somebody asks for something, and is answered.
  void say(std::string_view who, std::string_view what) const;
  void reply(std::string_view text) const;
  // What a task, a domain or a lock is now.
  void show_task(std::string_view task_id);
  void show_domain(std::string_view domain);
  void show_lock(const LockName& lock);
  // Time passes, and does what it must.
  void advance(Millis by);

  // Replays the journal from its bytes and says whether it gives the same state.
  [[nodiscard]] bool replay_agrees() const;
  // Ends the journal as a clean stop does. Nothing may be asked any more.
  Result<Done> close();

 private:
  void show_record(std::string_view bytes) const;
  void line(const char* colour, std::string_view mark, std::string_view text) const;

  const bool colours_;
  ManualClock clock_;
  SeededEntropy entropy_;
  Journal& journal_;
  std::unique_ptr<Engine> engine_;
  TaskFace tasks_;
  WorkFace work_;
  LockFace locks_;
};

}  // namespace tenure::cli
