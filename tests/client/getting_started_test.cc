// The program in docs/client.md, which is what stands between the marks here.
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host.h"

// --- begin ---
#include <tenure/client.h>

void greet(const std::string& address) {
  const auto authority = tenure::Client::connect(address);

  // Somebody has something to do ...
  authority->tasks().submit({.queue = "mail", .payload = "hello"});

  // ... and somebody does it.
  for (const auto& task : authority->tasks().lease({.worker = "w1", .queues = {"mail"}}, std::chrono::seconds(30))) {
    const tenure::LockName lock{.domain = "mailbox", .identifier = "1"};
    const auto grant = authority->locks().acquire({.lock = lock, .owner = "w1"}, std::chrono::seconds(5));
    if (!grant) continue;
    // The mailbox is ours: grant->fence proves it to whoever remembers the highest one.
    authority->tasks().complete({.task_id = task.task_id, .lease_id = task.lease_id, .result = "sent"});
    authority->locks().release({.lock = lock, .token = grant->token});
  }
}
// --- end ---

namespace tenure::testing {
namespace {

std::string text_between(const std::string& path, const std::string& begin, const std::string& end) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  const std::string all = text.str();
  const std::size_t from = all.find(begin);
  if (from == std::string::npos) return path + " has no " + begin;
  return all.substr(from + begin.size(), all.find(end, from + begin.size()) - from - begin.size());
}

TEST(GettingStartedTest, Works) {
  const Host host;
  greet(host.address());
  const auto client = Client::connect(host.address());
  EXPECT_EQ(1U, client->tasks().queues({}).queues.at(0).completed);
  EXPECT_TRUE(client->locks().list({}).locks.empty());
}

TEST(GettingStartedTest, IsWhatThePageShows) {
  EXPECT_EQ(text_between("docs/client.md", "```cpp\n", "```"),
            text_between("tests/client/getting_started_test.cc", "\n// --- begin ---\n", "// --- end ---"));
}

}  // namespace
}  // namespace tenure::testing
