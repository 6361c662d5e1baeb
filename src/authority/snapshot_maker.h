// The thread that makes snapshots when they are due.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "authority/effort.h"
#include "authority/engine.h"
#include "authority/requests.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "journal/journal.h"

namespace tenure {

// Thread-safe. Runs until destroyed, which gives up what is not finished; a snapshot that failed is tried again when
// the journal has grown. One of several nodes makes some only while it leads. Engine, journal and clock outlive it; the
// journal has snapshots.
class SnapshotMaker {
 public:
  using Tell = std::function<void(const std::string& line)>;  // may be empty; called on the maker's thread, too

  SnapshotMaker(Engine& engine, Journal& journal, const Clock& clock, Tell tell);
  ~SnapshotMaker();
  SnapshotMaker(const SnapshotMaker&) = delete;
  SnapshotMaker& operator=(const SnapshotMaker&) = delete;

  // Makes one of the state as it is now, and waits for it.
  Result<Done> make() TENURE_EXCLUDES(mutex_);
  // The same without waiting: `done` is told on the maker's thread. Those who ask while one is being made share the
  // next.
  void ask(Callback<Done> done) TENURE_EXCLUDES(mutex_);
  // One may be due: this node leads from now on.
  void look() TENURE_EXCLUDES(mutex_);

 private:
  void run();
  void make_if_due() TENURE_EXCLUDES(mutex_);
  void make_for(std::vector<Callback<Done>> askers) TENURE_EXCLUDES(mutex_);
  // One at a time, and the maker is not destroyed meanwhile.
  class Turn;
  Result<Done> make_in_turn(Pace pace);

  Engine& engine_;
  Journal& journal_;
  const Clock& clock_;
  const Tell tell_;
  std::stop_source stop_;
  bool is_behind_ = false;  // another was due as soon as the last was made; the thread's own

  Mutex mutex_;
  Condition woken_;
  Condition turn_ended_;
  int turns_ TENURE_GUARDED_BY(mutex_) = 0;  // taken or waited for
  bool is_making_ TENURE_GUARDED_BY(mutex_) = false;
  bool has_grown_ TENURE_GUARDED_BY(mutex_) = true;
  bool stopping_ TENURE_GUARDED_BY(mutex_) = false;
  std::vector<Callback<Done>> askers_ TENURE_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace tenure
