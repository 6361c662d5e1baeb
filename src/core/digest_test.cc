// The digest: a sum that can be adjusted, and that every field of every entity has a part in.
#include "core/digest.h"

#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/testing.h"

namespace tenure {
namespace {

// --- the sum ---

TEST(DigestTest, CarriesFromTheLowHalfToTheHigh) {
  Digest sum{1, std::numeric_limits<std::uint64_t>::max()};
  sum += Digest{0, 1};
  EXPECT_EQ((Digest{2, 0}), sum);
  sum -= Digest{0, 1};
  EXPECT_EQ((Digest{1, std::numeric_limits<std::uint64_t>::max()}), sum);
  EXPECT_EQ(1U, sum.high());
  EXPECT_EQ(std::numeric_limits<std::uint64_t>::max(), sum.low());
}

RC_GTEST_PROP(DigestTest, SubtractionUndoesAdditionInAnyOrder,
              (std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d)) {
  const auto wide = [](std::uint64_t value) { return value * 0x9e3779b97f4a7c15U; };
  const Digest first{wide(a), wide(b)};
  const Digest second{wide(c), wide(d)};
  Digest sum = first;
  sum += second;
  Digest other_way = second;
  other_way += first;
  RC_ASSERT(sum == other_way);
  sum -= first;
  RC_ASSERT(sum == second);
  sum -= second;
  RC_ASSERT(sum == Digest());
}

struct Plain {
  std::string_view a;
  std::string_view b;
  std::optional<Offset> c{};
  std::optional<Offset> d{};

  template <class V>
  void fields(V&& visit) const {
    visit("a", a);
    visit("b", b);
    visit("c", c);
    visit("d", d);
  }
};

TEST(DigestTest, TheKindOfAnEntityIsPartOfItsHash) {
  EXPECT_NE(digest_of(Entity::kTask, Plain{}), digest_of(Entity::kLock, Plain{}));
}

TEST(DigestTest, NeighbouringFieldsDoNotRunIntoEachOther) {
  const auto of = [](std::string_view a, std::string_view b) { return digest_of(Entity::kTask, Plain{a, b}); };
  const std::string long_text(100, 'x');
  EXPECT_NE(of("ab", "c"), of("a", "bc"));
  EXPECT_NE(of("", "x"), of("x", ""));
  EXPECT_NE(of("a", ""), of(std::string_view("a\0", 2), ""));
  EXPECT_NE(of(long_text, ""), of("", long_text));
  EXPECT_NE(of(long_text, ""), of(std::string_view(long_text).substr(1), ""));
  EXPECT_NE(digest_of(Entity::kTask, Plain{.a = "", .b = "", .c = Offset{1}}),
            digest_of(Entity::kTask, Plain{.a = "", .b = "", .d = Offset{1}}));
  EXPECT_NE(digest_of(Entity::kTask, Plain{.a = "", .b = "", .c = Offset{0}}), digest_of(Entity::kTask, Plain{}));
}

// --- every field counts ---

// Hashes an entity like EntityHash, but with one field changed in place while it is looked at.
class Tamper {
 public:
  Tamper(Entity kind, std::size_t which) : hash_(kind), which_(which) {}

  template <class T>
  void operator()(std::string_view name, const T& value) {
    if (seen_++ != which_) {
      hash_(name, value);
      return;
    }
    name_ = name;
    change(name, const_cast<T&>(value));
  }

  [[nodiscard]] std::size_t fields() const { return seen_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool changed() const { return changed_; }
  [[nodiscard]] Digest digest() const { return hash_.digest(); }

 private:
  template <class T>
  void change(std::string_view name, T& value) {
    if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      const std::string_view text = value;
      changed_ = !text.empty();
      if (!text.empty()) const_cast<char*>(text.data())[text.size() - 1] ^= 1;
      hash_(name, value);
      if (!text.empty()) const_cast<char*>(text.data())[text.size() - 1] ^= 1;
    } else {
      const T before = value;
      value = other(before);
      changed_ = true;
      hash_(name, value);
      value = before;
    }
  }

  static bool other(bool value) { return !value; }
  template <class T>
    requires std::is_integral_v<T>
  static T other(T value) {
    return static_cast<T>(value + 1);
  }
  template <class T>
    requires std::is_enum_v<T>
  static T other(T value) {
    return static_cast<T>(static_cast<int>(value) ^ 1);
  }
  static Instant other(Instant value) { return Instant{value.ms - 1}; }
  static Millis other(Millis value) { return value + Millis{1}; }
  static Fence other(Fence value) { return Fence{value.value + 1}; }
  static Offset other(Offset value) { return Offset{value.value + 1}; }
  static Token other(Token value) { return {value.fence, value.secret + 1}; }
  template <class T>
  static std::optional<T> other(const std::optional<T>& value) {
    return value ? std::nullopt : std::optional<T>(T{});
  }

  EntityHash hash_;
  const std::size_t which_;
  std::size_t seen_ = 0;
  std::string name_;
  bool changed_ = false;
};

// A state with entities of every kind, their texts not empty.
void fill(Ledger& ledger) {
  ledger.ask(Submission{.queue = "q", .payload = "p", .id = "T1", .request_id = "r1", .key = "k"});
  const auto lease = ledger.ask(LeaseRequest{.worker = "w", .queues = {"q"}, .request_id = "r2"}).value();
  ASSERT_EQ(1U, lease.size());
  ledger.ask(FailureReport{.task_id = "T1", .lease_id = lease[0].lease_id, .reason = "why"});
  ledger.ask(Completion{.task_id = "T1", .lease_id = "unknown"});
  ledger.submit("T2", "q2");
  const auto done = ledger.lease("q2");
  ledger.ask(Completion{.task_id = "T2", .lease_id = done->lease_id, .result = "result"});
  ledger.submit("T3", "q2");
  ledger.lease("q2");
  ledger.ask(QueuePause{"paused", true});

  const Acquired one = ledger.acquire("d", 1);
  ledger.ask(WorkSuccess{.domain = "d", .token = one.token, .request_id = "r3"});
  ledger.settings.work_retries_max = 0;
  const Acquired two = ledger.acquire("d", 2);
  ledger.ask(WorkFailure{.domain = "d", .token = two.token});
  ledger.acquire("d", 3, kMinute);
  ledger.ask(WorkRequest{.domain = "d", .offset = Offset{4}});
  ledger.acquire("e", 9, Millis{1});

  LockAcquire acquire{};
  acquire.lock = {"d", "i"};
  acquire.owner = "owner";
  acquire.user = "user";
  acquire.session = "session";
  acquire.request_id = "r4";
  ASSERT_TRUE(ledger.ask(acquire).value());
  ledger.lock("lost");
  ASSERT_TRUE(ledger.ask(LockForce{.lock = {"d", "lost"}}).value());
  ledger.advance(Millis{2});  // domain e's lease is lost
}

std::string name_of_entity(Entity kind) { return std::to_string(static_cast<int>(kind)); }

TEST(DigestTest, ChangingAnyOneFieldChangesTheDigest) {
  Ledger ledger;
  fill(ledger);
  State& state = ledger.state();
  const Digest digest = state.recompute_digest();
  ASSERT_EQ(state.digest(), digest);
  std::set<std::string> seen;
  std::set<std::string> changed;
  std::set<Entity> kinds;
  state.visit_entities([&](Entity kind, const auto& entity) {
    kinds.insert(kind);
    std::size_t fields = 1;
    for (std::size_t which = 0; which < fields; ++which) {
      Tamper tamper(kind, which);
      entity.fields(tamper);
      fields = tamper.fields();
      const std::string place = name_of_entity(kind) + "." + tamper.name();
      seen.insert(place);
      if (!tamper.changed()) continue;
      changed.insert(place);
      Digest other = digest;
      other -= digest_of(kind, entity);
      other += tamper.digest();
      EXPECT_NE(digest, other) << place;
    }
  });
  EXPECT_EQ(seen, changed) << "a field whose text is empty in every entity was not tried";
  EXPECT_GT(changed.size(), 80U);
  for (int kind = static_cast<int>(Entity::kCounters); kind <= static_cast<int>(Entity::kLockArchive); ++kind) {
    EXPECT_TRUE(kinds.contains(static_cast<Entity>(kind))) << "entity kind " << kind << " was never seen";
  }
  EXPECT_EQ(digest, state.recompute_digest()) << "what was changed was changed back";
}

// What was changed in place is seen by a full recomputation too.
TEST(DigestTest, RecomputationSeesAChangeInPlace) {
  Ledger ledger;
  fill(ledger);
  const Digest digest = ledger.state().recompute_digest();
  const auto sees = [&](auto& member) {
    const auto before = member;
    member = {};
    const bool differs = ledger.state().recompute_digest() != digest;
    member = before;
    return differs;
  };
  Task& task = const_cast<Task&>(*ledger.tasks().find("T3"));
  EXPECT_TRUE(sees(task.number));
  EXPECT_TRUE(sees(task.state));
  EXPECT_TRUE(sees(task.payload_hash));
  EXPECT_TRUE(sees(task.story->expires_at));
  EXPECT_TRUE(sees(task.current().worker));
  Domain& domain = const_cast<Domain&>(*ledger.work().find("d"));
  EXPECT_TRUE(sees(domain.hold->token));
  EXPECT_TRUE(sees(domain.hold));
  Lock& lock = const_cast<Lock&>(*ledger.locks().find({"d", "i"}));
  EXPECT_TRUE(sees(lock.holds));
  EXPECT_TRUE(sees(lock.grace) || lock.grace == Millis{0});
  EXPECT_EQ(digest, ledger.state().recompute_digest());
}

// A member that is added to one of these must be added to its fields, or named here as one that is derived.
template <class T>
std::size_t fields_of(const T& entity) {
  std::size_t count = 0;
  entity.fields([&](std::string_view, const auto&) { ++count; });
  return count;
}

TEST(DigestTest, EveryMemberOfASimpleEntityIsAField) {
  const auto& [a1, a2, a3, a4, a5, a6, summed, a7, a8, a9, a10, a11, digest] = Attempt{};
  static_cast<void>(std::tie(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, summed, digest));  // these two are derived
  EXPECT_EQ(11U, fields_of(Attempt{}));
  const auto& [b1, b2, b3] = BacklogEntry{};
  static_cast<void>(std::tie(b1, b2, b3));
  EXPECT_EQ(3U, fields_of(BacklogEntry{}));
  const auto& [w1, w2] = WorkAnswer{};
  static_cast<void>(std::tie(w1, w2));
  EXPECT_EQ(2U, fields_of(WorkAnswer{}));
  const auto& [l1, l2] = LockAnswer{};
  static_cast<void>(std::tie(l1, l2));
  EXPECT_EQ(2U, fields_of(LockAnswer{}));
}

// More than wait in line; some change when they are in the digest, some when they are not yet, and some go.
TEST(DigestTest, WhatWaitsInALongLineIsInTheDigestOnce) {
  constexpr std::uint64_t kTasks = 5 * LateSum<Task>::kPlaces / 2;
  State state;
  std::uint64_t fences = 0;
  const auto apply = [&](const Record& record) { ASSERT_EQ(nullptr, state.apply(Instant{1}, record)); };
  for (std::uint64_t i = 0; i < kTasks; ++i) apply(created("T" + std::to_string(i)));
  for (std::uint64_t i = 0; i < kTasks; i += 3) {
    const std::string id = "T" + std::to_string(i);
    const Token token = token_of(++fences);
    apply(granted(id, token, 1, Instant{100}));
    if (i % 2 == 0) apply(record::TaskCompleted{id, token, "result"});
  }
  for (std::uint64_t i = 0; i < 10; ++i) apply(record::Forgotten{Remembered::kTask, "T" + std::to_string(6 * i)});
  const Digest digest = state.digest();
  EXPECT_EQ(state.recompute_digest(), digest);
  EXPECT_EQ(digest, state.digest());
  apply(granted("T1", token_of(++fences), 1, Instant{100}));
  EXPECT_NE(digest, state.digest());
  EXPECT_EQ(state.recompute_digest(), state.digest());
}

TEST(DigestTest, APayloadThatDiffersInOneByteIsAnotherState) {
  State one;
  State two;
  record::TaskCreated record = created("T1");
  ASSERT_EQ(nullptr, one.apply(Instant{1}, record));
  record.payload = "Q";
  ASSERT_EQ(nullptr, two.apply(Instant{1}, record));
  EXPECT_NE(one.digest(), two.digest());
}

}  // namespace
}  // namespace tenure
