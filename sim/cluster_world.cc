#include "cluster_world.h"

#include "callers.h"
#include "program.h"
#include "small_settings.h"

namespace tenure::sim {
namespace {

constexpr Instant kBegin{1'700'000'000'000};
// When nothing goes wrong any more, everything is finished within this.
constexpr Millis kEnd{120'000};
constexpr std::uint64_t kSeedsApart = 1'000;
// Failing over takes seconds: a world has room for several only if its callers take their time.
constexpr std::int64_t kSlowness = 5;

Settings settings_of_cluster(Dice& dice) {
  Settings settings = small_settings(dice);
  settings.retention_time *= kSlowness;
  return settings;
}

}  // namespace

ClusterWorld::ClusterWorld(std::uint64_t seed, Story::Listener listener)
    : dice_(seed * kSeedsApart + 500),
      settings_(settings_of_cluster(dice_)),
      ends_leases_early_(dice_.one_in(4)),
      story_(agenda_, std::move(listener)),
      clock_(agenda_, kBegin),
      network_(agenda_, tally_, seed * kSeedsApart + 501),
      checker_(settings_, tally_),
      members_(agenda_, story_, tally_, seed * kSeedsApart + 502),
      cluster_(settings_, {agenda_, story_, tally_, checker_, network_, members_}, clock_, seed * kSeedsApart + 510),
      crowd_({agenda_, story_, tally_, network_, cluster_, checker_, clock_, kSlowness}, seed * kSeedsApart + 503,
             seed * kSeedsApart + 520) {
  cluster_.on_end(
      [this](const std::string& address, bool is_power_lost) { crowd_.cables().end_all(address, is_power_lost); });
}

void ClusterWorld::step() {
  require(!agenda_.empty(), "nothing will ever happen any more, and not all is finished");
  agenda_.run_next();
  tally_.count_event();
  cluster_.look();
  checker_.advance();
  checker_.judge_beliefs();
}

void ClusterWorld::run() {
  cluster_.start();
  crowd_.add<Client>("client", 2);
  crowd_.add<Worker>("worker", 2);
  crowd_.add<Orchestrator>("orchestrator", 2);
  crowd_.add<LockUser>("user", 3);
  crowd_.add<Program>("program", 3);
  plan_mischief();
  while (agenda_.now() < kHostile) step();
  come_to_rest();
}

// --- what goes wrong ---

void ClusterWorld::plan_mischief() {
  agenda_.after(Millis{dice_.between(100, 2500)}, [this] {
    if (is_calm_) return;
    make_mischief();
    plan_mischief();
  });
}

void ClusterWorld::make_mischief() {
  switch (dice_.roll(9)) {
    case 0:
    case 1:
    case 2:
      return harm_node();
    case 3:
      return harm_clock();
    case 4:
    case 5:
      return harm_etcd();
    case 6:
      return dice_.one_in(2) ? crowd_.crash_one(dice_) : crowd_.cables().cut_one();
    default:
      if (Node* const leader = cluster_.leader()) dice_.one_in(6) ? leader->raise_fence() : leader->make_snapshot();
  }
}

// Most of it happens to the leader.
void ClusterWorld::harm_node() {
  Node* const leader = cluster_.leader();
  Node& node = leader != nullptr && !dice_.one_in(3) ? *leader : cluster_.some_node();
  switch (dice_.roll(6)) {
    case 0:
      return node.kill(dice_.one_in(2));
    case 1:
      return node.close();
    case 2:
    case 3:
      return node.pause(Millis{dice_.one_in(2) ? dice_.between(50, 1500) : dice_.between(1500, 6000)});
    default:
      return node.cut_from_etcd(Millis{dice_.one_in(2) ? dice_.between(100, 1500) : dice_.between(1500, 6000)});
  }
}

void ClusterWorld::harm_clock() {
  Node& node = cluster_.some_node();
  if (dice_.one_in(2)) {
    tally_.count(Fault::kClockDrifted);
    story_.tell("the clock of {} drifts", node.address());
    return node.clock().drift(MachineClock::kTrue + dice_.between(-10, 10));
  }
  const Millis by{dice_.between(100, 20'000)};
  const bool ahead = dice_.one_in(2);
  tally_.count(ahead ? Fault::kWallJumpedAhead : Fault::kWallJumpedBack);
  story_.tell("the wall clock of {} jumps {} {} ms", node.address(), ahead ? "ahead" : "back", by.count());
  node.clock().jump(ahead ? by : -by);
}

void ClusterWorld::harm_etcd() {
  switch (dice_.roll(5)) {
    case 0:
      members_.leave();
      return agenda_.after(Millis{dice_.between(100, 5000)}, [this] { members_.come_back(); });
    case 1:
      if (ends_leases_early_ && members_.end_some_lease_early()) cluster_.note_early_end();
      return;
    case 2:
      return members_.stop_keeping(Millis{dice_.between(1000, 4000)});
    default:
      // As an operator does, or etcd by itself.
      if (members_.compact(members_.revision())) story_.tell("etcd is compacted");
      return;
  }
}

// --- the end ---

template <class Until>
void ClusterWorld::go_on(Millis end, const Until& until) {
  while (agenda_.now() < end && !until()) step();
}

void ClusterWorld::come_to_rest() {
  story_.tell("from now on nothing goes wrong");
  is_calm_ = true;
  network_.calm();
  crowd_.cables().calm();
  members_.calm();
  members_.come_back();
  cluster_.calm();
  crowd_.retire();
  const Millis end = agenda_.now() + kEnd;
  go_on(end, [this] { return cluster_.leader() != nullptr; });
  require(cluster_.leader() != nullptr, "nobody leads, and nothing goes wrong any more");
  crowd_.add<Finisher>("finisher", 1);
  go_on(end, [this] { return !checker_.laws().find_open(); });
  checker_.require_finished();
  crowd_.retire_last();
  go_on(end, [this] { return checker_.is_settled() && cluster_.is_settled() && checker_.unanswered().empty(); });
  checker_.require_answered();
  require(cluster_.is_settled(), "not all nodes have caught up, and nothing goes wrong any more");
  cluster_.finish();
}

Outcome run_cluster_seed(std::uint64_t seed, const Story::Listener& listener) {
  return outcome_of<ClusterWorld>(seed, listener);
}

}  // namespace tenure::sim
