// An engine in this process with a clock that stands still until told, randomness from a seed, and a journal in memory.
//
// After every record it proves that the bytes make the state (proof.h), and again for the whole journal at the end.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arguments.h"
#include "authority/engine.h"
#include "base/clock.h"
#include "base/entropy.h"
#include "journal/memory_journal.h"
#include "proof.h"
#include "subject.h"

namespace tenure::scenario {

// One thread.
class EngineSubject final : public Subject {
 public:
  EngineSubject();
  ~EngineSubject() override;

  [[nodiscard]] Instant start() const override { return kStart; }
  void run(const Command& command, const Answered& done) override;
  [[nodiscard]] std::string breach() const override { return proof_.breach(); }
  void finish() override;

  // --- for a subject that stands before the engine ---
  // A restart replaces the engine: `before` is called while the old one is there, `after` with the new one.
  void on_restart(std::function<void()> before, std::function<void()> after) {
    before_restart_ = std::move(before);
    after_restart_ = std::move(after);
  }
  [[nodiscard]] Engine& engine() { return *engine_; }
  [[nodiscard]] const Journal& frames_kept() const { return *journal_; }
  [[nodiscard]] const Clock& clock() const { return *clock_; }
  [[nodiscard]] const Settings& limits() const { return settings_; }

 private:
  static constexpr Instant kStart{1'767'225'600'000};  // 2026-01-01T00:00:00Z

  using Verb = void (EngineSubject::*)(Arguments& args, const Answered& done);
  static const std::map<std::string_view, Verb>& verbs();

  // --- engine_subject.cc: the world around the engine ---
  struct KeptFrame {
    Instant stamp;
    std::string payload;
  };
  [[nodiscard]] std::vector<KeptFrame> frames() const;
  // A new engine from these frames. The failure is the replay's; then nothing has changed.
  Result<Done> restart(const std::vector<KeptFrame>& frames);
  void settings(Arguments& args, const Answered& done);
  void advance(Arguments& args, const Answered& done);
  void tick(Arguments& args, const Answered& done);
  void hold(Arguments& args, const Answered& done);
  void unhold(Arguments& args, const Answered& done);
  void fail_journal(Arguments& args, const Answered& done);
  void replay(Arguments& args, const Answered& done);
  void crash(Arguments& args, const Answered& done);
  void apply(Arguments& args, const Answered& done);
  void apply_bytes(Arguments& args, const Answered& done);
  void apply_frame(Instant stamp, std::string payload, const Answered& done);
  void cancel(Arguments& args, const Answered& done);
  void join(Arguments& args, const Answered& done);
  void leave(Arguments& args, const Answered& done);
  void take_digest(Arguments& args, const Answered& done);
  void raise_fence(Arguments& args, const Answered& done);

  // --- views.cc: what is behind the answers ---
  void state(Arguments& args, const Answered& done);
  void journal(Arguments& args, const Answered& done);
  void digest(Arguments& args, const Answered& done);
  void replay_prefixes(Arguments& args, const Answered& done);

  // --- task_verbs.cc ---
  void submit(Arguments& args, const Answered& done);
  void lease(Arguments& args, const Answered& done);
  void extend(Arguments& args, const Answered& done);
  void complete(Arguments& args, const Answered& done);
  void fail(Arguments& args, const Answered& done);
  void kill(Arguments& args, const Answered& done);
  void resubmit(Arguments& args, const Answered& done);
  void get(Arguments& args, const Answered& done);
  void history(Arguments& args, const Answered& done);
  void wait(Arguments& args, const Answered& done);
  void list(Arguments& args, const Answered& done);
  void queues(Arguments& args, const Answered& done);
  void pause(Arguments& args, const Answered& done);
  void resume(Arguments& args, const Answered& done);
  void workers(Arguments& args, const Answered& done);

  // --- work_verbs.cc ---
  void work_acquire(Arguments& args, const Answered& done);
  void work_succeed(Arguments& args, const Answered& done);
  void work_fail(Arguments& args, const Answered& done);
  void work_extend(Arguments& args, const Answered& done);
  void work_trim(Arguments& args, const Answered& done);
  void work_inspect(Arguments& args, const Answered& done);
  void work_backlog(Arguments& args, const Answered& done);
  void work_failed(Arguments& args, const Answered& done);
  void work_done(Arguments& args, const Answered& done);
  void work_list(Arguments& args, const Answered& done);

  // --- lock_verbs.cc ---
  void lock_acquire(Arguments& args, const Answered& done);
  void lock_release(Arguments& args, const Answered& done);
  void lock_undelivered(Arguments& args, const Answered& done);
  void lock_extend(Arguments& args, const Answered& done);
  void lock_force(Arguments& args, const Answered& done);
  void lock_get(Arguments& args, const Answered& done);
  void lock_list(Arguments& args, const Answered& done);

  Settings settings_;
  std::unique_ptr<ManualClock> clock_ = std::make_unique<ManualClock>(kStart);
  SeededEntropy entropy_{2026};
  std::unique_ptr<MemoryJournal> journal_ = std::make_unique<MemoryJournal>(MemoryJournal::Keep::kFrames);
  std::unique_ptr<Engine> engine_;
  Proof proof_;
  std::optional<std::uint64_t> durable_;   // the last durable frame, where durability is held back or has failed
  std::uint64_t shown_ = 0;                // the last frame that `journal` has shown
  std::string label_;                      // of the command that runs
  std::map<std::string, Ticket> tickets_;  // of waits, by label
  std::function<void()> before_restart_ = [] {};
  std::function<void()> after_restart_ = [] {};
};

}  // namespace tenure::scenario
