#include "node.h"

#include <algorithm>

#include "authority/snapshots.h"
#include "witness.h"

namespace tenure::sim {
namespace {

constexpr Instant kNodeStart{1'700'000'000'000};
// Small, so that there are many batches, and several under way.
constexpr std::uint64_t kBatchBytes = 512;
constexpr Millis kEtcdTimeout{700};

}  // namespace

Node::Node(const Settings& settings, Ports ports, Overseer& overseer, std::string address, std::uint64_t seed)
    : settings_(settings),
      ports_(ports),
      overseer_(overseer),
      address_(std::move(address)),
      dice_(seed),
      clock_(ports.agenda, kNodeStart),
      lives_(ports.agenda) {}

Node::~Node() {
  if (is_up()) store_->die();
  if (course_) course_->end();
}

// --- lives ---

void Node::start() {
  lives_.begin();
  ports_.story.tell("{} starts", address_);
  open();
  open_desk();
  course_->begin({.wake = [this] { wake(); },
                  .on_role = [this](Course::Role role) { on_role(role); },
                  .on_broken =
                      [this](const Failure& failure) {
                        ports_.checker.note_breach(
                            fmt::format("{} cannot replay the journal: {}", address_, failure.message));
                      },
                  .on_turn = [this](Course::Turn turn, const std::string& text) { on_turn(turn, text); }});
  plan_step(Millis{0});
}

void Node::open() {
  journal_entropy_ = std::make_unique<SeededEntropy>(dice_.roll(1'000'000'000));
  entropy_ = std::make_unique<NotedEntropy>(dice_.roll(1'000'000'000));
  store_ = std::make_unique<SimStore>(
      SimStore::Ports{
          .agenda = ports_.agenda, .tally = ports_.tally, .members = ports_.members, .clock = clock_, .lives = lives_},
      dice_.roll(1'000'000'000));
  if (is_calm_) store_->calm();
  if (cut_until_ > ports_.agenda.now()) store_->cut();
  election_ = std::make_unique<etcd::EtcdElection>(
      *store_, clock_, cluster_keys(),
      etcd::EtcdElection::Options{.address = address_, .records = std::variant_size_v<Record>, .term = kTerm});
  etcd_journal_ = std::make_unique<etcd::EtcdJournal>(
      *store_, cluster_keys(), *journal_entropy_,
      etcd::EtcdJournal::Options{.batch_bytes = kBatchBytes,
                                 .in_flight = static_cast<std::size_t>(dice_.between(1, 4)),
                                 .timeout = kEtcdTimeout});
  journal_ = std::make_unique<NotedJournal>(*etcd_journal_, [this](FrameNote note) { note_frame(std::move(note)); });
  auto engine =
      Engine::stand_by(settings_, {.clock = clock_, .entropy = *entropy_, .journal = *journal_, .is_certain = [this] {
                                     return clock_.boot() < election_->certain_until();
                                   }});
  require(engine.has_value(), "{} cannot stand by: {}", address_, engine ? "" : engine.error().message);
  engine_ = std::move(*engine);
  engine_->observe([this](const State& state, Instant /*stamp*/, std::string_view /*record*/) {
    if (overseer_.judged_term(*this) != 0) ports_.checker.note_state(state);
  });
  course_ = std::make_unique<Course>(Course::Ports{*engine_, *etcd_journal_, *election_, clock_}, address_);
}

void Node::open_desk() {
  desk_ = std::make_unique<Desk>(Desk::Ports{
      .name = address_,
      .story = ports_.story,
      .tally = ports_.tally,
      .checker = ports_.checker,
      .network = ports_.network,
      .engine = *engine_,
      .dice = dice_,
      .lives = lives_,
      .settle = [this] { settle(); },
      .term = [this] { return overseer_.judged_term(*this); },
      .on_answer = [this](const Reply& reply, bool is_judged) { overseer_.on_answer(*this, reply, is_judged); },
      .may_refuse = [this] { return !engine_->is_leading(); }});
  upkeep_ = std::make_unique<Upkeep>(Upkeep::Ports{.lives = lives_,
                                                   .tally = ports_.tally,
                                                   .dice = dice_,
                                                   .clock = clock_,
                                                   .engine = *engine_,
                                                   .on_done = {},
                                                   .is_calm = is_calm_});
}

void Node::end_life(const char* how, bool is_power_lost) {
  ports_.story.tell("{} ends: {}", address_, how);
  overseer_.on_end(*this, is_power_lost);
  store_->die();
  course_->end();
  course_.reset();
  engine_.reset();
  upkeep_.reset();
  desk_.reset();
  journal_.reset();
  etcd_journal_.reset();
  election_.reset();
  store_.reset();
  epoch_ = led_from_ = 0;
  has_followed_ = is_wake_planned_ = false;
  lives_.wake();
  lives_.begin();
  lives_.plan(Millis{is_calm_ ? 1 : dice_.between(5, 3000)}, [this] { start(); });
}

void Node::kill(bool is_power_lost) {
  if (!is_up()) return;
  ports_.tally.count(Fault::kNodeKilled);
  end_life(is_power_lost ? "power lost" : "killed", is_power_lost);
}

void Node::close() {
  if (!is_up() || lives_.is_still()) return;
  ports_.tally.count(Fault::kNodeClosed);
  course_->end();
  if (overseer_.judged_term(*this) != 0) ports_.checker.close();
  engine_->close();
  election_->leave();
  end_life("closed", false);
}

void Node::pause(Millis time) {
  if (!is_up()) return;
  ports_.tally.count(Fault::kNodePaused);
  ports_.story.tell("{} stands still for {} ms", address_, time.count());
  lives_.stand_still(time);
}

void Node::cut_from_etcd(Millis time) {
  ports_.tally.count(Fault::kNodeCut);
  ports_.story.tell("{} is cut from etcd for {} ms", address_, time.count());
  cut_until_ = ports_.agenda.now() + time;
  if (store_) store_->cut();
  ports_.agenda.at(cut_until_, [this] {
    if (store_ && cut_until_ <= ports_.agenda.now()) store_->mend();
  });
}

void Node::calm() {
  is_calm_ = true;
  lives_.wake();
  cut_until_ = Millis{0};
  clock_.drift(MachineClock::kTrue);
  if (!store_) return;
  store_->calm();
  store_->mend();
}

// --- requests ---

void Node::hear(const Mail& mail) {
  if (!is_up()) return ports_.story.tell("{} is down: {} is lost", address_, text_of(mail.letter->request));
  if (desk_->is_gone(mail.connection)) return;
  if (lives_.is_still()) return lives_.plan(lives_.still_for(), [this, mail] { hear(mail); });
  desk_->process(mail);
}

void Node::hang_up(std::uint64_t connection) {
  if (!is_up()) return;
  if (lives_.is_still()) return lives_.plan(lives_.still_for(), [this, connection] { hang_up(connection); });
  desk_->hang_up(connection);
}

void Node::note_frame(FrameNote note) {
  note.draws = entropy_->take();
  // Of a leader whose term is over nothing becomes durable: a frame of it would be nobody's.
  if (overseer_.judged_term(*this) == 0) return;
  overseer_.on_append(note.sequence);
  ports_.checker.note(std::move(note));
}

// --- its course ---

void Node::wake() {
  if (std::exchange(is_wake_planned_, true)) return;
  lives_.plan(Millis{is_calm_ ? 0 : dice_.between(0, 2)}, [this] { step(); });
}

void Node::plan_step(Millis delay) {
  lives_.plan(delay, [this, number = ++steps_] {
    if (number == steps_) step();
  });
}

void Node::step() {
  is_wake_planned_ = false;
  const std::uint64_t before = engine_->applied();
  const bool was_leading = course_->role() == Course::Role::kLeader;
  const std::uint64_t snapshot = engine_->origin().snapshot;
  const bool was_loading = course_->role() == Course::Role::kLoading;
  const Millis due = course_->step();
  if (!was_leading && engine_->applied() != before) {
    const bool has_loaded = was_loading || engine_->origin().snapshot != snapshot;
    ports_.tally.count(has_loaded ? Fault::kLoadedAnew : Fault::kFollowed);
    // What was read from a snapshot on may be old: it tells the time only to whoever has done without the wall clock.
    // And whoever only drops what it wrote itself, and was lost, has heard of nobody's time.
    if ((!has_loaded || epoch_ != 0) && engine_->applied() > led_from_) has_followed_ = true;
    overseer_.on_followed(*this);
  }
  // From its first frame on its time is the others'.
  if (was_leading && journal_->durable() > led_from_) has_followed_ = true;
  settle();
  plan_step(clock_.until(std::clamp(due - clock_.boot(), Millis{0}, Millis{1000})));
}

void Node::on_role(Course::Role role) {
  if (role == Course::Role::kLeader) {
    epoch_ = course_->leader()->epoch;
    overseer_.on_leads(*this);
    led_from_ = engine_->applied();
    upkeep_->plan(Millis{0});
  } else {
    desk_->forget_soft_state();
  }
}

void Node::on_turn(Course::Turn turn, const std::string& text) {
  switch (turn) {
    case Course::Turn::kLoaded:
      ports_.tally.count(engine_->origin().snapshot > 0 ? Fault::kSnapshotUsed : Fault::kReplayUsed);
      if (!engine_->origin().passed_over.empty()) {
        ports_.checker.note_breach("a snapshot was passed over: " + engine_->origin().passed_over.front());
      }
      return ports_.story.tell("{} has loaded frames up to {}", address_, engine_->applied());
    case Course::Turn::kLeads:
      ports_.tally.count(Fault::kElected);
      return ports_.story.tell("{} leads, {}, from frame {} on", address_, text, engine_->applied());
    case Course::Turn::kLeadFailed:
      ports_.tally.count(Fault::kLeadFailed);
      return ports_.story.tell("{} is elected and cannot lead: {}", address_, text);
    case Course::Turn::kDeposed:
      ports_.tally.count(Fault::kDeposed);
      return ports_.story.tell("{} is deposed: {}", address_, text);
    case Course::Turn::kUnread:
      return ports_.story.tell("{} cannot read the journal: {}", address_, text);
    case Course::Turn::kReadAgain:
      return ports_.story.tell("{} can read the journal again", address_);
  }
}

void Node::make_snapshot() {
  if (!is_leading() || lives_.is_still()) return;
  engine_->take_digest([this](const Result<std::uint64_t>& frame) {
    if (!frame) return;
    lives_.plan(Millis{dice_.between(0, 50)}, [this, sequence = *frame] {
      const auto made = tenure::make_snapshot(*journal_, sequence);
      ports_.tally.count(made ? Fault::kSnapshotMade : Fault::kSnapshotFailed);
      ports_.story.tell("{} makes a snapshot of frame {}: {}", address_, sequence,
                        made ? "made" : made.error().message);
      require(made || made.error().code == ErrorCode::kUnavailable, "a snapshot failed: {}",
              made ? "" : made.error().message);
    });
  });
  settle();
}

void Node::settle() {
  if (is_up()) upkeep_->settle();
}

void Node::raise_fence() {
  if (!is_leading() || lives_.is_still()) return;
  engine_->raise_fence();
  settle();
}

}  // namespace tenure::sim
