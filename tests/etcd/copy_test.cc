// `tenure journal copy` between a folder and a real etcd.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/journal_etcd.h"
#include "cli/testing.h"
#include "etcd/keys.h"
#include "members.h"

namespace tenure::cli {
namespace {

using tenure::testing::EtcdMembers;
using tenure::testing::unused_prefix;
using ::testing::HasSubstr;

class JournalCopyTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string place(const std::string& prefix) const {
    return "etcd://" + EtcdMembers::shared().addresses()[0] + "/" + prefix;
  }
  std::string copy(const std::string& from, const std::string& to) {
    CopyOptions options;
    options.from = from;
    options.to = to;
    const auto done = copy_between({world_.files, clock_, world_.entropy, out_, err_}, options);
    return done ? "" : done.error().message;
  }
  // Every record of a folder, but for those that a copy adds.
  std::vector<std::string> records(const std::string& folder) {
    std::ostringstream out;
    const auto done = dump_journal({world_.files, clock_, world_.entropy, out, err_}, {.folder = folder});
    EXPECT_TRUE(done) << done.error().message;
    std::vector<std::string> lines;
    std::istringstream in(out.str());
    for (std::string line; std::getline(in, line);) {
      if (line.find("FenceRaised") == std::string::npos && line.find("DigestTaken") == std::string::npos) {
        lines.push_back(line);
      }
    }
    return lines;
  }
  std::uint64_t fence_of(const std::string& folder) {
    Writer writer(world_.files, world_.clock, world_.entropy, folder, 1 << 20);
    const std::uint64_t fence = writer.engine().inspect([](const State& state) { return state.fence().value; });
    writer.close();
    return fence;
  }
  static void fill(Writer& writer, int count) {
    for (int i = 0; i < count; ++i) writer.get(Submission{.queue = "mail", .payload = std::string(1000, 'x')});
  }

  CommandWorld world_;
  const SystemClock clock_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(JournalCopyTest, AFolderGoesIntoEtcdAndComesBack) {
  {
    Writer writer = world_.write();
    fill(writer, 100);
    writer.lease("W1", "mail");
    writer.close();
  }
  const auto before = records(kFolder);
  const std::uint64_t fence = fence_of(kFolder);
  const std::string there = place(unused_prefix());
  ASSERT_EQ(copy(kFolder, there), "");
  EXPECT_THAT(out_.str(), HasSubstr("above all that was granted"));
  ASSERT_EQ(copy(there, "/back"), "");
  EXPECT_EQ(records("/back"), before);
  EXPECT_GT(fence_of("/back"), fence + (std::uint64_t{1} << 32));
  const auto sound = verify_journal({world_.files, clock_, world_.entropy, out_, err_}, "/back");
  EXPECT_TRUE(sound) << sound.error().message;
}

TEST_F(JournalCopyTest, WhatIsBehindASnapshotGoesWithIt) {
  std::uint64_t snapshot = 0;
  {
    Writer writer = world_.write();
    fill(writer, 50);
    writer.snapshot();
    fill(writer, 50);
    snapshot = writer.snapshot();
    writer.lease("W1", "mail");
    fill(writer, 20);
    writer.close();
  }
  const std::string there = place(unused_prefix());
  ASSERT_EQ(copy(kFolder, there), "");
  EXPECT_THAT(out_.str(), HasSubstr("behind a snapshot of frame " + std::to_string(snapshot)));
  ASSERT_EQ(copy(there, "/back"), "");
  const auto sound = verify_journal({world_.files, clock_, world_.entropy, out_, err_}, "/back");
  EXPECT_TRUE(sound) << sound.error().message;
  Writer writer(world_.files, world_.clock, world_.entropy, "/back", 1 << 20);
  EXPECT_EQ(writer.get(LeaseRequest{.worker = "W2", .queues = {"mail"}, .count = 1000}).size(), 119U);
}

TEST_F(JournalCopyTest, NothingIsCopiedOverSomething) {
  {
    Writer writer = world_.write();
    fill(writer, 1);
    writer.close();
  }
  const std::string there = place(unused_prefix());
  ASSERT_EQ(copy(kFolder, there), "");
  EXPECT_THAT(copy(kFolder, there), HasSubstr("expected no key that begins with"));
  EXPECT_THAT(copy(there, kFolder), HasSubstr("expected an empty folder or none"));
  EXPECT_THAT(copy(place(unused_prefix()), "/new"), HasSubstr("expected a journal, found none"));
  EXPECT_THAT(copy(kFolder, "/other"), HasSubstr("expected a folder and a place in etcd"));
  EXPECT_THAT(copy(there, there), HasSubstr("expected a folder and a place in etcd"));
}

TEST_F(JournalCopyTest, AnUnfinishedCopyIsNotCopied) {
  const std::string prefix = unused_prefix();
  const auto store = EtcdMembers::shared().connect();
  ASSERT_TRUE(store->txn_now({.puts = {{.key = etcd::Keys(prefix).id(), .value = std::string(32, '0')},
                                       {.key = etcd::Keys(prefix).unfinished()}}},
                             Millis{5'000}));
  EXPECT_THAT(copy(place(prefix), "/new"), HasSubstr("expected a finished copy"));
}

}  // namespace
}  // namespace tenure::cli
