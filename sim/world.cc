#include "world.h"

#include "callers.h"
#include "program.h"
#include "small_settings.h"

namespace tenure::sim {
namespace {

constexpr Instant kStart{1'700'000'000'000};
// When nothing goes wrong any more, everything is finished within this.
constexpr Millis kRest{60'000};
constexpr std::uint64_t kSeedStep = 1'000;

}  // namespace

World::World(std::uint64_t seed, Story::Listener listener)
    : dice_(seed * kSeedStep),
      settings_(small_settings(dice_)),
      story_(agenda_, std::move(listener)),
      clock_(agenda_, kStart),
      disk_(tally_, seed * kSeedStep + 1),
      network_(agenda_, tally_, seed * kSeedStep + 3),
      checker_(settings_, tally_),
      server_(settings_, {agenda_, story_, tally_, checker_, network_, clock_, disk_}, seed * kSeedStep + 4),
      crowd_({agenda_, story_, tally_, network_, server_, checker_, clock_}, seed * kSeedStep + 5,
             seed * kSeedStep + 10) {
  server_.on_end([this](bool is_power_lost) { crowd_.cables().end_all(server_.addresses().front(), is_power_lost); });
}

void World::step() {
  require(!agenda_.empty(), "nothing will ever happen any more, and not all is finished");
  agenda_.run_next();
  tally_.count_event();
  checker_.advance();
  checker_.judge_beliefs();
}

void World::run() {
  server_.start();
  crowd_.add<Client>("client", 2);
  crowd_.add<Worker>("worker", 3);
  crowd_.add<Orchestrator>("orchestrator", 2);
  crowd_.add<LockUser>("user", 4);
  crowd_.add<Program>("program", 3);
  plan_mischief();
  while (tally_.events() < kEvents) step();
  come_to_rest();
  finish();
}

// --- what goes wrong ---

void World::plan_mischief() {
  agenda_.after(Millis{dice_.between(20, 500)}, [this] {
    if (is_calm_) return;
    make_mischief();
    plan_mischief();
  });
}

void World::make_mischief() {
  switch (dice_.roll(8)) {
    case 0:
    case 1:
      return harm_server();
    case 2:
    case 3:
      return harm_machine();
    case 4:
    case 5:
      return harm_disk();
    case 6:
      return crowd_.crash_one(dice_);
    default:
      return server_.make_snapshot();
  }
}

void World::harm_server() {
  switch (dice_.roll(6)) {
    case 0:
      return server_.kill();
    case 1:
    case 2:
      return server_.lose_power(FaultyFiles::kDamages[dice_.roll(std::size(FaultyFiles::kDamages))]);
    case 3:
      return dice_.one_in(2) ? server_.close() : server_.raise_fence();
    default:
      return server_.stall(Millis{dice_.between(50, 1500)});
  }
}

void World::harm_machine() {
  switch (dice_.roll(5)) {
    case 0: {
      const Millis by{dice_.between(100, 5000)};
      const bool ahead = dice_.one_in(2);
      tally_.count(ahead ? Fault::kWallJumpedAhead : Fault::kWallJumpedBack);
      story_.tell("wall clock jumps {} {} ms", ahead ? "ahead" : "back", by.count());
      return clock_.jump(ahead ? by : -by);
    }
    case 1:
      tally_.count(Fault::kClockDrifted);
      story_.tell("clock drifts");
      return clock_.drift(MachineClock::kTrue + dice_.between(-300, 300));
    case 2:
      // Everything on it stands still, and whoever talks to it waits.
      tally_.count(Fault::kMachineSuspended);
      story_.tell("machine is suspended");
      return server_.stall(Millis{dice_.between(500, 4000)});
    case 3:
      return crowd_.cables().cut_one();
    default:
      return server_.slow_disk(Millis{dice_.between(100, 1000)});
  }
}

void World::harm_disk() {
  switch (dice_.roll(5)) {
    case 0:
      story_.tell("a file operation will fail");
      return disk_.fail_soon(FaultyFiles::Fault::kIoError);
    case 1:
      story_.tell("a file operation will have no space, or be cut short");
      return disk_.fail_soon(dice_.one_in(2) ? FaultyFiles::Fault::kNoSpace : FaultyFiles::Fault::kShortWrite);
    case 2:
      story_.tell("the power will fail in a file operation");
      disk_.fail_soon(FaultyFiles::Fault::kCrash);
      return agenda_.after(Millis{300}, [this] {
        if (!is_calm_) server_.lose_power(FaultyFiles::Damage::kTear);
      });
    case 3:
      if (disk_.is_full() || !server_.is_up()) return;
      story_.tell("disk is full");
      disk_.fill();
      return agenda_.after(Millis{dice_.between(300, 2500)}, [this] {
        story_.tell("disk has room again");
        disk_.free();
      });
    default:
      // What is on the disk and not yet read is not known to the checker.
      if (!server_.is_up()) return;
      story_.tell("a bit is flipped in a copy");
      return disk_.probe_rot(settings_, checker_, clock_.wall());
  }
}

// --- the end ---

// Faults stop. What was begun is finished by those who behave.
void World::come_to_rest() {
  story_.tell("from now on nothing goes wrong");
  is_calm_ = true;
  network_.calm();
  crowd_.cables().calm();
  disk_.free();
  disk_.mend();
  if (disk_.is_down()) server_.lose_power(FaultyFiles::Damage::kTear);
  clock_.drift(MachineClock::kTrue);
  crowd_.retire();
  server_.calm();
  const Millis until = agenda_.now() + kRest;
  while (!server_.is_up() && agenda_.now() < until) step();
  require(server_.is_up(), "the server does not start, and nothing goes wrong any more");
  checker_.expect_no_faults();
  crowd_.add<Finisher>("finisher", 1);
  while (agenda_.now() < until && (checker_.laws().find_open() || !checker_.unanswered().empty())) step();
  checker_.require_finished();
  crowd_.retire_last();
  while (agenda_.now() < until && !checker_.unanswered().empty()) step();
  checker_.require_answered();
}

// Also what was put off until the end of a stall, which may be seconds away (seed 30630).
void World::finish() {
  const Millis until = agenda_.now() + kRest;
  while (!agenda_.empty() && agenda_.now() < until && !checker_.is_settled()) step();
  checker_.finish(server_.engine());
  server_.close();
  while (!server_.is_up()) step();
  checker_.finish(server_.engine());
}

Outcome run_seed(std::uint64_t seed, const Story::Listener& listener) { return outcome_of<World>(seed, listener); }

}  // namespace tenure::sim
