#include "cli/lock_commands.h"

#include "cli/errand_testing.h"

namespace tenure::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct LockCommandsTest : testing::Test {
  ErrandWorld world;
  Locks& locks = world.authority->locks();
  LockName name{.domain = "orders", .identifier = "17"};
};

TEST_F(LockCommandsTest, LocksTellsWhoHoldsWhat) {
  list_locks(world.errand(), {});
  EXPECT_THAT(world.take_err(), HasSubstr("no lock is held"));
  locks.acquire({.lock = name, .owner = "me"});
  EXPECT_EQ(list_locks(world.errand(), {.domain = "orders"}), kDone);
  EXPECT_THAT(world.take_out(), AllOf(HasSubstr("OWNER"), HasSubstr("orders  17    me")));
  list_locks(world.errand(true), {});
  EXPECT_THAT(world.take_out(), HasSubstr("\"owner\":\"me\""));
  list_locks(world.errand(), {.domain = "others"});
  EXPECT_EQ(world.take_out(), "");
}

TEST_F(LockCommandsTest, ForceUnlockFreesOnlyWhatWasMeant) {
  EXPECT_EQ(force_unlock(world.errand(), {.domain = "orders", .identifier = "17"}), kNotFound);
  EXPECT_THAT(world.take_err(), HasSubstr("found it free"));
  const auto grant = locks.acquire({.lock = name, .owner = "me"});
  const std::uint64_t fence = grant->fence->value;
  EXPECT_EQ(force_unlock(world.errand(), {.domain = "orders", .identifier = "17", .fence = fence + 1}), kRefused);
  EXPECT_THAT(world.take_err(), HasSubstr("held by me"));
  EXPECT_EQ(force_unlock(world.errand(), {.domain = "orders", .identifier = "17", .fence = fence}), kDone);
  EXPECT_THAT(world.take_out(), HasSubstr("orders::17 is free, it was me's"));
  EXPECT_FALSE(locks.is_locked(name));
}

TEST_F(LockCommandsTest, DomainShowsWhatIsInFlightAndWhatIsDone) {
  WorkLeases& work = world.authority->work();
  EXPECT_EQ(show_domain(world.errand(), {.domain = "account"}), kNotFound);
  for (int i = 0; i < 3; ++i) work.try_acquire({.domain = "account", .offset = {i}});
  show_domain(world.errand(), {.domain = "account"});
  EXPECT_THAT(world.take_out(), AllOf(HasSubstr("in flight      offset 0, fence 1"), HasSubstr("2, the next is 1")));
  show_domain(world.errand(), {.domain = "account", .backlog = true});
  EXPECT_EQ(world.take_out(), "1\n2\n");
  show_domain(world.errand(), {});
  EXPECT_EQ(world.take_out(), "account\n");
  const auto token = std::get<Acquired>(work.try_acquire({.domain = "account", .offset = {0}})).token;
  work.succeed({.domain = "account", .token = token});
  show_domain(world.errand(), {.domain = "account", .done = true});
  EXPECT_EQ(world.take_out(), "0..0\n");
  show_domain(world.errand(true), {.domain = "account"});
  EXPECT_THAT(world.take_out(), HasSubstr("\"processed\":1"));
}

}  // namespace
}  // namespace tenure::cli
