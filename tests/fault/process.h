// One life of an authority on faulty files: journal, recovery and engine as in earnest, time and chance in the test's
// hand, and a note of everything that was promised to anybody. What comes after it is judged by that note.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "authority/engine.h"
#include "authority/testing.h"
#include "base/clock.h"
#include "base/entropy.h"
#include "base/faulty_files.h"
#include "journal/file_journal.h"
#include "journal/forwarding_journal.h"
#include "journal/testing.h"

namespace tenure {

// Whether everything is asked for that takes long: TENURE_SOAK=1.
bool in_soak();
// What is done to one in so many bits, or lengths.
inline std::uint64_t stride() { return in_soak() ? 1 : 64; }

// What a life has promised, and what its states were. A value.
class Promises {
 public:
  // The state after frame `sequence`.
  void note_state(std::uint64_t sequence, const State& state);
  // An answer that rested on everything up to this frame.
  void note_answer(std::uint64_t sequence) { acknowledged_ = std::max(acknowledged_, sequence); }
  void note_fence(Fence fence) { fence_ = std::max(fence_, fence); }

  // The last frame that an answer rested on.
  [[nodiscard]] std::uint64_t acknowledged() const { return acknowledged_; }
  // The highest in an answer.
  [[nodiscard]] Fence fence() const { return fence_; }
  // Of the state after this frame. Frames behind the last that changed something only vouch.
  [[nodiscard]] Digest digest_after(std::uint64_t sequence) const;
  [[nodiscard]] std::uint64_t frames() const { return digests_.size() - 1; }

 private:
  std::vector<Digest> digests_{State().digest()};  // by sequence number
  std::uint64_t acknowledged_ = 0;
  Fence fence_;
};

// Knows the last frame that the engine appended. One thread.
class NotingJournal final : public ForwardingJournal {
 public:
  using ForwardingJournal::ForwardingJournal;

  Result<Done> start(std::uint64_t after, Visit visit) override {
    auto started = ForwardingJournal::start(after, visit);
    last_ = durable();
    return started;
  }
  std::uint64_t append(std::uint64_t epoch, Instant stamp, std::string_view payload) override {
    return last_ = ForwardingJournal::append(epoch, stamp, payload);
  }

  [[nodiscard]] std::uint64_t last() const { return last_; }

 private:
  std::uint64_t last_ = 0;
};

// Ends as if killed, unless it is closed. One thread.
class Process {
 public:
  static constexpr std::uint64_t kSegmentBytes = 8192;

  // Starts on what is there, perhaps in vain.
  explicit Process(FaultyFiles& files, Instant at = kStart, std::uint64_t seed = 1);

  [[nodiscard]] bool is_up() const { return engine_ != nullptr; }
  // Why it did not start.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }
  // The frames that it found.
  [[nodiscard]] std::uint64_t recovered() const { return recovered_; }
  [[nodiscard]] bool has_cut() const { return !journal_->report().torn.empty(); }
  [[nodiscard]] const FileJournal::Report& report() const { return journal_->report(); }

  // Asks; the answer comes with `flush`, or at once. then(const Reply&) is told what it says, if it is no error.
  template <class Request, class Then>
  void put(const Request& request, const Then& then) {
    const std::size_t number = rests_on_.size();
    rests_on_.push_back(journal_->durable());  // of an answer that comes at once
    engine_->put(request, [this, number, then](Result<ReplyOf<Request>> reply) {
      note_answer(number, reply ? nullptr : &reply.error());
      if (reply) then(*reply);
    });
    rests_on_[number] = noting_->last();
  }
  // Makes everything durable, and so has everything answered.
  void flush();
  void vouch();
  // Of the state as it is. If it fails, nothing else does.
  void make_snapshot();
  // Lets time pass, and does all that it asks for.
  void pass(Millis by);
  // Ends in good order; false: the journal had failed.
  bool close();

  // An answer was that the journal has failed.
  [[nodiscard]] bool has_failed() const { return has_failed_; }
  [[nodiscard]] std::uint64_t asked() const { return rests_on_.size(); }
  [[nodiscard]] std::uint64_t answered() const { return answered_; }
  // Answers given after has_failed() that were no failures.
  [[nodiscard]] std::uint64_t answers_after_failure() const { return answers_after_failure_; }
  [[nodiscard]] std::uint64_t count_of(ErrorCode code) const;
  [[nodiscard]] std::uint64_t segments() const { return segments_; }
  [[nodiscard]] std::uint64_t snapshots() const { return snapshots_; }
  [[nodiscard]] std::uint64_t snapshot_operations() const { return snapshot_operations_; }
  [[nodiscard]] const std::set<std::uint32_t>& record_types() const { return record_types_; }

  [[nodiscard]] const Promises& promises() const { return promises_; }
  void note_fence(Fence fence) { promises_.note_fence(fence); }
  [[nodiscard]] Digest digest() const;
  [[nodiscard]] Fence fence() const;
  [[nodiscard]] Instant now() const { return engine_->now(); }
  Engine& engine() { return *engine_; }

 private:
  void note_answer(std::size_t number, const Failure* failure);

  FaultyFiles& files_;
  ManualClock clock_;
  SeededEntropy entropy_;
  std::unique_ptr<FileJournal> journal_;
  std::unique_ptr<NotingJournal> noting_;
  std::unique_ptr<Engine> engine_;
  std::string refusal_;
  std::uint64_t recovered_ = 0;

  Promises promises_;
  std::vector<std::uint64_t> rests_on_;  // of each request, the last frame it has seen
  std::vector<ErrorCode> errors_;
  std::uint64_t answered_ = 0;
  std::uint64_t answers_after_failure_ = 0;
  bool has_failed_ = false;
  std::uint64_t segments_ = 0;
  std::uint64_t snapshots_ = 0;
  std::uint64_t snapshot_operations_ = 0;
  std::set<std::uint32_t> record_types_;
};

}  // namespace tenure
