#include "server.h"

#include <algorithm>

#include "authority/snapshots.h"

namespace tenure::sim {
namespace {

constexpr const char* kPowerLost = "power lost";
constexpr Millis kIdle{50};  // after it the last batch is vouched for

}  // namespace

Server::Server(const Settings& settings, Ports ports, std::uint64_t seed)
    : settings_(settings), ports_(ports), dice_(seed), lives_(ports.agenda) {}

Server::~Server() {
  engine_.reset();  // before the journal that it listens to
}

// --- lives ---

void Server::start() {
  lives_.begin();
  journal_entropy_ = std::make_unique<SeededEntropy>(dice_.roll(1'000'000'000));
  entropy_ = std::make_unique<NotedEntropy>(dice_.roll(1'000'000'000));
  auto opened = FileJournal::open(ports_.disk.files(), kDataFolder, *journal_entropy_,
                                  {.segment_bytes = kSegmentBytes, .threads = FileJournal::Threads::kNone});
  if (!opened) return fail_start(opened.error());
  file_journal_ = std::move(*opened);
  journal_ = std::make_unique<NotedJournal>(*file_journal_, [this](FrameNote note) { note_frame(std::move(note)); });
  auto started = Engine::start(settings_, {ports_.clock, *entropy_, *journal_});
  if (!started) return fail_start(started.error());
  engine_ = std::move(*started);
  // The power may have failed in what the start can do without.
  if (ports_.disk.is_down()) return fail_start({ErrorCode::kUnavailable, "the machine is down"});
  engine_->observe(
      [this](const State& state, Instant /*stamp*/, std::string_view /*record*/) { ports_.checker.note_state(state); });

  const Engine::Origin& origin = engine_->origin();
  ports_.tally.count(origin.snapshot > 0 ? Fault::kSnapshotUsed : Fault::kReplayUsed);
  if (!file_journal_->report().torn.empty()) ports_.tally.count(Fault::kTailCut);
  ports_.story.tell("server starts, snapshot {}, frames up to {}, {}", origin.snapshot, journal_->last(),
                    file_journal_->report().torn.empty() ? "clean" : "torn tail cut");
  require(origin.passed_over.empty(), "a snapshot was passed over, and nothing was damaged: {}",
          origin.passed_over.empty() ? "" : origin.passed_over.front());
  ports_.checker.begin_life(*engine_, *journal_, ports_.clock);
  open_desk();
  upkeep_->plan(Millis{0});
}

void Server::fail_start(const Failure& failure) {
  ports_.tally.count(Fault::kStartFailed);
  ports_.story.tell("server cannot start: {}", failure.message);
  require(failure.code == ErrorCode::kUnavailable && ports_.disk.may_fail(), "the start was refused: {}",
          failure.message);
  end_life("start failed", [this] { ports_.disk.kill(); });
}

void Server::end_life(const char* how, const std::function<void()>& end) {
  ports_.story.tell("server ends: {}", how);
  ports_.checker.end_life();
  engine_.reset();
  upkeep_.reset();
  journal_.reset();
  file_journal_.reset();
  desk_.reset();
  is_write_planned_ = false;
  lives_.wake();
  lives_.begin();
  end();
  if (on_end_) on_end_(std::string_view(how) == kPowerLost);
  lives_.plan(Millis{is_calm_ ? 1 : dice_.between(5, 400)}, [this] { start(); });
}

void Server::kill() {
  if (is_up()) end_life("killed", [this] { ports_.disk.kill(); });
}

void Server::lose_power(FaultyFiles::Damage damage) {
  if (is_up()) end_life(kPowerLost, [this, damage] { ports_.disk.lose_power(damage); });
}

void Server::close() {
  if (!is_up()) return;
  ports_.tally.count(Fault::kServerClosed);
  ports_.checker.close();
  engine_->close();
  engine_->take_digest();
  ports_.disk.begin_write(journal_->durable());
  static_cast<void>(file_journal_->close());
  ports_.checker.advance();
  end_life("closed", [this] { ports_.disk.files().kill(); });
}

void Server::stall(Millis time) {
  ports_.tally.count(Fault::kServerStalled);
  ports_.story.tell("server stalls for {} ms", time.count());
  lives_.stand_still(time);
}

void Server::slow_disk(Millis time) {
  ports_.tally.count(Fault::kDiskSlow);
  ports_.story.tell("disk is slow for {} ms", time.count());
  slow_until_ = ports_.agenda.now() + time;
}

void Server::calm() {
  is_calm_ = true;
  lives_.wake();
  slow_until_ = Millis{0};
}

// --- requests ---

void Server::hear(const Mail& mail) {
  if (!is_up()) return ports_.story.tell("server is down: {} is lost", text_of(mail.letter->request));
  if (desk_->is_gone(mail.connection)) return ports_.story.tell("server hears nothing from a closed connection");
  if (lives_.is_still()) return lives_.plan(lives_.still_for(), [this, mail] { hear(mail); });
  desk_->process(mail);
}

void Server::open_desk() {
  desk_ = std::make_unique<Desk>(Desk::Ports{.name = "server",
                                             .story = ports_.story,
                                             .tally = ports_.tally,
                                             .checker = ports_.checker,
                                             .network = ports_.network,
                                             .engine = *engine_,
                                             .dice = dice_,
                                             .lives = lives_,
                                             .settle = [this] { settle(); },
                                             .term = [] { return 1; },
                                             .on_answer = {},
                                             .may_refuse = [this] { return !journal_->failure().empty(); }});
  upkeep_ = std::make_unique<Upkeep>(Upkeep::Ports{.lives = lives_,
                                                   .tally = ports_.tally,
                                                   .dice = dice_,
                                                   .clock = ports_.clock,
                                                   .engine = *engine_,
                                                   .on_done =
                                                       [this] {
                                                         ports_.story.tell("server does what is due");
                                                         settle();
                                                       },
                                                   .is_calm = is_calm_});
}

void Server::hang_up(std::uint64_t connection) {
  if (!is_up()) return;
  if (lives_.is_still()) return lives_.plan(lives_.still_for(), [this, connection] { hang_up(connection); });
  desk_->hang_up(connection);
}

// --- the journal ---

void Server::note_frame(FrameNote note) {
  note.draws = entropy_->take();
  try {
    ports_.disk.check_reserve(note, ports_.checker.unwritten_bytes());
  } catch (const Breach& breach) {
    ports_.checker.note_breach(breach.what());
  }
  ports_.checker.note(std::move(note));
}

void Server::settle() {
  if (!is_up()) return;
  if (journal_->last() > journal_->durable() && !is_write_planned_) {
    is_write_planned_ = true;
    const bool is_slow = slow_until_ > ports_.agenda.now();
    lives_.plan(Millis{is_slow ? dice_.between(50, 300) : dice_.between(0, 4)}, [this] { write(); });
  }
  upkeep_->settle();
}

void Server::write() {
  is_write_planned_ = false;
  ports_.disk.begin_write(journal_->durable());
  file_journal_->step();
  if (!journal_->failure().empty()) {
    ports_.tally.count(Fault::kJournalFailed);
    ports_.disk.fail_write();
    require(ports_.disk.may_fail(), "the journal failed, and no file had: {}", journal_->failure());
    // A batch before the one that failed may be durable, and answered.
    ports_.checker.advance();
    return end_life("journal failed", [this] { ports_.disk.kill(); });
  }
  ports_.story.tell("disk has frames up to {}", journal_->durable());
  lives_.plan(kIdle, [this, durable = journal_->durable()] {
    if (journal_->durable() == durable && journal_->last() <= durable) vouch();
  });
  settle();
}

void Server::vouch() {
  ports_.disk.begin_write(journal_->durable());
  file_journal_->vouch();
  if (!journal_->failure().empty()) {
    ports_.tally.count(Fault::kJournalFailed);
    ports_.disk.fail_write();
    return end_life("journal failed", [this] { ports_.disk.kill(); });
  }
  ports_.story.tell("disk vouches with frame {}", journal_->durable());
}

void Server::make_snapshot() {
  if (!is_up()) return;
  engine_->take_digest([this](const Result<std::uint64_t>& frame) {
    if (!frame) return;
    lives_.plan(Millis{0}, [this, sequence = *frame] {
      const auto made = tenure::make_snapshot(*journal_, sequence);
      ports_.tally.count(made ? Fault::kSnapshotMade : Fault::kSnapshotFailed);
      ports_.story.tell("snapshot of frame {}: {}", sequence, made ? "made" : made.error().message);
      require(made || ports_.disk.may_fail(), "a snapshot failed, and no file had: {}",
              made ? "" : made.error().message);
    });
  });
  settle();
}

void Server::raise_fence() {
  if (!is_up()) return;
  engine_->raise_fence();
  settle();
}

}  // namespace tenure::sim
