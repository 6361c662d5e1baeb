// The seat of an authority: the machine it runs on, its journal, the engine, and the maker of its snapshots, opened and
// closed as one. Who lets time pass is left to the owner.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <tenure/authority.h>
#include "authority/engine.h"
#include "authority/snapshot_maker.h"
#include "base/clock.h"
#include "base/entropy.h"
#include "base/result.h"
#include "journal/journal.h"
#include "journal/shared_journal.h"

namespace tenure {

// Thread-safe, apart from opening and closing it.
class Seat {
 public:
  // See Authority::open and Authority::in_memory.
  static Result<std::unique_ptr<Seat>> open(const std::string& folder, const Settings& settings,
                                            const Storage& storage);
  static Result<std::unique_ptr<Seat>> in_memory(const Settings& settings);
  // One of several on this journal: it stands by. `is_certain` is for Engine::Ports, `tell` for the snapshots' maker.
  static Result<std::unique_ptr<Seat>> among_several(std::unique_ptr<SharedJournal> journal, const Settings& settings,
                                                     std::function<bool()> is_certain, SnapshotMaker::Tell tell);
  // Closes it, if nobody has.
  ~Seat();
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

  [[nodiscard]] Engine& engine() { return *engine_; }
  [[nodiscard]] Journal& journal() { return *journal_; }
  [[nodiscard]] const Clock& clock() const { return machine_->clock; }
  // What the opening took, replay included.
  [[nodiscard]] Millis replay_time() const { return replay_time_; }
  // Null where nothing is kept.
  [[nodiscard]] SnapshotMaker* snapshots() { return snapshots_.get(); }

  // Ends every wait, journals the digest, answers everything that was still to become durable, and ends the journal.
  // Whatever is asked afterwards is UNAVAILABLE.
  Result<Done> close();

 private:
  struct Machine {
    SystemClock clock;
    SystemEntropy entropy;
  };

  Seat(std::unique_ptr<Machine> machine, std::unique_ptr<Journal> journal);
  Result<Done> start(const Settings& settings);

  const std::unique_ptr<Machine> machine_;
  const std::unique_ptr<Journal> journal_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<SnapshotMaker> snapshots_;
  Millis replay_time_{0};
  bool is_closed_ = false;
};

}  // namespace tenure
