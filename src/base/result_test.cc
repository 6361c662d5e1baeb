// Errors as values, as words and as exceptions.
#include "base/result.h"

#include <set>

#include <gtest/gtest.h>

namespace tenure {
namespace {

constexpr ErrorCode kAll[] = {
#define TENURE_X(symbol, word, meaning) ErrorCode::symbol,
    TENURE_ERROR_CODES(TENURE_X)
#undef TENURE_X
};

TEST(ResultTest, EveryCodeHasItsOwnWord) {
  std::set<std::string_view> words;
  for (const ErrorCode code : kAll) words.insert(to_string(code));
  EXPECT_EQ(std::size(kAll), words.size());
  EXPECT_EQ("NOTASK", to_string(ErrorCode::kNoTask));
  EXPECT_EQ("UNAVAILABLE", to_string(ErrorCode::kUnavailable));
}

TEST(ResultDeathTest, ACodeThatIsNoneIsABug) { EXPECT_DEATH(to_string(static_cast<ErrorCode>(200)), "error code 200"); }

TEST(ResultTest, AFailureCarriesCodeAndMessage) {
  const Result<Done> failed = fail_with(ErrorCode::kInvalid, "expected {}, found {}", 1, "two");
  EXPECT_EQ((Failure{.code = ErrorCode::kInvalid, .message = "expected 1, found two"}), failed.error());
  EXPECT_EQ(Done{}, Result<Done>(Done{}).value());
}

// The exception that a code is raised as, with the same code and message.
template <class Exception>
void expect_raised(ErrorCode code) {
  const Failure failure{.code = code, .message = "why", .expected = Offset{1}, .got = Offset{2}};
  try {
    raise(failure, "domain");
    FAIL() << to_string(code);
  } catch (const Error& error) {
    EXPECT_EQ(code, error.code());
    EXPECT_STREQ("why", error.what());
    EXPECT_EQ(typeid(Exception), typeid(error)) << to_string(code);
  }
}

TEST(RaiseTest, EveryCodeIsRaisedAsTheExceptionOfItsKind) {
  expect_raised<NoSuchTask>(ErrorCode::kNoTask);
  expect_raised<TaskExists>(ErrorCode::kTaskExists);
  expect_raised<WrongTaskState>(ErrorCode::kTerminal);
  expect_raised<WrongTaskState>(ErrorCode::kNotTerminal);
  expect_raised<LeaseNotFound>(ErrorCode::kNoLease);
  expect_raised<TokenMismatch>(ErrorCode::kTokenMismatch);
  expect_raised<BacklogOrdering>(ErrorCode::kBacklogOrder);
  expect_raised<Backpressure>(ErrorCode::kBackpressure);
  expect_raised<Unavailable>(ErrorCode::kUnavailable);
  expect_raised<InvalidRequest>(ErrorCode::kInvalid);
  expect_raised<InvalidRequest>(ErrorCode::kTooLarge);
  for (const ErrorCode code : {ErrorCode::kErr, ErrorCode::kNoProto, ErrorCode::kExpired, ErrorCode::kNotHeld,
                               ErrorCode::kNoAuth, ErrorCode::kNoPerm, ErrorCode::kMoved}) {
    expect_raised<Error>(code);
  }
}

TEST(RaiseTest, ABacklogOrderingNamesDomainExpectedAndGot) {
  const Failure failure{.code = ErrorCode::kBacklogOrder, .message = "why", .expected = Offset{1}, .got = Offset{2}};
  try {
    raise(failure, "domain");
    FAIL();
  } catch (const BacklogOrdering& error) {
    EXPECT_EQ("domain", error.domain());
    EXPECT_EQ(Offset{1}, error.expected());
    EXPECT_EQ(Offset{2}, error.got());
  }
}

template <class Exception>
void expect_lock_raised(ErrorCode code) {
  try {
    raise_lock({.code = code, .message = "why"}, "d", "i");
    FAIL() << to_string(code);
  } catch (const SoftLockError& error) {
    EXPECT_EQ(typeid(Exception), typeid(error));
    EXPECT_EQ(code, error.code());
    EXPECT_EQ("d", error.domain());
    EXPECT_EQ("i", error.identifier());
  }
}

TEST(RaiseTest, LocksRaiseTheirOwn) {
  expect_lock_raised<LockExpired>(ErrorCode::kExpired);
  expect_lock_raised<NotHeld>(ErrorCode::kNotHeld);
  expect_lock_raised<LockAcquisitionError>(ErrorCode::kUnavailable);
  EXPECT_THROW(raise_lock({.code = ErrorCode::kInvalid, .message = "why"}, "d", "i"), InvalidRequest);
}

}  // namespace
}  // namespace tenure
