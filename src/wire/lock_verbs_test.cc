// Every verb of the lock book: what is said, and the bytes of the answer (a blank for each CR LF).
#include "wire/caller_testing.h"

namespace tenure::wire {
namespace {

using LockVerbsTest = CallerTest;

TEST_F(LockVerbsTest, AcquireGivesATokenOrNil) {
  EXPECT_EQ(say("LOCK.ACQUIRE d i alice"), "*4 $18 <1> :1 :60000 :1");
  EXPECT_EQ(say("LOCK.ACQUIRE d i alice LEASE 90000"), "*4 $18 <1> :1 :90000 :2");
  EXPECT_EQ(say("LOCK.ACQUIRE d i bob"), "$-1");
  EXPECT_EQ(say3("LOCK.ACQUIRE d i bob WAIT 0"), "_");
  EXPECT_EQ(say3("LOCK.ACQUIRE d i bob SPACE other"), "*4 $18 <2> :2 :60000 :1");
}

TEST_F(LockVerbsTest, AcquireWaits) {
  say("LOCK.ACQUIRE d i alice");
  EXPECT_EQ(say("LOCK.ACQUIRE d i bob WAIT 1000"), "");
  pass(Millis{1000});
  EXPECT_EQ(caller.heard(), "$-1");
  EXPECT_EQ(say("LOCK.ACQUIRE d i bob WAIT 60000 REQUEST R"), "");
  caller.world.get(LockForce{.lock = {.domain = "d", .identifier = "i"}});
  EXPECT_EQ(caller.heard(), "*4 $18 <2> :2 :60000 :1");
}

TEST_F(LockVerbsTest, BoundIsTakenToTheServer) {
  const std::vector<std::string_view> words{"LOCK.ACQUIRE", "d", "i", "alice", "bound"};
  Request request;
  ASSERT_EQ(read_request(**find_verb(words), words, 1, request), std::nullopt);
  EXPECT_TRUE(std::get<AcquireLock>(request).is_bound);
  EXPECT_EQ(std::get<AcquireLock>(request).request.session, std::nullopt);
}

TEST_F(LockVerbsTest, ReleaseTellsWhatIsLeft) {
  say("LOCK.ACQUIRE d i alice");
  say("LOCK.ACQUIRE d i alice");
  EXPECT_EQ(say("LOCK.RELEASE d i <1>"), "*2 $4 HELD :1");
  EXPECT_EQ(say("LOCK.RELEASE d i <1> REQUEST R"), "*2 $8 RELEASED :0");
  EXPECT_EQ(say("LOCK.RELEASE d i <1> REQUEST R"), "*2 $8 RELEASED :0");
  EXPECT_EQ(say("LOCK.RELEASE d i <1>").substr(0, 8), "-NOTHELD");
  say("LOCK.ACQUIRE d i alice LEASE 10 SPACE s");
  pass(Millis{11});
  EXPECT_EQ(say("LOCK.RELEASE d i <2> SPACE s").substr(0, 8), "-EXPIRED");
}

TEST_F(LockVerbsTest, ExtendTellsFenceAndTime) {
  say("LOCK.ACQUIRE d i alice");
  pass(Millis{1000});
  EXPECT_EQ(say("LOCK.EXTEND d i <1>"), "*2 :1 :60000");
  EXPECT_EQ(say("LOCK.EXTEND d i <1> LEASE 120000 SPACE soft-locks"), "*2 :1 :120000");
  EXPECT_EQ(say("LOCK.EXTEND d i nonsense").substr(0, 8), "-NOTHELD");
}

TEST_F(LockVerbsTest, ForceTellsWhetherItDid) {
  EXPECT_EQ(say("LOCK.FORCE d i"), ":0");
  say("LOCK.ACQUIRE d i alice");
  EXPECT_EQ(say("LOCK.FORCE d i FENCE 7"), ":0");
  EXPECT_EQ(say3("LOCK.FORCE d i FENCE 1"), ":1");
  say("LOCK.ACQUIRE d i alice SPACE s");
  EXPECT_EQ(say("LOCK.FORCE d i SPACE s"), ":1");
}

TEST_F(LockVerbsTest, GetTellsWhoHoldsIt) {
  EXPECT_EQ(say("LOCK.GET d i"), "$-1");
  EXPECT_EQ(say3("LOCK.GET d i"), "_");
  say("LOCK.ACQUIRE d i alice");
  EXPECT_EQ(
      say("LOCK.GET d i"),
      "*18 $6 domain $1 d $10 identifier $1 i $5 owner $5 alice $5 fence :1 $5 holds :1 $10 granted_at :1000000000 "
      "$10 expires_at :1000060000 $12 remaining_ms :60000 $7 waiters :0");
  EXPECT_EQ(say3("LOCK.GET d i SPACE soft-locks").substr(0, 25), "%9 $6 domain $1 d $10 ide");
}

TEST_F(LockVerbsTest, ListGoesByDomain) {
  say("LOCK.ACQUIRE d i alice");
  const std::string one =
      "*1 *18 $6 domain $1 d $10 identifier $1 i $5 owner $5 alice $5 fence :1 $5 holds :1 $10 granted_at :1000000000 "
      "$10 expires_at :1000060000 $12 remaining_ms :60000 $7 waiters :0";
  EXPECT_EQ(say("LOCK.LIST"), "*2 $1 0 " + one);
  EXPECT_EQ(say("LOCK.LIST d"), "*2 $1 0 " + one);
  EXPECT_EQ(say("LOCK.LIST d COUNT 10 CURSOR 0 SPACE soft-locks"), "*2 $1 0 " + one);
  EXPECT_EQ(say("LOCK.LIST e"), "*2 $1 0 *0");
  EXPECT_EQ(say3("LOCK.LIST SPACE s"), "*2 $1 0 *0");
}

TEST_F(LockVerbsTest, AnOptionsWordInFirstPlaceIsTheOption) {
  say("LOCK.ACQUIRE count i alice");
  EXPECT_EQ(say("LOCK.LIST count 1").substr(0, 10), "*2 $1 0 *1");
  EXPECT_EQ(say("LOCK.LIST count"), "-ERR COUNT: expected n behind it, found nothing more");
}

}  // namespace
}  // namespace tenure::wire
