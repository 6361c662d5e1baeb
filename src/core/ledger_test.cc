// The Ledger of testing.h, and that it would notice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/record_codec.h"
#include "core/snapshot_sum.h"
#include "core/testing.h"

namespace tenure {

Ledger::Ledger(std::uint64_t seed, std::uint64_t prove_every)
    : prove_every_(prove_every), dice_(seed), entropy_(seed) {}

void Ledger::mirror(std::string_view bytes) {
  ++written_;
  since_.emplace_back(now, bytes);
  const auto replayed = replay_frame(*shadow_, written_, now, bytes);
  ASSERT_TRUE(replayed.has_value()) << replayed.error().message;
  ASSERT_EQ(live_.bytes(), shadow_->bytes()) << "after record " << written_;
  // Not asked after every record, so that what is late changes again, or goes.
  const bool is_proof = written_ % prove_every_ == 0;
  if (!is_proof && !dice_.one_in(4)) return;
  ASSERT_EQ(live_.digest(), shadow_->digest()) << "after record " << written_;
  if (!is_proof) return;
  ASSERT_EQ(live_.digest(), live_.recompute_digest()) << "after record " << written_;
  ASSERT_EQ(shadow_->digest(), shadow_->recompute_digest()) << "after record " << written_;
  // Costs the whole state each time: later, when states are larger, not after every record.
  if (written_ < 64 || written_ % 64 == 0) prove_snapshots();
}

PairsByKey portraits_of(const State& state) {
  PairsByKey pairs;
  state.visit_portraits([&](const Portrait& portrait) {
    std::string& value = pairs[key_of(portrait)];
    EXPECT_EQ("", value) << "two of one key: " << to_json(portrait);
    encode(portrait, value);
  });
  return pairs;
}

std::unique_ptr<State> load(const PairsByKey& pairs) {
  auto state = std::make_unique<State>();
  state->begin_loading(pairs.size());
  for (const auto& [key, value] : pairs) {
    const auto loaded = load_pair(*state, key, value);
    EXPECT_TRUE(loaded.has_value()) << loaded.error().message;
  }
  state->finish_loading();
  return state;
}

// What a snapshot gives back is the same state, and goes on as the same state: the shadow goes on with it.
void Ledger::prove_snapshots() {
  const PairsByKey all = portraits_of(live_);
  shadow_ = load(all);
  ASSERT_EQ(live_.digest(), shadow_->digest()) << "from portraits, after record " << written_;
  ASSERT_EQ(live_.bytes(), shadow_->bytes()) << "from portraits, after record " << written_;
  ASSERT_EQ(all, portraits_of(*shadow_)) << "after record " << written_;

  const auto fetch = [this](std::string_view prefix, const NextSnapshot::VisitPair& visit) -> Result<Done> {
    for (auto pair = snapshot_.lower_bound(std::string(prefix)); pair != snapshot_.end(); ++pair) {
      if (!pair->first.starts_with(prefix)) break;
      if (auto visited = visit(pair->first, pair->second); !visited) return visited;
    }
    return Done{};
  };
  NextSnapshot next(fetch);
  for (const auto& [stamp, bytes] : since_) {
    const auto foreseen = next.foresee(written_, bytes);
    ASSERT_TRUE(foreseen.has_value()) << foreseen.error().message;
  }
  for (const auto& [stamp, bytes] : since_) {
    const auto replayed = next.replay(written_, stamp, bytes);
    ASSERT_TRUE(replayed.has_value()) << replayed.error().message;
  }
  NextSnapshot whole(fetch);
  ASSERT_TRUE(whole.take_all()) << "after record " << written_;
  for (const auto& [stamp, bytes] : since_) ASSERT_TRUE(whole.replay(written_, stamp, bytes)) << written_;
  const auto whole_pairs = whole.pairs();
  ASSERT_EQ(all, PairsByKey(whole_pairs.begin(), whole_pairs.end())) << "by taking all, after record " << written_;
  std::erase_if(snapshot_, [&](const auto& pair) { return next.replaces(pair.first); });
  for (const auto& [key, value] : next.pairs()) snapshot_[key] = value;
  ASSERT_EQ(all, snapshot_) << "the next snapshot, after record " << written_;
  SnapshotSum sum(1 + written_ % 3);
  for (const auto& [key, value] : snapshot_) ASSERT_TRUE(sum.add(key, value));
  ASSERT_EQ(live_.digest(), sum.digest()) << "summed up, after record " << written_;
  since_.clear();
}

void Ledger::write(const Records& records) {
  last_.clear();
  std::vector<std::string> encoded;
  for (const Record& record : records) {
    last_.emplace_back(name_of(record));
    encode(record, encoded.emplace_back());
  }
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Broken broken = live_.apply(now, records[i]);
    ASSERT_EQ(nullptr, broken) << last_[i] << " after record " << written_ << ": " << broken;
    mirror(encoded[i]);
  }
}

Broken Ledger::offer(const Record& record) {
  const Digest before = live_.digest();
  const std::uint64_t bytes_before = live_.bytes();
  const Instant stamp_before = live_.last_stamp();
  std::string bytes;
  encode(record, bytes);
  const Broken broken = live_.apply(now, record);
  if (broken == nullptr) {
    mirror(bytes);
    return nullptr;
  }
  EXPECT_EQ(before, live_.digest()) << broken;
  EXPECT_EQ(before, live_.recompute_digest()) << broken;
  EXPECT_EQ(bytes_before, live_.bytes()) << broken;
  EXPECT_EQ(stamp_before, live_.last_stamp()) << broken;
  const auto replayed = replay_frame(*shadow_, 4711, now, bytes);
  EXPECT_FALSE(replayed.has_value()) << broken;
  const std::string told = replayed ? "" : replayed.error().message;
  EXPECT_THAT(told, testing::StartsWith("sequence number 4711: "));
  EXPECT_THAT(told, testing::HasSubstr(to_json(record)));
  EXPECT_THAT(told, testing::EndsWith(broken));
  EXPECT_EQ(before, shadow_->digest()) << broken;
  return broken;
}

void Ledger::settle() {
  while (const Task* task = tasks().first_expired(now)) {
    write(TaskBook::decide_expiry(*task));
    if (testing::Test::HasFatalFailure()) return;
  }
  while (const Domain* domain = work().first_expired(now)) {
    write(WorkBook::decide_expiry(*domain));
    if (testing::Test::HasFatalFailure()) return;
  }
  while (const Lock* lock = locks().first_expired(now)) {
    write(LockBook::decide_expiry(*lock));
    if (testing::Test::HasFatalFailure()) return;
  }
  const auto page = tasks().queues({.count = 1000});
  for (const auto& queue : page->queues) tasks().promote(queue.queue, now, 1'000'000);
  const auto forget = [&](const auto& book) {
    for (Records records; !(records = book.decide_forgetting(settings, now)).empty();) {
      write(records);
      if (testing::Test::HasFatalFailure()) return;
    }
  };
  forget(tasks());
  forget(work());
  forget(locks());
}

void Ledger::advance(Millis by) {
  now = now + by;
  settle();
}

std::string Ledger::submit(std::string_view id, std::string_view queue) {
  return ask(Submission{.queue = queue, .payload = "payload", .id = id}).value().task_id;
}

std::optional<TaskLease> Ledger::lease(std::string_view queue, Millis time) {
  auto leases = ask(LeaseRequest{.worker = "w", .queues = {queue}, .lease = time}).value();
  if (leases.empty()) return std::nullopt;
  return std::move(leases.front());
}

Acquired Ledger::acquire(std::string_view domain, std::int64_t offset, std::optional<Millis> time) {
  return std::get<Acquired>(ask(WorkRequest{.domain = domain, .offset = Offset{offset}, .lease = time}).value());
}

LockGrant Ledger::lock(std::string_view identifier, std::string_view owner) {
  LockAcquire request{};
  request.lock = {"d", identifier};
  request.owner = owner;
  return ask(request).value().value();
}

TaskStatus Ledger::status(std::string_view task_id) { return TaskBook::status(*tasks().find(task_id)); }

namespace {

TEST(LedgerTest, MirrorsEveryRecordIntoTheShadow) {
  Ledger ledger;
  ledger.submit("T1");
  EXPECT_THAT(ledger.last(), testing::ElementsAre("TaskCreated"));
  ledger.lease();
  ledger.advance(2 * kMinute);
  EXPECT_THAT(ledger.last(), testing::ElementsAre("LeaseExpired"));
  EXPECT_EQ(3U, ledger.written());
  EXPECT_EQ(TaskState::kWaiting, TaskBook::status(*ledger.shadow().tasks().find("T1")).state);
  EXPECT_NE(State().digest(), ledger.shadow().digest());
}

TEST(LedgerTest, OffersARecordThatIsRefusedOrAccepted) {
  Ledger ledger;
  EXPECT_STREQ("task must exist", ledger.offer(record::TaskDead{"T1", "no"}));
  EXPECT_EQ(0U, ledger.written());
  EXPECT_EQ(nullptr, ledger.offer(created("T1")));
  EXPECT_EQ(1U, ledger.written());
}

}  // namespace
}  // namespace tenure
