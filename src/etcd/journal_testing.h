// What tests of the journal in etcd share: nodes that write and read it, on an etcd in memory.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/entropy.h"
#include "etcd/etcd_journal.h"
#include "etcd/testing.h"

namespace tenure::etcd {

// A node that writes and reads the journal.
class Writer final : public Journal::Listener {
 public:
  explicit Writer(FakeEtcd& fake, const EtcdJournal::Options& options = {.in_flight = 4})
      : etcd(fake), store(fake), journal(store, Keys("t"), entropy, options) {}
  ~Writer() override { journal.listen(nullptr); }

  void on_durable(std::uint64_t sequence) override {
    EXPECT_GT(sequence, durable);
    durable = sequence;
  }
  void on_failed(Journal::Outcome how, const std::string& reason) override {
    EXPECT_FALSE(outcome.has_value());
    outcome = how;
    why = reason;
  }

  // Leads from now on, whoever did before.
  void lead() {
    static_cast<void>(etcd.txn({.deletes = {KeyRange::one("t/leader")}}));
    static_cast<void>(etcd.txn({.puts = {{.key = "t/leader", .value = "someone"}}}));
    epoch = static_cast<std::uint64_t>(etcd.revision);
  }
  Result<Done> start(std::uint64_t after = 0) {
    replayed.clear();
    outcome.reset();
    auto started = journal.start(after, [this](const Frame& frame) -> Result<Done> {
      replayed.emplace_back(frame.payload);
      return Done{};
    });
    durable = journal.durable();
    journal.listen(this);
    return started;
  }
  void write(std::initializer_list<std::string> payloads) {
    for (const std::string& payload : payloads) journal.append(epoch, Instant{++stamp}, payload);
    journal.commit();
  }
  std::vector<std::string> read(FrameRange range = {}) {
    std::vector<std::string> payloads;
    const auto done = journal.read(range, [&](const Frame& frame) -> Result<Done> {
      payloads.emplace_back(frame.payload);
      return Done{};
    });
    if (!done) payloads = {done.error().message};
    return payloads;
  }
  void pass(Millis time) {
    etcd.clock.advance(time);
    store.run();
  }

  FakeEtcd& etcd;
  FakeStore store;
  SeededEntropy entropy{1};
  std::uint64_t epoch = 0;
  std::int64_t stamp = 0;
  std::uint64_t durable = 0;
  std::optional<Journal::Outcome> outcome;
  std::string why;
  std::vector<std::string> replayed;
  EtcdJournal journal;
};

class EtcdJournalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    a_.lead();
    ASSERT_TRUE(a_.start());
  }
  std::vector<std::string> batches() {
    std::vector<std::string> keys;
    for (const auto& [key, pair] : etcd_.keys) {
      if (key.starts_with("t/journal/")) keys.push_back(std::to_string(*Keys::number_of(key)));
    }
    return keys;
  }

  ManualClock clock_;
  FakeEtcd etcd_{clock_};
  Writer a_{etcd_};
  Writer b_{etcd_};
};

}  // namespace tenure::etcd
