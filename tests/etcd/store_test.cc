// The store's calls on a real etcd.
#include <atomic>
#include <csignal>
#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/mutex.h"
#include "base/temporary_folder.h"
#include "base/whole_file.h"
#include "members.h"

namespace tenure::testing {
namespace {

using namespace etcd;  // NOLINT: it is what is tested
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A call's answer, waited for.
template <class T>
class Told {
 public:
  Tell<T> tell() {
    return [promise = promise_](Answer<T> answer) { promise->set_value(std::move(answer)); };
  }
  Answer<T> get() { return promise_->get_future().get(); }

 private:
  std::shared_ptr<std::promise<Answer<T>>> promise_ = std::make_shared<std::promise<Answer<T>>>();
};

// What a watch tells, collected.
class Seen {
 public:
  TellNews tell() {
    return [state = state_](const Answer<News>& news) {
      const MutexLock lock(state->mutex);
      if (!news) state->trouble = news.error();
      if (!news) return;
      for (const Event& event : news->events) {
        state->events.push_back((event.kind == Event::Kind::kPut ? "put " : "delete ") + event.pair.key + " " +
                                event.pair.value);
      }
    };
  }
  std::vector<std::string> events() {
    const MutexLock lock(state_->mutex);
    return state_->events;
  }
  std::optional<Trouble> trouble() {
    const MutexLock lock(state_->mutex);
    return state_->trouble;
  }

 private:
  struct State {
    Mutex mutex;
    std::vector<std::string> events;
    std::optional<Trouble> trouble;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

class GrpcStoreTest : public ::testing::Test {
 protected:
  TxnAnswer txn(Txn asked) {
    const auto answer = store_->txn_now(std::move(asked), 5s);
    EXPECT_TRUE(answer) << answer.error().why;
    return answer.value_or(TxnAnswer{});
  }
  RangeAnswer range(Range asked) {
    const auto answer = store_->range_now(std::move(asked), 5s);
    EXPECT_TRUE(answer) << answer.error().why;
    return answer.value_or(RangeAnswer{});
  }
  std::string key(const std::string& name) const { return prefix_ + "/" + name; }
  std::vector<std::string> values(const Range& asked) {
    std::vector<std::string> found;
    for (const KeyValue& pair : range(asked).found) found.push_back(pair.value);
    return found;
  }

  const std::string prefix_ = unused_prefix();
  std::unique_ptr<GrpcStore> store_ = EtcdMembers::shared().connect();
};

TEST_F(GrpcStoreTest, ATransactionIsDoneIfItsConditionsHold) {
  const Txn first{.conditions = {Compare::missing(key("a"))},
                  .puts = {{.key = key("a"), .value = "1"}, {.key = key("b"), .value = "2"}},
                  .otherwise = {{.keys = KeyRange::one(key("a"))}, {.keys = KeyRange::one(key("c"))}}};
  const TxnAnswer done = txn(first);
  EXPECT_TRUE(done.is_done);
  const TxnAnswer refused = txn(first);
  EXPECT_FALSE(refused.is_done);
  ASSERT_EQ(refused.otherwise.size(), 2U);
  EXPECT_THAT(refused.otherwise[1].found, IsEmpty());
  ASSERT_EQ(refused.otherwise[0].found.size(), 1U);
  const KeyValue found = refused.otherwise[0].found[0];
  EXPECT_EQ(found, (KeyValue{key("a"), "1", done.revision, done.revision, 0}));

  const TxnAnswer changed = txn({.conditions = {Compare::exists(key("a")), Compare::created_at(key("a"), done.revision),
                                                Compare::changed_at(key("b"), done.revision)},
                                 .puts = {{.key = key("a"), .value = "3"}},
                                 .deletes = {KeyRange::one(key("b"))}});
  EXPECT_TRUE(changed.is_done);
  const auto now = range({.keys = KeyRange::prefix(prefix_)});
  ASSERT_EQ(now.found.size(), 1U);
  EXPECT_EQ(now.found[0], (KeyValue{key("a"), "3", done.revision, changed.revision, 0}));
  EXPECT_FALSE(txn({.conditions = {Compare::exists(key("b"))}}).is_done);
  EXPECT_FALSE(txn({.conditions = {Compare::created_at(key("a"), changed.revision)}}).is_done);
  EXPECT_FALSE(txn({.conditions = {Compare::changed_at(key("a"), done.revision)}}).is_done);
}

TEST_F(GrpcStoreTest, KeysAreReadInOrder) {
  for (const char* name : {"1", "2", "3"}) txn({.puts = {{.key = key(name), .value = name}}});
  EXPECT_THAT(values({.keys = KeyRange::prefix(prefix_ + "/")}), ElementsAre("1", "2", "3"));
  EXPECT_THAT(values({.keys = KeyRange::prefix(prefix_ + "/"), .is_descending = true}), ElementsAre("3", "2", "1"));
  EXPECT_THAT(values({.keys = {key("2"), key("3")}}), ElementsAre("2"));
  EXPECT_THAT(values({.keys = KeyRange::prefix(prefix_ + "/"), .is_serializable = true, .is_keys_only = true}),
              ElementsAre("", "", ""));
  const auto page = range({.keys = KeyRange::prefix(prefix_ + "/"), .limit = 2});
  EXPECT_EQ(page.found.size(), 2U);
  EXPECT_TRUE(page.has_more);
  txn({.deletes = {KeyRange::prefix(prefix_ + "/")}});
  EXPECT_THAT(values({.keys = KeyRange::prefix(prefix_ + "/")}), IsEmpty());
}

TEST_F(GrpcStoreTest, LargeValuesComeBack) {
  const std::string large(1 << 20, 'x');
  for (const char* name : {"1", "2", "3", "4", "5", "6", "7", "8"}) txn({.puts = {{.key = key(name), .value = large}}});
  const auto all = range({.keys = KeyRange::prefix(prefix_)});
  ASSERT_EQ(all.found.size(), 8U);
  EXPECT_EQ(all.found[7].value, large);
}

TEST_F(GrpcStoreTest, WhatIsTooLargeIsRefused) {
  // Etcd refuses the first, its gRPC the second.
  for (const std::size_t bytes : {std::size_t{1600} << 10, std::size_t{3} << 20}) {
    const auto answer = store_->txn_now({.puts = {{.key = key("a"), .value = std::string(bytes, 'x')}}}, 5s);
    ASSERT_FALSE(answer);
    EXPECT_TRUE(answer.error().is_refusal) << answer.error().why;
    EXPECT_EQ(answer.error().outcome, Trouble::Outcome::kNothing);
    EXPECT_THAT(answer.error().why, HasSubstr("larg"));
  }
}

TEST_F(GrpcStoreTest, AKeyGoesWithItsLease) {
  Told<Lease> granted;
  store_->grant(1'500ms, 5s, granted.tell());
  const auto lease = granted.get();
  ASSERT_TRUE(lease) << lease.error().why;
  EXPECT_EQ(lease->ttl, 2s);
  txn({.puts = {{.key = key("a"), .value = "1", .lease = lease->id}}});
  EXPECT_EQ(range({.keys = KeyRange::one(key("a"))}).found.at(0).lease, lease->id);

  Told<Lease> kept;
  store_->keep_alive(lease->id, 5s, kept.tell());
  const auto alive = kept.get();
  ASSERT_TRUE(alive) << alive.error().why;
  EXPECT_EQ(alive->ttl, 2s);

  Told<LeaseId> revoked;
  store_->revoke(lease->id, 5s, revoked.tell());
  ASSERT_TRUE(revoked.get());
  EXPECT_THAT(range({.keys = KeyRange::one(key("a"))}).found, IsEmpty());
  Told<Lease> dead;
  store_->keep_alive(lease->id, 5s, dead.tell());
  const auto gone = dead.get();
  ASSERT_TRUE(gone) << gone.error().why;
  EXPECT_EQ(gone->ttl, 0s);
  // What is revoked twice is revoked.
  Told<LeaseId> again;
  store_->revoke(lease->id, 5s, again.tell());
  EXPECT_TRUE(again.get());
  const auto put = store_->txn_now({.puts = {{.key = key("a"), .value = "1", .lease = lease->id}}}, 5s);
  ASSERT_FALSE(put);
  EXPECT_TRUE(put.error().is_refusal);
}

TEST_F(GrpcStoreTest, AWatchTellsWhatHappensFromARevisionOn) {
  const Revision before = txn({.puts = {{.key = key("a"), .value = "1"}}}).revision;
  txn({.puts = {{.key = key("a"), .value = "2"}}});
  Seen seen;
  auto watch = store_->watch(KeyRange::prefix(prefix_), before + 1, seen.tell());
  txn({.puts = {{.key = key("b"), .value = "3"}}, .deletes = {KeyRange::one(key("a"))}});
  EXPECT_TRUE(await([&] { return seen.events().size() >= 3; }));
  EXPECT_THAT(seen.events(), ::testing::UnorderedElementsAre("put " + key("a") + " 2", "put " + key("b") + " 3",
                                                             "delete " + key("a") + " "));
  watch.reset();
  txn({.puts = {{.key = key("b"), .value = "4"}}});
  Seen other;
  watch = store_->watch(KeyRange::prefix(prefix_), before, other.tell());
  EXPECT_TRUE(await([&] { return other.events().size() == 5; }));
  EXPECT_EQ(seen.events().size(), 3U);
}

TEST_F(GrpcStoreTest, AWatchFromWhatIsCompactedEndsAndSaysSo) {
  const Revision before = txn({.puts = {{.key = key("a"), .value = "1"}}}).revision;
  const Revision now = txn({.puts = {{.key = key("a"), .value = "2"}}}).revision;
  for (int i = 0; i < 2; ++i) {
    Told<Revision> compacted;
    store_->compact(now, 5s, compacted.tell());
    EXPECT_TRUE(compacted.get());
  }
  Seen seen;
  const auto watch = store_->watch(KeyRange::prefix(prefix_), before, seen.tell());
  EXPECT_TRUE(await([&] { return seen.trouble().has_value(); }));
  EXPECT_EQ(seen.trouble()->compacted, now);
}

TEST_F(GrpcStoreTest, ItIsKnownHowLargeEtcdIs) {
  Told<Status> told;
  store_->status(5s, told.tell());
  const auto status = told.get();
  ASSERT_TRUE(status) << status.error().why;
  EXPECT_GT(status->db_bytes, 0U);
  EXPECT_GT(status->db_bytes_in_use, 0U);
  EXPECT_TRUE(status->has_leader);
  EXPECT_THAT(status->version, HasSubstr("3."));
}

TEST_F(GrpcStoreTest, ItCallsAfterAWhile) {
  std::promise<void> called;
  store_->after(10ms, [&] { called.set_value(); });
  EXPECT_EQ(called.get_future().wait_for(5s), std::future_status::ready);
}

TEST_F(GrpcStoreTest, AllThatIsUnderWayIsToldWhenItEnds) {
  std::atomic<int> told{0};
  std::atomic<int> called{0};
  Seen seen;
  std::unique_ptr<Watch> watch = store_->watch(KeyRange::prefix(prefix_), 0, seen.tell());
  for (int i = 0; i < 100; ++i) store_->range({.keys = KeyRange::one("x")}, 5s, [&](const auto&) { ++told; });
  store_->after(10min, [&] { ++called; });
  store_.reset();
  EXPECT_EQ(told, 100);
  EXPECT_EQ(called, 0);
  EXPECT_TRUE(seen.trouble());
}

TEST_F(GrpcStoreTest, AMemberThatIsNotThereIsPassedOver) {
  const GrpcStore::Options options{.members = {"127.0.0.1:1", EtcdMembers::shared().addresses()[0]}};
  GrpcStore store(options);
  const auto done = store.txn_now({.puts = {{.key = key("a"), .value = "1"}}}, 5s);
  EXPECT_TRUE(done) << done.error().why;
  EXPECT_TRUE(store.range_now({.keys = KeyRange::one(key("a"))}, 5s));
}

TEST_F(GrpcStoreTest, WhereNobodyIsNothingWasDone) {
  GrpcStore store({.members = {"127.0.0.1:1"}});
  const auto answer = store.txn_now({.puts = {{.key = key("a"), .value = "1"}}}, 5s);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().outcome, Trouble::Outcome::kNothing) << answer.error().why;
  EXPECT_FALSE(answer.error().is_refusal);
}

TEST(GrpcStoreOfItsOwn, AMemberThatHangsLeavesItUnknownAndIsLeft) {
  EtcdMembers members(3);
  const auto store = members.connect();
  ASSERT_TRUE(store->txn_now({.puts = {{.key = "a", .value = "1"}}}, 5s));
  members.signal(0, SIGSTOP);
  const auto unknown = store->txn_now({.puts = {{.key = "a", .value = "2"}}}, 500ms);
  // The first one may have been the leader: then the others elect another first.
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().outcome, Trouble::Outcome::kUnknown);
  EXPECT_TRUE(await([&] { return store->txn_now({.puts = {{.key = "a", .value = "3"}}}, 2s).has_value(); }));
  members.signal(0, SIGCONT);
}

TEST(GrpcStoreOfItsOwn, ReadsAreAnsweredThoughAMemberHangs) {
  EtcdMembers members(3);
  const auto store = members.connect();
  ASSERT_TRUE(store->txn_now({.puts = {{.key = "a", .value = "1"}}}, 5s));
  members.signal(0, SIGSTOP);
  EXPECT_TRUE(store->range_now({.keys = KeyRange::one("a"), .is_serializable = true}, 3s));
  members.signal(0, SIGCONT);
}

TEST(GrpcStoreOfItsOwn, AUserSignsIn) {
  EtcdMembers members;
  const std::string endpoint = "--endpoints=" + members.addresses()[0];
  ASSERT_TRUE(run({"etcdctl", endpoint, "user", "add", "root:secret"}));
  ASSERT_TRUE(run({"etcdctl", endpoint, "user", "grant-role", "root", "root"}));
  ASSERT_TRUE(run({"etcdctl", endpoint, "auth", "enable"}));
  GrpcStore store({.members = members.addresses(), .user = "root", .password = "secret"});
  Seen seen;
  const auto watch = store.watch(KeyRange::prefix("a"), 0, seen.tell());
  const auto done = store.txn_now({.puts = {{.key = "a", .value = "1"}}}, 5s);
  EXPECT_TRUE(done) << done.error().why;
  // The first watch may have begun before the put, or not.
  Seen from;
  const auto other = store.watch(KeyRange::prefix("a"), done->revision, from.tell());
  EXPECT_TRUE(await([&] { return from.events().size() == 1; }));

  GrpcStore wrong({.members = members.addresses(), .user = "root", .password = "guess"});
  const auto refused = wrong.range_now({.keys = KeyRange::one("a")}, 5s);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().is_refusal);
  EXPECT_THAT(refused.error().why, HasSubstr("authentication failed"));
  // Tokens are gone with a restart: it signs in again.
  members.kill(0);
  members.start(0);
  EXPECT_TRUE(await([&] { return store.range_now({.keys = KeyRange::one("a")}, 5s).has_value(); }));
}

TEST(GrpcStoreOfItsOwn, TlsProvesBothSides) {
  const TemporaryFolder folder;
  const std::string certificate = folder.path() + "/cert.pem";
  const std::string key = folder.path() + "/key.pem";
  ASSERT_TRUE(run({"openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
                   "-days", "2", "-subj", "/CN=member", "-addext", "subjectAltName=IP:127.0.0.1"}));
  EtcdMembers members(
      1, {"--cert-file=" + certificate, "--key-file=" + key, "--trusted-ca-file=" + certificate, "--client-cert-auth"},
      false);
  const std::string certificate_text = *read_whole(real_files(), certificate, 1 << 20);
  const std::string key_text = *read_whole(real_files(), key, 1 << 20);
  GrpcStore store({.members = members.addresses(),
                   .is_tls = true,
                   .tls = {.ca = certificate_text, .certificate = certificate_text, .key = key_text}});
  EXPECT_TRUE(await([&] { return store.txn_now({.puts = {{.key = "a", .value = "1"}}}, 5s).has_value(); }));
  // Without a certificate, without trust, and without TLS nothing is had.
  GrpcStore nobody({.members = members.addresses(), .is_tls = true, .tls = {.ca = certificate_text}});
  EXPECT_FALSE(nobody.range_now({.keys = KeyRange::one("a")}, 1s));
  GrpcStore distrustful(
      {.members = members.addresses(), .is_tls = true, .tls = {.certificate = certificate_text, .key = key_text}});
  EXPECT_FALSE(distrustful.range_now({.keys = KeyRange::one("a")}, 1s));
  GrpcStore plain({.members = members.addresses()});
  EXPECT_FALSE(plain.range_now({.keys = KeyRange::one("a")}, 1s));
}

}  // namespace
}  // namespace tenure::testing
