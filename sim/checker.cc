#include "checker.h"

#include <algorithm>

#include "core/record_codec.h"
#include "journal/frame.h"

namespace tenure::sim {
namespace {

constexpr std::size_t kDigestsKept = 256;

std::vector<Record> records_in(std::string_view payload) {
  std::vector<Record> records;
  ByteReader in(payload);
  while (!in.at_end()) {
    const auto record = decode(in);
    require(record.has_value(), "a record cannot be read: {}", record ? "" : record.error().message);
    records.push_back(*record);
  }
  return records;
}

std::string encoded(const Records& records) {
  std::string bytes;
  for (const Record& record : records) encode(record, bytes);
  return bytes;
}

}  // namespace

bool wants(const Request& request, const Record& record, const State& state) {
  if (const auto* grant = std::get_if<record::LockGranted>(&record)) {
    const auto* acquire = std::get_if<LockAcquire>(&request);
    return acquire != nullptr && acquire->lock.domain == grant->domain && acquire->lock.identifier == grant->identifier;
  }
  if (const auto* lease = std::get_if<record::LeaseGranted>(&record)) {
    const auto* asked = std::get_if<LeaseRequest>(&request);
    const Task* task = state.tasks().find(lease->task_id);
    return asked != nullptr && task != nullptr &&
           std::ranges::find(asked->queues, task->queue->name) != asked->queues.end();
  }
  return false;
}

// --- lives ---

void Checker::begin_life(const Engine& engine, const NotedJournal& journal, const Clock& clock) {
  const bool is_first = started_at_ == Instant{};
  begin(engine, journal, clock, journal);
  const Instant would_be = is_first ? Instant{} : now();
  begin_time(std::max(clock.wall(), shadow_->last_stamp()));
  if (!is_first && now() > would_be) {
    tally_.count(Fault::kTimeLeapt);
    beliefs_.leap();
  }
}

void Checker::begin_term(const Engine& engine, const NotedJournal& journal, const Clock& clock, const Journal& medium) {
  begin(engine, journal, clock, medium);
  begin_time(engine.now());
}

void Checker::begin(const Engine& engine, const NotedJournal& journal, const Clock& clock, const Journal& medium) {
  journal_ = &journal;
  medium_ = &medium;
  clock_ = &clock;
  require(medium.durable() >= durable_, "frame {} was durable, and after a restart the last is {}", durable_,
          medium.durable());
  advance();
  is_closing_ = false;
  forget_delays();
  const Digest live = engine.inspect([](const State& state) { return state.digest(); });
  require(live == shadow_->digest(), "the state after a restart is not what the frames up to {} add up to", position_);
  // What was not durable is lost, and so is whoever waited for it.
  notes_.clear();
  ends_.clear();
  cases_.clear();
  replied_.clear();
}

void Checker::begin_time(Instant now) {
  started_at_ = now;
  boot_at_start_ = clock_->boot();
  laws_.sessions().begin_life();
  for (const auto& [session, grace] : shadow_->locks().sessions()) laws_.sessions().find(session, started_at_, grace);
}

// Which delays had ended was known to the last life, whose time may have been ahead of this one's. So the state is made
// anew, with nothing but what a snapshot would keep.
void Checker::forget_delays() {
  auto fresh = std::make_unique<State>();
  shadow_->visit_portraits([&](const Portrait& portrait) {
    const Broken broken = fresh->load(portrait);
    require(broken == nullptr, "the portrait {} breaks the invariant: {}", to_json(portrait),
            broken == nullptr ? "" : broken);
  });
  fresh->finish_loading();
  shadow_ = std::move(fresh);
  prepared_ = 0;
}

Instant Checker::now() const { return std::max(started_at_ + (clock_->boot() - boot_at_start_), last_stamp_); }

// --- what the authority writes ---

void Checker::note(FrameNote note) {
  note.case_number = processing_;
  note.now = now();
  notes_.push_back(std::move(note));
}

void Checker::note_state(const State& state) {
  if (notes_.empty()) return note_breach("a record was applied, and its frame not appended");
  notes_.back().digest = state.digest();
}

std::uint64_t Checker::unwritten_bytes() const {
  std::uint64_t bytes = 0;
  for (const FrameNote& note : notes_) bytes += frame_bytes(note.payload.size());
  return bytes;
}

void Checker::note_breach(const std::string& what) {
  if (breach_.empty()) breach_ = what;
}

void Checker::advance() {
  require(breach_.empty(), "{}", breach_);
  if (medium_ == nullptr) return;
  durable_ = medium_->durable();
  const std::uint64_t upto = std::min(durable_, judged_upto_);
  if (upto > position_) {
    const auto read = medium_->read({.after = position_, .upto = upto}, [&](const Frame& frame) -> Result<Done> {
      take_frame(frame);
      return Done{};
    });
    // When the machine is down it is read later.
    if (!read && read.error().code == ErrorCode::kUnavailable && !is_calm_) return;
    require(read.has_value(), "what is durable cannot be read: {}", read ? "" : read.error().message);
    require(position_ == upto, "frame {} is durable, and the journal ends with {}", upto, position_);
  }
  judge_replies();
  require(breach_.empty(), "{}", breach_);
}

// Not while something is durable that was not read yet: it may say that a lease is longer.
void Checker::judge_beliefs() const {
  if (clock_ != nullptr && position_ >= durable_) beliefs_.check(now());
}

void Checker::take_frame(const Frame& frame) {
  if (frame.payload.empty()) {  // it only vouches for those before it
    position_ = frame.sequence;
    return;
  }
  require(!notes_.empty() && notes_.front().sequence == frame.sequence, "frame {}: nobody appended it", frame.sequence);
  const FrameNote note = std::move(notes_.front());
  notes_.pop_front();
  require(note.payload == frame.payload && note.stamp == frame.stamp, "frame {}: not what was appended",
          frame.sequence);
  check_stamp(note);

  const Record first = records_in(frame.payload).front();
  Owner owner;
  if (!is_made_by_time(note, first)) {
    owner = find_owner(note, first);
    check_line(*owner.of, note);
  }
  apply(frame);
  require(shadow_->digest() == note.digest, "frame {}: the live state's digest is not that of the replayed one",
          frame.sequence);
  if (applied_ % kRecomputeEvery == 0) {
    require(shadow_->digest() == shadow_->recompute_digest(), "frame {}: the digest is another when made anew",
            frame.sequence);
  }
  if (owner.of != nullptr) {
    judge_call(*owner.of->letter, frame.payload);
    laws_.judge(owner.of->letter->request, owner.expectation->reply, true);
    owner.of->expected = text_of(owner.expectation->reply);
    owner.of->has_frame = true;
    owner.of->position = frame.sequence;
    conclude(*owner.of);
  }
  end_awaits();
  reach(frame.sequence);
}

void Checker::apply(const Frame& frame) {
  for (const Record& record : records_in(frame.payload)) {
    laws_.see(record, frame.stamp, *shadow_, settings_);
    const Broken broken = shadow_->apply(frame.stamp, record);
    require(broken == nullptr, "frame {}: {} breaks the invariant: {}", frame.sequence, to_json(record),
            broken == nullptr ? "" : broken);
    beliefs_.see(record);
    judge_ends(record);
    tally_.count(record);
  }
  position_ = frame.sequence;
  last_stamp_ = frame.stamp;
  ++applied_;
  digests_.emplace(frame.sequence, shadow_->digest());
  if (digests_.size() > kDigestsKept) digests_.erase(digests_.begin());
}

// What makes it no second effect if a call is asked for again.
void Checker::judge_ends(const Record& record) {
  if (const auto* kept = std::get_if<record::Forgotten>(&record)) calls_.forget(kept->name);
  if (const auto* lock = std::get_if<record::LockExpired>(&record)) calls_.end(lock->token);
  if (const auto* lock = std::get_if<record::LockForced>(&record)) calls_.end(lock->token);
  if (const auto* lock = std::get_if<record::LockReleased>(&record); lock != nullptr && lock->holds == 0) {
    calls_.end(lock->token);
  }
}

void Checker::judge_call(const Letter& letter, std::string_view payload) {
  if (letter.call == 0) return;
  if (letter.gives_back) return calls_.undo(letter.call);
  for (const Record& record : records_in(payload)) calls_.see(letter.call, record);
}

void Checker::check_stamp(const FrameNote& note) {
  require(note.stamp >= last_stamp_, "frame {}: stamped {}, after one of {}", note.sequence, note.stamp.ms,
          last_stamp_.ms);
  const Instant expected = std::max(note.now, last_stamp_);
  require(note.stamp == expected, "frame {}: stamped {}, and the authority's time was {}", note.sequence, note.stamp.ms,
          expected.ms);
}

// --- what made a frame ---

// Expiries and the ends of sessions are decided anew; what is forgotten, and digests, are for the laws and for `apply`.
bool Checker::is_made_by_time(const FrameNote& note, const Record& first) const {
  const auto require_same = [&](const Records& records) {
    require(encoded(records) == note.payload, "frame {}: {} is not what time asks for", note.sequence, to_json(first));
    return true;
  };
  const auto lock_of = [&](const auto& record) {
    const Lock* lock = shadow_->locks().find({record.domain, record.identifier, record.space});
    require(lock != nullptr, "frame {}: {}, and nobody holds it", note.sequence, to_json(first));
    return lock;
  };
  if (const auto* lease = std::get_if<record::LeaseExpired>(&first)) {
    const Task* task = shadow_->tasks().find(lease->task_id);
    require(task != nullptr && task->state == TaskState::kLeased, "frame {}: {}, and nobody has it", note.sequence,
            to_json(first));
    return require_same(TaskBook::decide_expiry(*task));
  }
  if (const auto* work = std::get_if<record::WorkExpired>(&first)) {
    const Domain* domain = shadow_->work().find(work->domain);
    require(domain != nullptr && domain->hold, "frame {}: {}, and nobody has it", note.sequence, to_json(first));
    return require_same(WorkBook::decide_expiry(*domain));
  }
  if (const auto* lock = std::get_if<record::LockExpired>(&first)) {
    return require_same(LockBook::decide_expiry(*lock_of(*lock)));
  }
  if (const auto* lock = std::get_if<record::LockReleased>(&first);
      lock != nullptr && lock->cause == ReleaseCause::kDisconnected) {
    return require_same(LockBook::decide_disconnection(*lock_of(*lock)));
  }
  return std::holds_alternative<record::Forgotten>(first) || std::holds_alternative<record::DigestTaken>(first) ||
         std::holds_alternative<record::FenceRaised>(first);
}

bool Checker::try_owner(Owner& owner, Case& candidate, const FrameNote& note) {
  auto expectation = expect_now(candidate, note.stamp, note.draws, note.has_room);
  if (expectation.records != note.payload) return false;
  // Only UNAVAILABLE leaves open what became of a request: any other refusal wrote nothing (seed 44488).
  const Failure* const refused = candidate.reply ? failure_in(*candidate.reply) : nullptr;
  const bool is_unknown = refused != nullptr && refused->code == ErrorCode::kUnavailable;
  if (candidate.reply && !is_unknown && candidate.reply_text != text_of(expectation.reply)) return false;
  owner = {.of = &candidate, .expectation = std::move(expectation)};
  return true;
}

Checker::Owner Checker::find_owner(const FrameNote& note, const Record& first) {
  Owner owner;
  const auto asked = cases_.find(note.case_number);
  if (asked != cases_.end() && prepared_ != note.case_number) {
    prepare(*shadow_, asked->second.letter->request, note.stamp);
    prepared_ = note.case_number;
  }
  // Whoever waited and was answered is tried first: a repeated request may be given the same answer without a frame.
  if (find_waiting(owner, note, first, Waiting::kAnswered)) return owner;
  if (asked != cases_.end() && !asked->second.expected && try_owner(owner, asked->second, note)) return owner;
  if (find_waiting(owner, note, first, Waiting::kStill)) return owner;
  if (find_waiting(owner, note, first, Waiting::kSuperseded)) return owner;
  throw Breach(fmt::format("frame {}: {} is what no request leads to ({})", note.sequence, to_json(first),
                           asked == cases_.end() ? "nothing was asked" : text_of(asked->second.letter->request)));
}

bool Checker::find_waiting(Owner& owner, const FrameNote& note, const Record& first, Waiting which) {
  for (auto& [number, waiting] : cases_) {
    if (!waiting.waits || waiting.has_frame || waiting.after >= note.sequence) continue;
    // UNAVAILABLE tells nothing of it (seed 306 of several nodes).
    const Failure* const refused = waiting.reply ? failure_in(*waiting.reply) : nullptr;
    const bool is_answered = waiting.reply && (refused == nullptr || refused->code != ErrorCode::kUnavailable);
    if (is_answered != (which == Waiting::kAnswered)) continue;
    if (which != Waiting::kAnswered && waiting.is_superseded != (which == Waiting::kSuperseded)) continue;
    if (const auto* grant = std::get_if<record::LockGranted>(&first); grant != nullptr && grant->session) {
      // Its session is as it was then, not as when the request came.
      waiting.grace = grant->grace.value_or(Millis{0});
      waiting.is_joined = laws_.sessions().had(*grant->session, note.stamp, waiting.grace);
    }
    prepare(*shadow_, waiting.letter->request, note.stamp);
    if (!try_owner(owner, waiting, note)) continue;
    require(!waiting.cancelled_at || note.sequence <= *waiting.cancelled_at,
            "frame {}: {} was granted to request {}, whose caller had gone", note.sequence, to_json(first), number);
    return true;
  }
  return false;
}

// First come, first served. Of a leader that is gone it is not known whose wait was over.
void Checker::check_line(const Case& owner, const FrameNote& note) const {
  if (is_leader_gone_) return;
  for (const Record& record : records_in(note.payload)) {
    for (const auto& [number, other] : cases_) {
      if (&other == &owner || !waits_now(other) || other.after >= note.sequence) continue;
      if (other.cancelled_at || other.is_superseded) continue;
      if (owner.waits && other.place > owner.inherited_place) continue;
      require(!wants(other.letter->request, record, *shadow_),
              "frame {}: {}: request {} was served before {}, which waited", note.sequence, to_json(record),
              owner.number, number);
    }
  }
}

void Checker::finish(const Engine& engine) {
  advance();
  laws_.finish();
  calls_.finish();
  require(notes_.empty(), "{} frames never became durable", notes_.size());
  const auto [live, anew] =
      engine.inspect([](const State& state) { return std::pair(state.digest(), state.recompute_digest()); });
  require(live == anew, "the live state's digest is another when made anew");
  require(live == shadow_->digest(), "the live state is not what its frames add up to");
  require(live == shadow_->recompute_digest(), "the replayed state's digest is another when made anew");
}

}  // namespace tenure::sim
