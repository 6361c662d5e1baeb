#include "server.h"

#include <algorithm>

#include "authority/snapshots.h"

namespace tenure::sim {
namespace {

constexpr const char* kPowerLost = "power lost";
constexpr Millis kIdle{50};  // after it the last batch is vouched for

}  // namespace

Server::Server(const Settings& settings, Ports ports, std::uint64_t seed)
    : settings_(settings), ports_(ports), dice_(seed) {}

Server::~Server() {
  engine_.reset();  // before the journal that it listens to
}

void Server::plan(Millis delay, std::function<void()> event) {
  ports_.agenda.after(delay, [this, life = life_, event = std::move(event)] {
    if (life != life_) return;
    if (stalled_until_ > ports_.agenda.now()) return plan(stalled_until_ - ports_.agenda.now(), event);
    event();
  });
}

// --- lives ---

void Server::start() {
  ++life_;
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
  engine_->on_earlier_due([this] { is_due_earlier_ = true; });

  const Engine::Origin& origin = engine_->origin();
  ports_.tally.count(origin.snapshot > 0 ? Fault::kSnapshotUsed : Fault::kReplayUsed);
  if (!file_journal_->report().torn.empty()) ports_.tally.count(Fault::kTailCut);
  ports_.story.tell("server starts, snapshot {}, frames up to {}, {}", origin.snapshot, journal_->last(),
                    file_journal_->report().torn.empty() ? "clean" : "torn tail cut");
  require(origin.passed_over.empty(), "a snapshot was passed over, and nothing was damaged: {}",
          origin.passed_over.empty() ? "" : origin.passed_over.front());
  ports_.checker.begin_life(*engine_, *journal_, ports_.clock);
  plan_tick(Millis{0});
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
  journal_.reset();
  file_journal_.reset();
  connections_.clear();
  gone_.clear();
  is_write_planned_ = is_due_earlier_ = false;
  stalled_until_ = Millis{0};
  ++life_;
  end();
  if (on_end_) on_end_(std::string_view(how) == kPowerLost);
  plan(Millis{is_calm_ ? 1 : dice_.between(5, 400)}, [this] { start(); });
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
  stalled_until_ = ports_.agenda.now() + time;
}

void Server::slow_disk(Millis time) {
  ports_.tally.count(Fault::kDiskSlow);
  ports_.story.tell("disk is slow for {} ms", time.count());
  slow_until_ = ports_.agenda.now() + time;
}

void Server::calm() {
  is_calm_ = true;
  stalled_until_ = slow_until_ = Millis{0};
}

// --- requests ---

void Server::hear(const Mail& mail) {
  if (!is_up()) return ports_.story.tell("server is down: {} is lost", text_of(mail.letter->request));
  if (gone_.contains(mail.connection)) return ports_.story.tell("server hears nothing from a closed connection");
  if (stalled_until_ > ports_.agenda.now()) {
    return plan(stalled_until_ - ports_.agenda.now(), [this, mail] { hear(mail); });
  }
  process(mail);
}

void Server::process(const Mail& mail) {
  std::visit([&](const auto& request) { process(mail, request); }, mail.letter->request);
  settle();
}

template <class R>
void Server::process(const Mail& mail, const R& request) {
  if constexpr (std::is_same_v<R, JoinSession>) {
    join(mail, request);
  } else {
    const std::uint64_t number = ports_.checker.arrive(mail.letter, mail.floor);
    ports_.story.tell("server hears #{} {}", number, text_of(mail.letter->request));
    auto done = [this, number, mail](Result<ReplyOf<R>> reply) { answer(number, mail, std::move(reply)); };
    if constexpr (kMayWait<R>) {
      if (mail.letter->block > Millis{0}) {
        const Ticket ticket = engine_->wait(request, mail.letter->block, std::move(done));
        if (ticket != 0) connections_[mail.connection].waits.emplace(number, ticket);
        return ports_.checker.processed(number, ticket != 0);
      }
    }
    if (dice_.one_in(4)) {
      engine_->put(request, std::move(done));
      plan(Millis{dice_.between(0, 2)}, [this] {
        engine_->hand_over();
        settle();
      });
    } else {
      engine_->ask(request, std::move(done));
    }
    ports_.checker.processed(number, false);
  }
}

void Server::join(const Mail& mail, const JoinSession& request) {
  Connection& connection = connections_[mail.connection];
  ports_.story.tell("server hears {}", text_of(mail.letter->request));
  const auto joined = engine_->join(request.session, request.grace);
  if (joined) {
    // The checker's account follows: a connection is of one session.
    ports_.checker.laws().sessions().join(std::string(request.session), engine_->now(), request.grace);
    leave(connection);
    connection.session = std::string(request.session);
  }
  const Reply reply = joined;
  ports_.tally.count(text_of(mail.letter->request), reply, text_of(reply));
  if (mail.reply_to) ports_.network.carry([mail, reply] { mail.reply_to(reply); });
}

void Server::leave(Connection& connection) {
  if (!connection.session) return;
  ports_.checker.laws().sessions().leave(*connection.session, engine_->now());
  const auto left = engine_->leave(*connection.session);
  require(left.has_value() || !journal_->failure().empty(), "session {} was joined, and cannot be left",
          *connection.session);
  connection.session.reset();
}

void Server::hang_up(std::uint64_t connection) {
  if (!is_up()) return;
  if (stalled_until_ > ports_.agenda.now()) {
    return plan(stalled_until_ - ports_.agenda.now(), [this, connection] { hang_up(connection); });
  }
  ports_.story.tell("server sees connection {} closed", connection);
  gone_.insert(connection);
  const auto found = connections_.find(connection);
  if (found == connections_.end()) return;
  for (const auto& [number, ticket] : std::exchange(found->second.waits, {})) {
    ports_.checker.cancelled(number);
    if (engine_->cancel(ticket)) ports_.tally.count(Fault::kCallerHungUp);
  }
  leave(found->second);
  connections_.erase(found);
  settle();
}

// From a callback: nothing here asks the engine.
void Server::answer(std::uint64_t number, const Mail& mail, Reply reply) {
  if (ports_.story.is_heard()) ports_.story.tell("server answers #{}: {}", number, text_of(reply));
  ports_.checker.answered(number, reply);
  if (gone_.contains(mail.connection)) {
    // Not a byte of it can be delivered.
    const auto* const granted = std::get_if<Result<std::optional<LockGrant>>>(&reply);
    const bool has_id = request_id_of(mail.letter->request).has_value();
    if (granted != nullptr && *granted && **granted && !has_id) give_back(mail, ***granted);
    return;
  }
  const auto found = connections_.find(mail.connection);
  if (found != connections_.end()) found->second.waits.erase(number);
  if (!mail.reply_to) return;
  if (mail.is_wired) return mail.reply_to(reply);
  ports_.network.carry([mail, reply = std::move(reply)] { mail.reply_to(reply); });
}

void Server::give_back(const Mail& mail, const LockGrant& grant) {
  ports_.tally.count(Fault::kGrantUndelivered);
  auto letter = std::make_shared<Letter>();
  letter->texts = std::make_shared<Texts>();
  LockGiveBack request;
  const LockName& lock = std::get<LockAcquire>(mail.letter->request).lock;
  request.lock = {letter->texts->keep(std::string(lock.domain)), letter->texts->keep(std::string(lock.identifier))};
  request.token = letter->texts->keep(grant.token);
  request.cause = ReleaseCause::kUndelivered;
  letter->request = request;
  letter->call = mail.letter->call;
  letter->gives_back = true;
  plan(Millis{0}, [this, letter] { process({.letter = letter, .floor = ports_.checker.floor()}); });
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
    plan(Millis{is_slow ? dice_.between(50, 300) : dice_.between(0, 4)}, [this] { write(); });
  }
  if (is_due_earlier_) plan_tick(Millis{0});
  is_due_earlier_ = false;
}

void Server::write() {
  is_write_planned_ = false;
  ports_.disk.begin_write(journal_->durable());
  file_journal_->step();
  if (!journal_->failure().empty()) {
    ports_.tally.count(Fault::kJournalFailed);
    require(ports_.disk.may_fail(), "the journal failed, and no file had: {}", journal_->failure());
    return end_life("journal failed", [this] { ports_.disk.kill(); });
  }
  ports_.story.tell("disk has frames up to {}", journal_->durable());
  plan(kIdle, [this, durable = journal_->durable()] {
    if (journal_->durable() == durable && journal_->last() <= durable) vouch();
  });
  settle();
}

void Server::vouch() {
  ports_.disk.begin_write(journal_->durable());
  file_journal_->vouch();
  if (!journal_->failure().empty()) {
    ports_.tally.count(Fault::kJournalFailed);
    return end_life("journal failed", [this] { ports_.disk.kill(); });
  }
  ports_.story.tell("disk vouches with frame {}", journal_->durable());
}

void Server::make_snapshot() {
  if (!is_up()) return;
  engine_->take_digest([this](const Result<std::uint64_t>& frame) {
    if (!frame) return;
    plan(Millis{0}, [this, sequence = *frame] {
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

// --- time ---

void Server::plan_tick(Millis delay) {
  Millis late{dice_.between(0, 2)};
  if (!is_calm_ && dice_.one_in(6)) {
    ports_.tally.count(Fault::kUpkeepLate);
    late = Millis{dice_.between(20, 250)};
  }
  plan(delay + late, [this, number = ++ticks_] {
    if (number == ticks_) tick();
  });
}

void Server::tick() {
  Instant next = engine_->run_due();
  for (int i = 0; i < 100 && next <= engine_->now(); ++i) next = engine_->run_due();
  ports_.story.tell("server does what is due");
  is_due_earlier_ = false;
  settle();
  if (next != kNever) plan_tick(ports_.clock.until(next - engine_->now()));
}

}  // namespace tenure::sim
