// Judges the authority while it runs: by the frames that are durable, by what it answers, and by nothing that it says
// about itself.
//
// Beside the live authority there is a second state, made only from the bytes of durable frames. Each frame must have a
// cause (a request, time, a session's end), and must be what deciding on that state gives; each answer must be the one
// that this decision gives. The laws (laws.h) are checked against records and answers on their own.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "authority/engine.h"
#include "beliefs.h"
#include "breach.h"
#include "call_law.h"
#include "evidence.h"
#include "expectation.h"
#include "laws.h"
#include "tally.h"

namespace tenure::sim {

// One thread. What is called from within the authority's callbacks never throws; a breach is then thrown by `advance`.
class Checker {
 public:
  Checker(const Settings& settings, Tally& tally) : settings_(settings), tally_(tally) {}

  // --- lives ---
  // An engine has started on what it found: it must have everything that was durable.
  void begin_life(const Engine& engine, const NotedJournal& journal, const Clock& clock);
  // One of several engines has been elected, and has read to the end of what they share, the `medium`. Whoever led
  // before is not listened to any more.
  void begin_term(const Engine& engine, const NotedJournal& journal, const Clock& clock, const Journal& medium);
  // It is being closed: whoever waits is answered.
  void close() { is_closing_ = true; }
  // It is gone, and with it all that was not answered.
  void end_life() { medium_ = journal_ = nullptr; }
  // The same of one of several: what they share is still there.
  void end_term() { journal_ = nullptr; }
  // Of several nodes, the one that leads does not know more to be durable, or may not say so yet: no frame behind this
  // one is judged before its answers tell what it was for.
  void judge_upto(std::uint64_t frame) {
    judged_upto_ = frame;
    is_leader_gone_ = false;
  }
  // Nobody leads any more who could answer.
  void judge_all() {
    judged_upto_ = std::numeric_limits<std::uint64_t>::max();
    is_leader_gone_ = true;
  }
  [[nodiscard]] Laws& laws() { return laws_; }
  [[nodiscard]] Beliefs& beliefs() { return beliefs_; }
  [[nodiscard]] CallLaw& calls() { return calls_; }

  // --- requests ---
  // What a request that is sent now may count on.
  [[nodiscard]] std::uint64_t floor() const { return floor_; }
  // One arrives at the authority, which is asked next.
  std::uint64_t arrive(std::shared_ptr<const Letter> letter, std::uint64_t floor);
  // The authority has processed it; `waits`: its answer comes later.
  void processed(std::uint64_t number, bool waits);
  // Its answer. From a callback.
  void answered(std::uint64_t number, Reply reply);
  // Its caller is gone.
  void cancelled(std::uint64_t number);
  // Whether everything that was written is durable.
  [[nodiscard]] bool is_settled() const { return notes_.empty(); }
  // Nothing goes wrong any more, and there was time enough: everything has come to its end, everyone is answered.
  void require_finished() const;
  void require_answered() const;
  // Requests that have no answer yet.
  [[nodiscard]] std::vector<std::string> unanswered() const;

  // --- what the authority writes ---
  // From callbacks.
  void note(FrameNote note);
  void note_state(const State& state);
  void note_breach(const std::string& what);

  // Judges everything that has become durable since.
  void advance();
  // Judges what holders believe at this instant, whether the authority is up or not.
  void judge_beliefs() const;
  // The last words, when nothing is open any more.
  void finish(const Engine& engine);
  // From now on the authority has no excuse.
  void expect_no_faults() { is_calm_ = true; }

  // Of frames that are appended and not durable.
  [[nodiscard]] std::uint64_t unwritten_bytes() const;
  [[nodiscard]] std::uint64_t position() const { return position_; }
  // Of the last frame.
  [[nodiscard]] Instant last_stamp() const { return last_stamp_; }
  // Of the state behind each recent frame.
  [[nodiscard]] const std::map<std::uint64_t, Digest>& digests() const { return digests_; }

 private:
  static constexpr std::uint64_t kRecomputeEvery = 32;  // frames

  void begin(const Engine& engine, const NotedJournal& journal, const Clock& clock, const Journal& medium);
  void begin_time(Instant now);
  void forget_delays();

  // --- frames ---
  void take_frame(const Frame& frame);
  void apply(const Frame& frame);
  void judge_ends(const Record& record);
  void judge_call(const Letter& letter, std::string_view payload);
  [[nodiscard]] bool is_made_by_time(const FrameNote& note, const Record& first) const;
  struct Owner {
    Case* of = nullptr;
    std::optional<Expectation> expectation{};
  };
  Owner find_owner(const FrameNote& note, const Record& first);
  // Those who waited and were answered, those who wait, and those of them whose place another has taken.
  enum class Waiting : std::uint8_t { kAnswered, kStill, kSuperseded };
  bool find_waiting(Owner& owner, const FrameNote& note, const Record& first, Waiting which);
  bool try_owner(Owner& owner, Case& candidate, const FrameNote& note);
  void check_line(const Case& owner, const FrameNote& note) const;
  void check_stamp(const FrameNote& note);

  // --- answers ---
  Expectation expect_now(const Case& of, Instant at, const std::vector<std::uint64_t>& draws, bool has_room);
  void reach(std::uint64_t position);
  void expect_without_frame(Case& of);
  void conclude(Case& of);
  void judge_replies();
  void judge_early(Case& of);
  void judge_wait(Case& of);
  void end_awaits();
  [[nodiscard]] std::string reason_for_nothing(const Case& of) const;
  [[nodiscard]] std::int64_t count_waiting() const;
  [[nodiscard]] bool may_be_refused(const Case& of, const Failure& failure) const;
  [[nodiscard]] bool waits_now(const Case& of) const { return of.waits && !of.reply && !of.has_frame; }
  [[nodiscard]] Instant now() const;

  const Settings settings_;
  Tally& tally_;

  // This life.
  const NotedJournal* journal_ = nullptr;
  const Journal* medium_ = nullptr;  // what is durable is read from it
  const Clock* clock_ = nullptr;
  Instant started_at_;
  Millis boot_at_start_{0};

  std::unique_ptr<State> shadow_ = std::make_unique<State>();
  std::uint64_t position_ = 0;  // the last frame that is in it
  std::uint64_t applied_ = 0;   // frames
  std::uint64_t durable_ = 0;   // the last frame that the journal said to be
  Instant last_stamp_;
  std::map<std::uint64_t, Digest> digests_{{0, State().digest()}};  // behind recent frames
  Laws laws_;
  Beliefs beliefs_;
  CallLaw calls_;

  std::deque<FrameNote> notes_;  // of frames that are not in it yet
  std::map<std::uint64_t, Case> cases_;
  std::multimap<std::uint64_t, std::uint64_t> ends_;  // by the last frame of its processing: cases to look at then
  std::vector<std::uint64_t> replied_;                // cases whose reply is not judged yet
  std::uint64_t numbers_ = 0;
  std::uint64_t places_ = 0;
  std::uint64_t processing_ = 0;  // the case that is being processed
  std::uint64_t prepared_ = 0;    // the case that the state was last prepared for
  std::uint64_t floor_ = 0;
  std::string scratch_;
  std::string breach_;
  std::uint64_t judged_upto_ = std::numeric_limits<std::uint64_t>::max();
  bool is_leader_gone_ = false;
  bool is_closing_ = false;
  bool is_calm_ = false;
};

// Of those who wait: whether the record gives what the other one wants.
bool wants(const Request& request, const Record& record, const State& state);

}  // namespace tenure::sim
