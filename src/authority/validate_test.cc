// Every value of every request out of its limits is refused with its code, leaves nothing behind, and of several faults
// the leftmost is named, in the order in which the protocol lists the arguments.
#include "authority/validate.h"

#include <functional>
#include <limits>

#include "authority/testing.h"

namespace tenure {
namespace {

const std::string kLongName(256, 'x');
const std::string kLongestName(255, 'x');
const std::string kLongReason(4097, 'x');
const std::string kLongestReason(4096, 'x');
constexpr std::uint64_t kPayloadMax = 1000;
const std::string kLongPayload(kPayloadMax + 1, 'x');
constexpr Millis kDay = std::chrono::hours(24);
constexpr Millis kDelayed = std::chrono::hours(24 * 366);

// Names that are none: empty, too long, control characters of both ranges, not UTF-8.
const std::vector<std::string_view> kBadNames = {
    "", kLongName, "a\nb", std::string_view("a\0b", 3), "a\x7f", "\xc2\x85", "\xff", "\xc0\x80", "\xed\xa0\x80"};

// A value made bad: what the answer must name, its code, and how it is done.
template <class Request>
struct Fault {
  std::string_view what;
  ErrorCode code;
  std::function<void(Request&)> spoil;
};

// The faults of one request, from left to right.
template <class Request>
class Faults {
 public:
  template <class Set>
  Faults& add(std::string_view what, const Set& set, ErrorCode code = ErrorCode::kInvalid) {
    faults_.push_back({what, code, set});
    return *this;
  }
  template <class Set>
  Faults& name(std::string_view what, const Set& set) {
    for (const std::string_view bad : kBadNames) add(what, [=](Request& request) { set(request, bad); });
    return *this;
  }
  template <class Set>
  Faults& lock_name(std::string_view what, const Set& set) {
    name(what, set);
    for (const std::string_view bad : {"::", "a::b"}) add(what, [=](Request& request) { set(request, bad); });
    return *this;
  }
  template <class Set>
  Faults& lease(std::string_view what, const Set& set) {
    for (const Millis bad : {Millis{0}, Millis{-1}, kDay + Millis{1}, Millis::max(), Millis::min()}) {
      add(what, [=](Request& request) { set(request, bad); });
    }
    return *this;
  }
  template <class Set>
  Faults& outside(std::string_view what, std::int64_t low, std::int64_t high, const Set& set) {
    for (const std::int64_t bad :
         {low - 1, high + 1, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
      add(what, [=](Request& request) { set(request, bad); });
    }
    return *this;
  }

  // Asks with each fault alone, and with it and all that lie to its right.
  void prove(const Request& good) const {
    World world(Settings{.payload_bytes_max = kPayloadMax});
    const Digest before = world.digest();
    for (std::size_t i = 0; i < faults_.size(); ++i) {
      Request alone = good;
      faults_[i].spoil(alone);
      expect(world, alone, i);
      Request with_the_rest = good;
      for (std::size_t later = faults_.size(); later-- > i;) faults_[later].spoil(with_the_rest);
      expect(world, with_the_rest, i);
    }
    EXPECT_EQ(0U, world.frame_count());
    EXPECT_EQ(before, world.digest());
  }

 private:
  void expect(World& world, const Request& request, std::size_t i) const {
    const auto reply = world.ask(request);
    ASSERT_FALSE(reply.has_value()) << "fault " << i << ", " << faults_[i].what;
    EXPECT_EQ(to_string(faults_[i].code), to_string(reply.error().code)) << reply.error().message;
    EXPECT_THAT(reply.error().message, ::testing::StartsWith(std::string(faults_[i].what) + ":")) << "fault " << i;
  }

  std::vector<Fault<Request>> faults_;
};

// Faults of the values that several requests have; each sets one member.
#define SET(member) [](auto& request, auto value) { request.member = value; }
#define SET_MILLIS(member) [](auto& request, std::int64_t value) { request.member = Millis{value}; }

TEST(ValidateTest, Submission) {
  Faults<Submission> faults;
  faults.name("queue", SET(queue))
      .add(
          "payload", [](Submission& request) { request.payload = kLongPayload; }, ErrorCode::kTooLarge)
      .name("id", SET(id))
      .name("request id", SET(request_id))
      .lease("window", SET(window))
      .outside("retries", 0, (std::int64_t{1} << 31) - 1, SET(retries))
      .outside("backoff initial", 0, kDelayed.count(), SET_MILLIS(backoff_initial))
      .outside("backoff max", 0, kDelayed.count(),
               [](Submission& request, std::int64_t value) {
                 request.backoff_initial = Millis{0};
                 request.backoff_max = Millis{value};
               })
      .add("backoff initial",
           [](Submission& request) {
             request.backoff_initial = Millis{11};
             request.backoff_max = Millis{10};
           })
      .outside("attempts", 1, (std::int64_t{1} << 31) - 1, SET(attempts))
      .outside("delay", 0, kDelayed.count(), SET_MILLIS(delay))
      .outside("priority", 0, 9, SET(priority))
      .name("key", SET(key))
      .prove({.queue = "q", .payload = "p"});
}

TEST(ValidateTest, LeaseRequest) {
  Faults<LeaseRequest> faults;
  faults.name("worker", SET(worker))
      .add("number of queues", [](LeaseRequest& request) { request.queues.clear(); })
      .name("queue", [](LeaseRequest& request, std::string_view bad) { request.queues = {"q", bad}; })
      .outside("count", 1, 1000, SET(count))
      .lease("lease", SET(lease))
      .name("request id", SET(request_id));
  faults.prove({.worker = "w", .queues = {"q"}});
}

TEST(ValidateTest, TaskExtension) {
  Faults<TaskExtension>()
      .name("task id", SET(task_id))
      .add("lease id", [](TaskExtension& request) { request.lease_id = kLongName; })
      .lease("lease", SET(lease))
      .prove({"t", "l"});
}

TEST(ValidateTest, Completion) {
  Faults<Completion>()
      .name("task id", SET(task_id))
      .add("lease id", [](Completion& request) { request.lease_id = kLongName; })
      .add(
          "result", [](Completion& request) { request.result = kLongPayload; }, ErrorCode::kTooLarge)
      .prove({"t", "l"});
}

TEST(ValidateTest, FailureReport) {
  Faults<FailureReport>()
      .name("task id", SET(task_id))
      .add("lease id", [](FailureReport& request) { request.lease_id = kLongName; })
      .add("reason", [](FailureReport& request) { request.reason = kLongReason; })
      .prove({"t", "l", "r"});
}

TEST(ValidateTest, TaskKill) {
  Faults<TaskKill>()
      .name("task id", SET(task_id))
      .add("reason", [](TaskKill& request) { request.reason = kLongReason; })
      .prove({"t", "r"});
}

TEST(ValidateTest, Resubmission) {
  Faults<Resubmission>().name("task id", SET(task_id)).name("request id", SET(request_id)).prove({"t"});
}

TEST(ValidateTest, QueuePause) { Faults<QueuePause>().name("queue", SET(queue)).prove({"q"}); }

TEST(ValidateTest, TaskQueries) {
  Faults<GetTask>().name("task id", SET(task_id)).prove({"t"});
  Faults<GetHistory>().name("task id", SET(task_id)).prove({"t"});
  Faults<AwaitTask>().name("task id", SET(task_id)).prove({"t"});
}

TEST(ValidateTest, WorkRequest) {
  Faults<WorkRequest>()
      .name("domain", SET(domain))
      .add("offset", [](WorkRequest& request) { request.offset = Offset{-1}; })
      .add("offset", [](WorkRequest& request) { request.offset = Offset{std::numeric_limits<std::int64_t>::min()}; })
      .lease("lease", SET(lease))
      .prove({"d", Offset{1}});
}

TEST(ValidateTest, WorkReports) {
  Faults<WorkSuccess>()
      .name("domain", SET(domain))
      .add("token", [](WorkSuccess& request) { request.token = kLongName; })
      .name("request id", SET(request_id))
      .prove({"d", "t"});
  Faults<WorkFailure>()
      .name("domain", SET(domain))
      .add("token", [](WorkFailure& request) { request.token = kLongName; })
      .add("reason", [](WorkFailure& request) { request.reason = kLongReason; })
      .name("request id", SET(request_id))
      .prove({"d", "t"});
  Faults<WorkExtension>()
      .name("domain", SET(domain))
      .add("token", [](WorkExtension& request) { request.token = kLongName; })
      .lease("lease", SET(lease))
      .prove({"d", "t", Millis{1}});
  Faults<WorkTrim>()
      .name("domain", SET(domain))
      .add("below", [](WorkTrim& request) { request.below = Offset{-1}; })
      .prove({"d", Offset{1}});
}

TEST(ValidateTest, LockAcquire) {
  Faults<LockAcquire>()
      .lock_name("domain", SET(lock.domain))
      .lock_name("identifier", SET(lock.identifier))
      .name("owner", SET(owner))
      .lease("lease", SET(lease))
      .name("request id", SET(request_id))
      .name("session", SET(session))
      .name("space", SET(lock.space))
      .prove(acquire_by("a"));
}

TEST(ValidateTest, LockGiveBack) {
  Faults<LockGiveBack>()
      .lock_name("domain", SET(lock.domain))
      .lock_name("identifier", SET(lock.identifier))
      .add("token", [](LockGiveBack& request) { request.token = kLongName; })
      .name("request id", SET(request_id))
      .name("space", SET(lock.space))
      .prove(release_of("t"));
}

TEST(ValidateTest, LockExtension) {
  Faults<LockExtension>()
      .lock_name("domain", SET(lock.domain))
      .lock_name("identifier", SET(lock.identifier))
      .add("token", [](LockExtension& request) { request.token = kLongName; })
      .lease("lease", SET(lease))
      .name("space", SET(lock.space))
      .prove({lock_named("1"), "t"});
}

TEST(ValidateTest, LockForceAndGet) {
  Faults<LockForce>()
      .lock_name("domain", SET(lock.domain))
      .lock_name("identifier", SET(lock.identifier))
      .name("space", SET(lock.space))
      .prove({lock_named("1")});
  Faults<GetLock>()
      .lock_name("domain", SET(lock.domain))
      .lock_name("identifier", SET(lock.identifier))
      .name("space", SET(lock.space))
      .prove({lock_named("1")});
}

template <class Request>
Faults<Request>& add_paging(Faults<Request>& faults) {
  faults.outside("count", 1, 1000, SET(paging.count));
  for (const std::string_view bad : {"", "x", "-1", "00", "99999999999999999999", "1.x", ".", "\n"}) {
    faults.add("cursor", [=](Request& request) { request.paging.cursor = bad; });
  }
  return faults;
}

TEST(ValidateTest, Listings) {
  Faults<ListQueues> queues;
  add_paging(queues).prove({});
  Faults<ListWorkers> workers;
  add_paging(workers).prove({});
  Faults<ListDomains> domains;
  add_paging(domains).prove({});
  Faults<ListTasks> tasks;
  add_paging(tasks.name("queue", SET(queue))).prove({{.queue = "q"}});
  Faults<ListBacklog> backlog;
  add_paging(backlog.name("domain", SET(domain))).prove({"d", {}});
  Faults<ListFailedOffsets> failed;
  add_paging(failed.name("domain", SET(domain))).prove({"d", {}});
  Faults<ListDone> done;
  add_paging(done.name("domain", SET(domain))).prove({"d", {}});
  Faults<ListLocks> locks;
  add_paging(locks.lock_name("domain", SET(domain))).prove({});
  Faults<ListLocks>().name("space", SET(space)).prove({});
  Faults<InspectDomain>().name("domain", SET(domain)).prove({"d"});
}

TEST(ValidateTest, TheTimeToBlock) {
  World world;
  for (const Millis bad : {Millis{-1}, kDay + Millis{1}, Millis::max(), Millis::min()}) {
    const auto lease = world.wait_for_task("w", {"q"}, bad);
    EXPECT_EQ("INVALID", word(lease.answer()));
    EXPECT_EQ(0U, lease.ticket);
    EXPECT_EQ("INVALID", word(world.wait_for_lock("a", "1", bad).answer()));
    EXPECT_EQ("INVALID", word(world.wait(AwaitTask{"t"}, bad).answer()));
  }
  EXPECT_EQ(0U, world.frame_count());
  EXPECT_FALSE(world.wait_for_task("w", {"q"}, kDay).answered());
}

TEST(ValidateTest, TheTimeToBlockComesBehindTheArguments) {
  World world;
  const auto told = [&](const auto& request) { return why(world.wait(request, Millis{-1}).answer()); };
  EXPECT_THAT(told(LeaseRequest{.worker = "", .queues = {"q"}}), ::testing::StartsWith("worker:"));
  EXPECT_THAT(told(LeaseRequest{.worker = "w", .queues = {"q"}, .lease = Millis{0}}), ::testing::StartsWith("lease:"));
  EXPECT_THAT(told(acquire_by("")), ::testing::StartsWith("owner:"));
  EXPECT_THAT(told(AwaitTask{""}), ::testing::StartsWith("task id:"));
}

TEST(ValidateTest, WhatIsJustWithinItsLimitsIsTaken) {
  World world(Settings{.payload_bytes_max = kPayloadMax});
  const std::string payload(kPayloadMax, 'x');
  const std::string task = world
                               .get(Submission{.queue = kLongestName,
                                               .payload = payload,
                                               .id = kLongestName,
                                               .request_id = kLongestName,
                                               .window = kDay,
                                               .retries = (std::int64_t{1} << 31) - 1,
                                               .backoff_initial = kDelayed,
                                               .backoff_max = kDelayed,
                                               .attempts = (std::int64_t{1} << 31) - 1,
                                               .priority = 9,
                                               .key = kLongestName})
                               .task_id;
  const auto lease =
      world.get(LeaseRequest{.worker = kLongestName, .queues = {kLongestName}, .count = 1000, .lease = kDay}).at(0);
  EXPECT_EQ(kDay, lease.remaining);
  EXPECT_EQ(TaskState::kWaiting, world.get(FailureReport{task, lease.lease_id, kLongestReason}));
  EXPECT_EQ(Report::kCancelled, world.get(Completion{task, kLongestName, payload}));
  world.get(Submission{.queue = "q",
                       .payload = "",
                       .window = Millis{1},
                       .retries = 0,
                       .backoff_initial = Millis{0},
                       .backoff_max = Millis{0},
                       .attempts = 1,
                       .delay = kDelayed,
                       .priority = 0});
  world.get(WorkRequest{kLongestName, Offset{std::numeric_limits<std::int64_t>::max()}, Millis{1}});
  EXPECT_EQ("TOKENMISMATCH", word(world.ask(WorkSuccess{kLongestName, kLongestName})));
  LockAcquire acquire = acquire_by(kLongestName, kLongestName);
  acquire.lock.domain = "a:b:";
  acquire.lock.space = "a::b";  // only the two halves of a lock's key may not contain it
  EXPECT_TRUE(world.get(acquire).has_value());
}

}  // namespace
}  // namespace tenure
