// Two processes read one log. One of them is killed, or stands still for so long that the other takes over: every
// domain's entries are booked in order, none is lost, and one that is booked again comes with a higher fence.
#include <csignal>
#include <functional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tenure/client.h>
#include "ledger.h"
#include "log.h"
#include "process.h"
#include "tenured.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

constexpr Millis kPatience = 60s;  // for hangs, not for speed
constexpr int kEntries = 400;      // of each domain: more than the ledger's pipe has room for

class Scene {
 public:
  explicit Scene(std::unique_ptr<Log> log) : log_(std::move(log)), domains_(log_->domains()), books_(log_->first()) {
    log_->fill(domains_, kEntries);
  }

  std::unique_ptr<Process> start(const std::vector<std::string>& domains) {
    auto words = log_->consumer(tenured_.address());
    words.insert(words.end(), domains.begin(), domains.end());
    return std::make_unique<Process>(words, log_path(), ledger_.pen());
  }

  // Books until it is so.
  void book_until(const std::function<bool()>& is_so) {
    while (!is_so()) {
      const auto booking = ledger_.next(kPatience);
      if (!booking) throw std::runtime_error("nothing more is booked:\n" + text_of_file(log_path()));
      books_.enter(*booking);
    }
  }
  // What has been written by now.
  void book_the_rest() {
    while (const auto booking = ledger_.next(0ms)) books_.enter(*booking);
  }
  // Each of these domains has as many at least.
  [[nodiscard]] std::function<bool()> has(std::int64_t count, const std::vector<std::string>& domains) const {
    return [this, count, domains] {
      return std::ranges::all_of(domains, [&](const auto& domain) { return books_.entered(domain) >= count; });
    };
  }

  void await_work_on(const std::string& domain) {
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (!work().inspect(domain)) {
      if (std::chrono::steady_clock::now() > until) throw std::runtime_error(text_of_file(log_path()));
      std::this_thread::sleep_for(10ms);
    }
  }

  // Nobody reads the ledger, so all who work on these domains come to a stop with one entry under way.
  void await_standstill(const std::vector<std::string>& domains) {
    const auto until = std::chrono::steady_clock::now() + kPatience;
    std::vector<std::optional<Offset>> before;
    for (int same = 0; same < 5;) {
      if (std::chrono::steady_clock::now() > until) throw std::runtime_error("it does not come to a stop");
      std::this_thread::sleep_for(200ms);
      std::vector<std::optional<Offset>> now;
      for (const auto& domain : domains) now.push_back(work().inspect(domain).value().offset);
      const bool is_under_way = std::ranges::all_of(now, [](const auto& offset) { return offset.has_value(); });
      same = is_under_way && now == before ? same + 1 : 0;
      before = now;
    }
  }

  WorkLeases& work() { return client_->work(); }
  [[nodiscard]] const std::vector<std::string>& domains() const { return domains_; }
  [[nodiscard]] const Books& books() const { return books_; }
  [[nodiscard]] Interval all() const { return {log_->first(), Offset{log_->first().value + kEntries - 1}}; }

 private:
  [[nodiscard]] std::string log_path() const { return folder_.path() + "/consumers"; }

  TemporaryFolder folder_;
  Tenured tenured_;
  std::unique_ptr<Client> client_ = Client::connect(tenured_.address());
  std::unique_ptr<Log> log_;
  std::vector<std::string> domains_;
  Ledger ledger_;
  Books books_;
};

void expect_all_done(Scene& scene, const std::vector<std::string>& domains) {
  for (const auto& domain : domains) {
    EXPECT_EQ(kEntries, scene.books().entered(domain)) << domain;
    // The report of the last one follows its booking.
    while (scene.work().inspect(domain)->in_flight) std::this_thread::sleep_for(1ms);
    EXPECT_THAT(scene.work().done(domain, {}).intervals, ElementsAre(scene.all())) << domain;
  }
}

void kill_one_of_two(std::unique_ptr<Log> log) {
  Scene scene(std::move(log));
  const auto& all = scene.domains();
  const auto first = scene.start({all[0], all[1]});
  scene.book_until(scene.has(1, {all[0]}));
  // The first must wait for the ledger until the second works, too.
  const auto second = scene.start({all[2], all[3], all[0], all[1]});
  scene.await_work_on(all[2]);
  scene.book_until(scene.has(20, {all[0], all[2]}));
  EXPECT_LT(scene.books().entered(all[0]), kEntries);
  first->signal(SIGKILL);
  scene.book_until(scene.has(kEntries, all));
  expect_all_done(scene, all);
  EXPECT_EQ(2U, scene.books().holders(all[0]));
  EXPECT_EQ(1U, scene.books().holders(all[2]));
  EXPECT_EQ(0, scene.books().refused());
  second->signal(SIGTERM);
  EXPECT_EQ(0, second->wait());
}

TEST(RedisStreamsTest, WhatOneLeavesWhenItIsKilledTheOtherDoes) { kill_one_of_two(make_redis()); }

TEST(KafkaTest, WhatOneLeavesWhenItIsKilledTheOtherDoes) {
  if (!can_have_kafka()) GTEST_SKIP() << "Kafka could NOT be fetched: nothing was tested";
  kill_one_of_two(make_kafka());
}

TEST(RedisStreamsTest, WhatOneWritesTooLateIsRefused) {
  Scene scene(make_redis());
  const std::vector<std::string> domains = {"a", "b"};
  const auto first = scene.start(domains);
  scene.book_until(scene.has(20, domains));
  scene.await_standstill(domains);
  first->pause();
  const auto second = scene.start(domains);
  scene.book_until(scene.has(kEntries, domains));
  expect_all_done(scene, domains);
  EXPECT_EQ(0, scene.books().refused());
  first->signal(SIGCONT);
  EXPECT_EQ(1, first->wait());
  scene.book_the_rest();
  EXPECT_GE(scene.books().refused(), 1);
  expect_all_done(scene, domains);
  second->signal(SIGTERM);
  EXPECT_EQ(0, second->wait());
}

}  // namespace
}  // namespace tenure::testing
