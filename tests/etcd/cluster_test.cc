// The journal and the election on real etcd processes.
#include <csignal>
#include <future>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/mutex.h"
#include "etcd/open.h"
#include "members.h"

namespace tenure::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A node without an authority: it takes part in the election, and appends numbers while it leads. Its own thread ticks.
class Node final : public Election::Listener, public Journal::Listener {
 public:
  Node(const std::vector<std::string>& members, const std::string& prefix, const std::string& address, Millis term = 2s)
      : cluster_(*etcd::open(
            {.members = members, .user = "", .prefix = prefix},
            {.election = {.address = address, .term = term}, .journal = {.snapshot_bytes = 1 << 20, .timeout = 1s}},
            clock_, entropy_)),
        thread_([this](const std::stop_token& stop) { run(stop); }) {}
  ~Node() override {
    thread_.request_stop();
    thread_.join();
    journal().listen(nullptr);
  }

  etcd::EtcdJournal& journal() { return *cluster_.journal; }
  etcd::EtcdElection& election() { return *cluster_.election; }
  etcd::Store& store() { return *cluster_.store; }

  void on_elected(std::uint64_t epoch) override {
    const MutexLock lock(mutex_);
    epoch_ = epoch;
    epochs_.push_back(epoch);
  }
  void on_deposed(const std::string& why) override {
    const MutexLock lock(mutex_);
    epoch_ = 0;
    why_ = why;
  }
  void on_leader(const std::optional<Election::Leader>& leader) override {
    const MutexLock lock(mutex_);
    leader_ = leader ? leader->address : "";
  }
  void on_durable(std::uint64_t sequence) override {
    const MutexLock lock(mutex_);
    durable_ = sequence;
  }
  void on_failed(Journal::Outcome /*outcome*/, const std::string& why) override {
    const MutexLock lock(mutex_);
    failed_ = why;
  }

  std::uint64_t epoch() {
    const MutexLock lock(mutex_);
    return epoch_;
  }
  std::string leader() {
    const MutexLock lock(mutex_);
    return leader_;
  }
  std::uint64_t durable() {
    const MutexLock lock(mutex_);
    return durable_;
  }
  std::string failed() {
    const MutexLock lock(mutex_);
    return failed_;
  }
  void freeze(bool is_frozen) { is_frozen_ = is_frozen; }

  // What the journal has; it is this node's from now on.
  Result<std::vector<std::string>> start() {
    std::vector<std::string> found;
    {
      const MutexLock lock(mutex_);
      failed_.clear();
    }
    auto started = journal().start(0, [&](const Frame& frame) -> Result<Done> {
      found.emplace_back(frame.payload);
      return Done{};
    });
    if (!started) return tl::unexpected(started.error());
    journal().listen(this);
    return found;
  }
  std::uint64_t append(std::uint64_t epoch, const std::string& payload) {
    const std::uint64_t sequence = journal().append(epoch, Instant{++stamp_}, payload);
    journal().commit();
    return sequence;
  }
  std::vector<std::string> read(FrameRange range = {}) {
    std::vector<std::string> found;
    const auto done = journal().read(range, [&](const Frame& frame) -> Result<Done> {
      found.emplace_back(frame.payload);
      return Done{};
    });
    return done ? found : std::vector<std::string>{done.error().message};
  }

 private:
  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      if (!is_frozen_) election().tick(*this);
      std::this_thread::sleep_for(5ms);
    }
  }

  SystemClock clock_;
  SystemEntropy entropy_;
  Mutex mutex_;
  std::uint64_t epoch_ = 0;
  std::vector<std::uint64_t> epochs_;
  std::string why_;
  std::string leader_;
  std::uint64_t durable_ = 0;
  std::string failed_;
  std::atomic<bool> is_frozen_{false};
  std::int64_t stamp_ = 0;
  etcd::Cluster cluster_;
  std::jthread thread_;
};

class OneMember : public ::testing::Test {
 protected:
  std::unique_ptr<Node> node(const std::string& address) {
    return std::make_unique<Node>(EtcdMembers::shared().addresses(), prefix_, address);
  }
  const std::string prefix_ = unused_prefix();
};

TEST_F(OneMember, AJournalIsWrittenReadAndTakenOver) {
  const auto a = node("a:1");
  ASSERT_TRUE(await([&] { return a->epoch() != 0; }));
  const auto b = node("b:1");
  ASSERT_TRUE(await([&] { return b->leader() == "a:1"; }));
  ASSERT_TRUE(a->start());
  std::atomic<int> news{0};
  b->journal().on_news([&] { ++news; });
  ASSERT_TRUE(await([&] { return news > 0; }));
  const int before = news;
  const std::uint64_t epoch = a->epoch();
  for (int i = 0; i < 1000; ++i) a->append(epoch, std::to_string(i));
  EXPECT_TRUE(await([&] { return a->durable() == 1000; }));
  EXPECT_TRUE(await([&] { return news > before; }));
  EXPECT_THAT(b->read(), SizeIs(1000));
  a->election().resign();
  ASSERT_TRUE(await([&] { return b->epoch() != 0; }));
  EXPECT_GT(b->epoch(), epoch);
  const auto found = b->start();
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(*found, SizeIs(1000));
  // The one before cannot write any more.
  a->append(epoch, "lost");
  EXPECT_TRUE(await([&] { return !a->failed().empty(); }));
  EXPECT_THAT(a->failed(), HasSubstr("expected to lead in epoch"));
  b->append(b->epoch(), "1000");
  EXPECT_TRUE(await([&] { return b->durable() == 1001; }));
  EXPECT_THAT(a->read({.after = 999}), ElementsAre("999", "1000"));
  b->journal().on_news(nullptr);
}

TEST_F(OneMember, ALeaderThatFreezesIsFollowedWithinTwoTerms) {
  const auto a = node("a:1");
  ASSERT_TRUE(await([&] { return a->epoch() != 0; }));
  const auto b = node("b:1");
  ASSERT_TRUE(await([&] { return b->leader() == "a:1"; }));
  a->freeze(true);
  const SystemClock clock;
  const Millis frozen = clock.boot();
  ASSERT_TRUE(await([&] { return b->epoch() != 0; }));
  EXPECT_LT(clock.boot() - frozen, 4s);
  EXPECT_LT(a->election().certain_until(), clock.boot());
  a->freeze(false);
  EXPECT_TRUE(await([&] { return a->epoch() == 0 && a->leader() == "b:1"; }));
}

TEST_F(OneMember, OneThatLeavesIsFollowedAtOnce) {
  const auto a = node("a:1");
  ASSERT_TRUE(await([&] { return a->epoch() != 0; }));
  const auto b = node("b:1");
  ASSERT_TRUE(await([&] { return b->election().members().size() == 2; }));
  const SystemClock clock;
  const Millis left = clock.boot();
  a->election().leave();
  ASSERT_TRUE(await([&] { return b->epoch() != 0; }));
  EXPECT_LT(clock.boot() - left, 1s);
  EXPECT_TRUE(await([&] { return b->election().members().size() == 1; }));
}

TEST_F(OneMember, ASnapshotTakesThePlaceOfWhatIsBefore) {
  const auto a = node("a:1");
  ASSERT_TRUE(await([&] { return a->epoch() != 0; }));
  ASSERT_TRUE(a->start());
  const std::uint64_t epoch = a->epoch();
  for (int i = 0; i < 2500; ++i) {
    a->append(epoch, std::string(1000, 'x'));
    ASSERT_TRUE(i % 2 != 0 || await([&] { return a->durable() + 4 > static_cast<std::uint64_t>(i); })) << a->failed();
  }
  ASSERT_TRUE(await([&] { return a->durable() == 2500; }));
  Snapshots& snapshots = *a->journal().snapshots();
  EXPECT_TRUE(*snapshots.is_due());
  auto draft = snapshots.begin(2400);
  ASSERT_TRUE(draft) << draft.error().message;
  SystemEntropy entropy;
  for (int i = 0; i < 2000; ++i) {
    std::string noise;
    for (int word = 0; word < 128; ++word) noise += fmt::format("{:016x}", entropy.next());
    ASSERT_TRUE((*draft)->add(fmt::format("{:08}", i), noise));
  }
  const auto complete = (*draft)->complete(std::string(16, 'd'));
  ASSERT_TRUE(complete) << complete.error().message;
  ASSERT_TRUE((*complete)->verify());
  const auto published = (*draft)->publish();
  ASSERT_TRUE(published) << published.error().message;
  const auto dropped = snapshots.drop_before(2400);
  ASSERT_TRUE(dropped) << dropped.error().message;
  EXPECT_FALSE(*snapshots.is_due());

  const auto b = node("b:1");
  const auto opened = b->journal().snapshots()->open(2400);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_TRUE((*opened)->verify());
  EXPECT_EQ((*opened)->pairs(), 2000U);
  EXPECT_THAT(b->read({.after = 2400}), SizeIs(100));
  EXPECT_THAT(b->read(), ElementsAre(HasSubstr("was dropped behind a snapshot")));
}

TEST_F(OneMember, EtcdStaysSmallThoughMuchIsWritten) {
  const EtcdMembers members;
  Node a(members.addresses(), "t", "a:1", 5s);
  ASSERT_TRUE(await([&] { return a.epoch() != 0; }));
  ASSERT_TRUE(a.start());
  Snapshots& snapshots = *a.journal().snapshots();
  std::uint64_t last = 0;
  const std::string payload(500 << 10, 'x');
  // 100 MB, of which never more than 10 are needed.
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 20; ++i) last = a.append(a.epoch(), payload);
    ASSERT_TRUE(await([&] { return a.durable() == last || !a.failed().empty(); }));
    ASSERT_EQ(a.failed(), "");
    auto draft = snapshots.begin(last);
    ASSERT_TRUE(draft) << draft.error().message;
    ASSERT_TRUE((*draft)->add("a", "b"));
    ASSERT_TRUE((*draft)->complete(std::string(16, 'd')));
    ASSERT_TRUE((*draft)->publish());
    ASSERT_TRUE(snapshots.drop_before(last));
  }
  EXPECT_TRUE(await([&] {
    std::promise<std::uint64_t> used;
    a.store().status(5s, [&](const etcd::Answer<etcd::Status>& status) {
      used.set_value(status ? status->db_bytes_in_use : std::uint64_t{1} << 40);
    });
    return used.get_future().get() < std::uint64_t{40} << 20;
  }));
}

TEST(ThreeMembers, NothingIsLostWhenOneMemberDies) {
  EtcdMembers members(3);
  Node a(members.addresses(), "t", "a:1");
  ASSERT_TRUE(await([&] { return a.epoch() != 0; }));
  ASSERT_TRUE(a.start());
  const std::uint64_t epoch = a.epoch();
  // Its own member first, which is the one it asks; then another.
  std::uint64_t last = 0;
  for (int i = 0; i < 300; ++i) {
    if (i == 100) members.kill(0);
    if (i == 200) {
      members.start(0);
      ASSERT_TRUE(members.await_serving());
      members.signal(1, SIGSTOP);
    }
    last = a.append(epoch, std::to_string(i));
    std::this_thread::sleep_for(1ms);
  }
  // With a term of two seconds the leadership may be lost, but what is durable is not.
  ASSERT_TRUE(await([&] { return a.durable() == last || !a.failed().empty(); }));
  members.signal(1, SIGCONT);
  const std::uint64_t durable = a.durable();
  EXPECT_GE(durable, 1U);
  Node b(members.addresses(), "t", "b:1");
  std::vector<std::string> found;
  ASSERT_TRUE(await([&] {
    found = b.read();
    return found.size() >= durable;
  }));
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], std::to_string(i));
}

TEST(ThreeMembers, AllGoesOnWhenAllMembersWereAway) {
  EtcdMembers members(3);
  Node a(members.addresses(), "t", "a:1");
  ASSERT_TRUE(await([&] { return a.epoch() != 0; }));
  ASSERT_TRUE(a.start());
  const std::uint64_t epoch = a.epoch();
  a.append(epoch, "one");
  ASSERT_TRUE(await([&] { return a.durable() == 1; }));
  for (std::size_t i = 0; i < 3; ++i) members.kill(i);
  a.append(epoch, "two");
  ASSERT_TRUE(await([&] { return a.epoch() == 0; }));
  EXPECT_EQ(a.durable(), 1U);
  for (std::size_t i = 0; i < 3; ++i) members.start(i);
  ASSERT_TRUE(await([&] { return a.epoch() != 0; }));
  EXPECT_GT(a.epoch(), epoch);
  const auto found = a.start();
  ASSERT_TRUE(found) << found.error().message;
  // The second may have become durable while the first epoch's key was still there.
  EXPECT_GE(found->size(), 1U);
  a.append(a.epoch(), "three");
  EXPECT_TRUE(await([&] { return a.durable() == found->size() + 1; }));
}

}  // namespace
}  // namespace tenure::testing
