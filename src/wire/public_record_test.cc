// What is told of records: every field of every record is looked at.
#include "wire/public_record.h"

#include <array>
#include <set>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/record_codec.h"
#include "core/table_codec.h"

namespace tenure::wire {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t kSecretNumber = 0xfeedfacecafebeef;
constexpr std::string_view kSecretWord = "a text that is in every field";

// Every field is there, texts and tokens are the same everywhere.
template <class T>
void fill(T& value) {
  if constexpr (requires { T::table(); }) {
    std::apply([&](const auto&... fields) { (fill(value.*fields.member), ...); }, T::table());
  } else if constexpr (requires { value.emplace(); }) {
    fill(value.emplace());
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    value = kSecretWord;
  } else if constexpr (std::is_same_v<T, Token>) {
    value = Token{Fence{77}, kSecretNumber};
  } else if constexpr (std::is_same_v<T, Digest>) {
    value = Digest{kSecretNumber, kSecretNumber};
  }
}

template <class Visit>
void for_each_type(const Visit& visit) {
  table_codec::any_type<Record>([&]<class R>() {
    visit.template operator()<R>();
    return false;
  });
}

// What may never be told, by its name or its type.
constexpr std::array<std::string_view, 8> kNever = {"payload", "result",  "lease_id", "token",
                                                    "request", "session", "secret",   "print"};
template <class T>
constexpr bool kIsNever = std::is_same_v<T, Token> || std::is_same_v<T, Digest> || std::is_same_v<T, RequestMark>;

TEST(PublicRecordTest, EveryFieldIsToldOrLeftOut) {
  int fields = 0;
  for_each_type([&]<class R>() {
    R record;
    fill(record);
    const auto json = boost::json::parse(public_json(record, Instant{5}));
    const auto& told = json.as_object();
    EXPECT_EQ(told.at("record").as_string(), R::kName);
    EXPECT_EQ(told.at("at").as_int64(), 5);
    table_codec::visit_present(record, [&](std::uint32_t, std::string_view name, const auto& member, bool) {
      ++fields;
      EXPECT_EQ(told.contains(name), is_public(R::kName, name)) << R::kName << "." << name;
      const bool is_never = kIsNever<std::remove_cvref_t<decltype(member)>> ||
                            std::find(kNever.begin(), kNever.end(), name) != kNever.end();
      if (is_never) {
        EXPECT_FALSE(told.contains(name)) << R::kName << "." << name;
      }
    });
  });
  EXPECT_GT(fields, 100);
}

TEST(PublicRecordTest, NoTokenIsTold) {
  for_each_type([&]<class R>() {
    R record;
    fill(record);
    const std::string json = public_json(record, Instant{5});
    EXPECT_THAT(json, Not(HasSubstr("feedface")));
    EXPECT_THAT(json, Not(HasSubstr(std::to_string(kSecretNumber))));
    EXPECT_EQ(json.find('\n'), std::string::npos);
  });
}

TEST(PublicRecordTest, OfATokenTheFenceIsTold) {
  record::LockForced forced{.space = "s", .domain = "d", .identifier = "i", .token = Token{Fence{7}, 9}};
  EXPECT_EQ(public_json(forced, Instant{5}),
            R"({"record":"LockForced","at":5,"space":"s","domain":"d","identifier":"i","fence":7})");
  record::LeaseGranted granted{
      .task_id = "T", .lease_id = Token{Fence{7}, 9}, .worker_id = "w", .lease_expiry = {}, .fence = Fence{7}};
  EXPECT_EQ(public_json(granted, Instant{5}),
            R"({"record":"LeaseGranted","at":5,"task_id":"T","worker_id":"w","attempt":0,"lease_expiry":0,"fence":7})");
}

TEST(PublicRecordTest, OnlyATaskIsForgottenByName) {
  const auto told = [](Remembered kind) { return public_json(record::Forgotten{kind, "n"}, Instant{5}); };
  EXPECT_EQ(told(Remembered::kTask), R"({"record":"Forgotten","at":5,"kind":"task","name":"n"})");
  EXPECT_EQ(told(Remembered::kLostLease), R"({"record":"Forgotten","at":5,"kind":"lost lease"})");
  for (const Remembered kind : {Remembered::kTaskRequest, Remembered::kWorkRequest, Remembered::kLockRequest}) {
    EXPECT_THAT(told(kind), Not(HasSubstr("\"n\"")));
  }
}

TEST(PublicRecordTest, WhatIsUnknownIsNotTold) {
  EXPECT_FALSE(is_public("TaskCreated", "payload"));
  EXPECT_FALSE(is_public("TaskCreated", "something"));
  EXPECT_FALSE(is_public("Something", "task_id"));
  EXPECT_TRUE(is_public("TaskCreated", "task_id"));
}

}  // namespace
}  // namespace tenure::wire
