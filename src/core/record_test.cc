// The declarations in record.h, and how records look as JSON.
#include "core/record.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/record_codec.h"
#include "core/testing.h"

namespace tenure {
namespace {

// --- the tables are complete ---

// How many members an aggregate has: as many as it takes empty braces. (A pack cannot expand to braces.)
template <class T>
consteval std::size_t arity() {
  if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; })
    return 13;
  else if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; })
    return 12;
  else if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; })
    return 11;
  else if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; })
    return 10;
  else if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}}; })
    return 9;
  else if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}}; })
    return 8;
  else if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}}; })
    return 7;
  else if constexpr (requires { T{{}, {}, {}, {}, {}, {}}; })
    return 6;
  else if constexpr (requires { T{{}, {}, {}, {}, {}}; })
    return 5;
  else if constexpr (requires { T{{}, {}, {}, {}}; })
    return 4;
  else if constexpr (requires { T{{}, {}, {}}; })
    return 3;
  else if constexpr (requires { T{{}, {}}; })
    return 2;
  else
    return 1;
}

template <class T>
consteval bool every_member_is_in_the_table() {
  return arity<T>() == std::tuple_size_v<decltype(T::table())> && arity<T>() < 13;
}

// No number is used twice, and all fit the codec's set of fields seen.
template <class T>
consteval bool numbers_are_unique() {
  std::uint64_t seen = 0;
  bool unique = true;
  std::apply(
      [&](const auto&... fields) {
        ((unique = unique && fields.number > 0 && fields.number < 64 && (seen >> fields.number & 1) == 0,
          seen |= std::uint64_t{1} << fields.number),
         ...);
      },
      T::table());
  return unique;
}

// No member stands in two rows: give each member of a certain type a place of its own.
template <class T>
bool members_are_unique() {
  T value;
  std::set<const void*> members;
  std::apply([&](const auto&... fields) { (members.insert(&(value.*fields.member)), ...); }, T::table());
  return members.size() == std::tuple_size_v<decltype(T::table())>;
}

template <class T>
class DeclarationTest : public testing::Test {};

template <class Variant>
struct DeclaredIn;
template <class... T>
struct DeclaredIn<std::variant<T...>> {
  using type = testing::Types<T..., RetryPolicy, RequestMark>;
};
TYPED_TEST_SUITE(DeclarationTest, DeclaredIn<Record>::type);

TYPED_TEST(DeclarationTest, NamesEveryMemberOnceAndNumbersItOnce) {
  static_assert(every_member_is_in_the_table<TypeParam>());
  static_assert(numbers_are_unique<TypeParam>());
  EXPECT_TRUE(members_are_unique<TypeParam>());
  std::set<std::string_view> names;
  std::apply([&](const auto&... fields) { (names.insert(fields.name), ...); }, TypeParam::table());
  EXPECT_EQ(std::tuple_size_v<decltype(TypeParam::table())>, names.size());
}

// A value that differs.
template <class T>
T other(const T& value) {
  if constexpr (requires { T::table(); }) {
    T changed = value;
    auto& first = changed.*std::get<0>(T::table()).member;
    first = other(first);
    return changed;
  } else if constexpr (requires { value.has_value(); }) {
    return value ? T() : T(typename T::value_type());
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    return value.empty() ? "other" : "";
  } else if constexpr (std::is_same_v<T, Token>) {
    return {value.fence, value.secret + 1};
  } else if constexpr (std::is_same_v<T, Digest>) {
    return {value.high(), value.low() + 1};
  } else if constexpr (std::is_same_v<T, Millis>) {
    return value + Millis{1};
  } else if constexpr (std::is_same_v<T, Instant>) {
    return {value.ms + 1};
  } else if constexpr (std::is_same_v<T, Fence> || std::is_same_v<T, Offset>) {
    return {value.value + 1};
  } else {
    return static_cast<T>(static_cast<std::uint64_t>(value) + 1);
  }
}

TYPED_TEST(DeclarationTest, DiffersWhenAnyOneMemberDoes) {
  const TypeParam record{};
  EXPECT_EQ(record, TypeParam{});
  const auto differs = [&](const auto& field) {
    TypeParam changed{};
    changed.*field.member = other(changed.*field.member);
    EXPECT_NE(record, changed) << field.name;
  };
  std::apply([&](const auto&... fields) { (differs(fields), ...); }, TypeParam::table());
}

template <class... T>
std::vector<std::uint32_t> types_of(std::type_identity<std::variant<T...>>) {
  return {T::kType...};
}

TEST(RecordTest, TypeNumbersAreUnique) {
  const auto types = types_of(std::type_identity<Record>{});
  EXPECT_EQ(types.size(), std::set(types.begin(), types.end()).size());
}

// The numbers are kept for ever, and so is the order: whoever changes one must change this test, and should not. New
// ones come last.
TEST(RecordTest, TypeNumbersAreWhatTheyAlwaysWere) {
  EXPECT_THAT(types_of(std::type_identity<Record>{}),
              testing::ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 20, 21, 22, 23, 24, 25, 26, 27, 40, 41, 42, 43, 44, 45, 60,
                                   61, 62, 63, 64));
  EXPECT_THAT(
      record_names(),
      testing::ElementsAre("TaskCreated", "LeaseGranted", "LeaseExtended", "TaskCompleted", "TaskFailed",
                           "TaskCancelled", "LeaseExpired", "TaskDead", "WorkAcquired", "WorkEnqueued", "WorkSucceeded",
                           "WorkRetried", "WorkGivenUp", "WorkExtended", "WorkExpired", "WorkTrimmed", "LockGranted",
                           "LockReentered", "LockExtended", "LockReleased", "LockExpired", "LockForced", "Forgotten",
                           "QueuePaused", "QueueResumed", "FenceRaised", "DigestTaken"));
}

// The bytes of one record, as the grammar in record_codec.h has it.
TEST(RecordTest, BytesAreWhatTheyAlwaysWere) {
  std::string bytes;
  encode(record::WorkEnqueued{"d", Offset{-3}}, bytes);
  EXPECT_EQ(std::string("\x15\x05\x0d\x01"
                        "d\x14\x05"),
            bytes);
}

// --- comparison ---

TEST(RecordTest, RecordsAreEqualWhenEveryFieldIs) {
  EXPECT_EQ(Record(created("T1")), Record(created("T1")));
  EXPECT_NE(Record(created("T1")), Record(created("T2")));
  record::TaskCreated with_queue = created("T1");
  with_queue.queue = "";
  EXPECT_NE(Record(created("T1")), Record(with_queue));
  EXPECT_NE(Record(record::QueuePaused{"q"}), Record(record::QueueResumed{"q"}));
}

// --- JSON ---

TEST(RecordTest, JsonShowsTheFieldsThatArePresent) {
  EXPECT_EQ(R"({"record":"TaskCreated","task_id":"T1","payload":"P","execution_window_ms":300000,)"
            R"("retry_policy":{"retries":3,"backoff_initial_ms":1000,"backoff_max_ms":300000}})",
            to_json(created("T1")));
}

TEST(RecordTest, JsonShowsEveryOptionalFieldThatIsPresent) {
  record::TaskCreated record = created("T1");
  record.request = RequestMark{"r1", 18446744073709551615U};
  record.created_at = Instant{-5};
  record.queue = "mail";
  record.priority = 9;
  record.key = "";
  record.attempts = 2;
  record.not_before = Instant{7};
  record.resubmit_of = "T0";
  EXPECT_EQ(
      R"({"record":"TaskCreated","task_id":"T1","payload":"P","execution_window_ms":300000,)"
      R"("retry_policy":{"retries":3,"backoff_initial_ms":1000,"backoff_max_ms":300000},)"
      R"("request":{"id":"r1","print":18446744073709551615},"created_at":-5,"queue":"mail","priority":9,"key":"",)"
      R"("attempts":2,"not_before":7,"resubmit_of":"T0"})",
      to_json(record));
}

TEST(RecordTest, JsonShowsTokensWordsFencesAndDigests) {
  EXPECT_EQ(R"({"record":"LeaseExpired","task_id":"T1","lease_id":"7-00000000000000a1"})",
            to_json(record::LeaseExpired{"T1", token_of(7)}));
  EXPECT_EQ(R"({"record":"TaskFailed","task_id":"T","lease_id":"1-00000000000000a1","failure_reason":"why",)"
            R"("next_state":"WAITING","not_before":9})",
            to_json(record::TaskFailed{"T", token_of(1), "why", TaskState::kWaiting, Instant{9}}));
  EXPECT_EQ(
      R"({"record":"LockReleased","space":"s","domain":"d","identifier":"i","token":"1-00000000000000a1","holds":0,)"
      R"("cause":"undelivered"})",
      to_json(record::LockReleased{"s", "d", "i", token_of(1), 0, ReleaseCause::kUndelivered}));
  EXPECT_EQ(R"({"record":"Forgotten","kind":"lost lease","name":"1-00000000000000a1"})",
            to_json(record::Forgotten{Remembered::kLostLease, "1-00000000000000a1"}));
  EXPECT_EQ(R"({"record":"FenceRaised","fence":18446744073709551615})",
            to_json(record::FenceRaised{Fence{18446744073709551615U}}));
  EXPECT_EQ(R"({"record":"DigestTaken","digest":"00000000000000010000000000000002"})",
            to_json(record::DigestTaken{Digest{1, 2}}));
}

TEST(RecordTest, JsonShowsBytesThatAreNotTextInBase64) {
  EXPECT_EQ(R"({"record":"TaskCancelled","task_id":"T\"1","lease_id_base64":"/w=="})",
            to_json(record::TaskCancelled{"T\"1", "\xff"}));
  EXPECT_EQ(R"({"record":"TaskDead","task_id":"","reason":"a\nb\u0001"})", to_json(record::TaskDead{"", "a\nb\x01"}));
}

TEST(RecordTest, EveryWordHasItsText) {
  EXPECT_EQ("WAITING", to_string(TaskState::kWaiting));
  EXPECT_EQ("LEASED", to_string(TaskState::kLeased));
  EXPECT_EQ("COMPLETED", to_string(TaskState::kCompleted));
  EXPECT_EQ("FAILED", to_string(TaskState::kFailed));
  EXPECT_EQ("DEAD", to_string(TaskState::kDead));
  EXPECT_EQ("LEASED", to_string(AttemptOutcome::kLeased));
  EXPECT_EQ("COMPLETED", to_string(AttemptOutcome::kCompleted));
  EXPECT_EQ("FAILED", to_string(AttemptOutcome::kFailed));
  EXPECT_EQ("EXPIRED", to_string(AttemptOutcome::kExpired));
  EXPECT_EQ("KILLED", to_string(AttemptOutcome::kKilled));
  EXPECT_EQ("by holder", to_string(ReleaseCause::kByHolder));
  EXPECT_EQ("disconnected", to_string(ReleaseCause::kDisconnected));
  EXPECT_EQ("task", to_string(Remembered::kTask));
  EXPECT_EQ("task request", to_string(Remembered::kTaskRequest));
  EXPECT_EQ("work request", to_string(Remembered::kWorkRequest));
  EXPECT_EQ("lock request", to_string(Remembered::kLockRequest));
}

}  // namespace
}  // namespace tenure
