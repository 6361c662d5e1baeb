// Records as bytes: what is written is read again, and what is damaged is refused with a reason.
#include "core/record_codec.h"

#include <deque>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tenure {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// --- every record, with any values ---

// Makes values for every type of field; owns the texts.
class Filler {
 public:
  template <class T>
  void fill(T& value) {
    if constexpr (requires { T::table(); }) {
      std::apply([&](const auto&... fields) { (fill(value.*fields.member), ...); }, T::table());
    } else if constexpr (requires { value.emplace(); }) {
      if (*rc::gen::arbitrary<bool>()) fill(value.emplace());
    } else if constexpr (std::is_unsigned_v<T>) {
      value = *rc::gen::oneOf(rc::gen::arbitrary<T>(), rc::gen::element<T>(0, std::numeric_limits<T>::max()));
    } else {
      fill_one(value);
    }
  }

 private:
  static std::int64_t number() {
    using Limits = std::numeric_limits<std::int64_t>;
    return *rc::gen::oneOf(rc::gen::arbitrary<std::int64_t>(),
                           rc::gen::element<std::int64_t>(0, -1, Limits::min(), Limits::max()));
  }
  static std::uint64_t word() {
    std::uint64_t value = 0;
    Filler().fill(value);
    return value;
  }
  template <class T>
  static T one_of(T last) {
    return static_cast<T>(*rc::gen::inRange(0, static_cast<int>(last) + 1));
  }
  void fill_one(std::string_view& value) {
    const auto byte = rc::gen::map(rc::gen::inRange(0, 256), [](int of) { return static_cast<char>(of); });
    value = texts_.emplace_back(*rc::gen::container<std::string>(byte));
  }
  void fill_one(Instant& value) { value = Instant{number()}; }
  void fill_one(Millis& value) { value = Millis{number()}; }
  void fill_one(Offset& value) { value = Offset{number()}; }
  void fill_one(Fence& value) { value = Fence{word()}; }
  void fill_one(Token& value) { value = Token{Fence{word()}, word()}; }
  void fill_one(Digest& value) { value = Digest{word(), word()}; }
  void fill_one(TaskState& value) { value = one_of(TaskState::kDead); }
  void fill_one(ReleaseCause& value) { value = one_of(ReleaseCause::kUndelivered); }
  void fill_one(Remembered& value) { value = one_of(Remembered::kLostLease); }

  std::deque<std::string> texts_;
};

void append_number(std::string& out, std::uint64_t value) { ByteWriter(out, varint_size(value)).varint(value); }
void append_text(std::string& out, std::string_view value) {
  ByteWriter(out, varint_size(value.size()) + value.size()).bytes(value);
}

std::string encoded(const Record& record) {
  std::string bytes;
  encode(record, bytes);
  return bytes;
}

std::string fault_of(std::string_view bytes) {
  ByteReader in(bytes);
  const auto decoded = decode(in);
  return decoded ? "decoded as " + to_json(*decoded) : decoded.error().message;
}

template <class T>
class EveryRecordTest : public testing::Test {};

template <class Variant>
struct TypesOf;
template <class... T>
struct TypesOf<std::variant<T...>> {
  using type = testing::Types<T...>;
};
TYPED_TEST_SUITE(EveryRecordTest, TypesOf<Record>::type);

TYPED_TEST(EveryRecordTest, IsReadAsItWasWritten) {
  EXPECT_TRUE(rc::check("decode(encode(record)) == record", [] {
    Filler filler;
    TypeParam record;
    filler.fill(record);
    const std::string bytes = encoded(record) + "behind";
    ByteReader in(bytes);
    const auto decoded = decode(in);
    RC_ASSERT(decoded.has_value());
    RC_ASSERT(*decoded == Record(record));
    RC_ASSERT(in.ok());
    RC_ASSERT(in.left() == 6U);
    RC_ASSERT(name_of(*decoded) == TypeParam::kName);
  }));
}

TYPED_TEST(EveryRecordTest, IsRefusedWhenCutShortAtAnyByte) {
  EXPECT_TRUE(rc::check("no prefix decodes", [] {
    Filler filler;
    TypeParam record;
    filler.fill(record);
    const std::string bytes = encoded(record);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      RC_ASSERT(fault_of(std::string_view(bytes).substr(0, size)) == "the bytes end within a record");
    }
  }));
}

// Cuts the body and corrects its length, so that the fault lies within the record.
TYPED_TEST(EveryRecordTest, IsRefusedOrShorterWhenItsBodyIsCut) {
  EXPECT_TRUE(rc::check("a shorter body is never the same record", [] {
    Filler filler;
    TypeParam record;
    filler.fill(record);
    const std::string bytes = encoded(record);
    ByteReader in(bytes);
    in.varint();
    const std::string_view body = in.bytes();
    for (std::size_t size = 0; size < body.size(); ++size) {
      std::string cut;
      append_number(cut, TypeParam::kType);
      append_text(cut, body.substr(0, size));
      ByteReader again(cut);
      const auto decoded = decode(again);
      if (decoded) {
        RC_ASSERT(*decoded != Record(record));
      } else {
        RC_ASSERT(decoded.error().message.starts_with(std::string(TypeParam::kName) + ": "));
      }
    }
  }));
}

TYPED_TEST(EveryRecordTest, SkipsOptionalFieldsItDoesNotKnow) {
  EXPECT_TRUE(rc::check("unknown optional fields change nothing", [] {
    Filler filler;
    TypeParam record;
    filler.fill(record);
    const std::string bytes = encoded(record);
    ByteReader in(bytes);
    in.varint();
    std::string body;
    append_number(body, 200 << 3 | 0);
    append_number(body, std::numeric_limits<std::uint64_t>::max());
    body.append(in.bytes());
    append_number(body, 201 << 3 | 1);
    append_text(body, "from a later version");
    std::string longer;
    append_number(longer, TypeParam::kType);
    append_text(longer, body);
    ByteReader again(longer);
    const auto decoded = decode(again);
    RC_ASSERT(decoded.has_value());
    RC_ASSERT(*decoded == Record(record));
  }));
}

// --- damage, one kind after the other ---

constexpr std::uint32_t kNumber = 0;
constexpr std::uint32_t kText = 1;
constexpr std::uint32_t kRequired = 4;

// A record of the given type with a body written by hand.
class ByHand {
 public:
  explicit ByHand(std::uint64_t type) : type_(type) {}
  ByHand& number(std::uint32_t field, std::uint64_t value, std::uint32_t flags = kRequired) {
    append_number(body_, field << 3 | flags | kNumber);
    append_number(body_, value);
    return *this;
  }
  ByHand& text(std::uint32_t field, std::string_view value, std::uint32_t flags = kRequired) {
    append_number(body_, field << 3 | flags | kText);
    append_text(body_, value);
    return *this;
  }
  ByHand& raw(std::string_view bytes) {
    body_.append(bytes);
    return *this;
  }
  [[nodiscard]] std::string bytes() const {
    std::string out;
    append_number(out, type_);
    append_text(out, body_);
    return out;
  }
  [[nodiscard]] std::string fault() const { return fault_of(bytes()); }

 private:
  std::uint64_t type_;
  std::string body_;
};

const std::string kSixteen(16, 'x');

TEST(RecordCodecTest, AcceptsFieldsInAnyOrder) {
  const std::string bytes = ByHand(record::TaskDead::kType).text(2, "why").text(1, "T1").bytes();
  ByteReader in(bytes);
  EXPECT_EQ(Record(record::TaskDead{"T1", "why"}), decode(in).value());
}

TEST(RecordCodecTest, DecodesRecordsOneBehindTheOther) {
  const std::string bytes = encoded(record::QueuePaused{"q"}) + encoded(record::QueueResumed{"q"});
  ByteReader in(bytes);
  EXPECT_EQ(Record(record::QueuePaused{"q"}), decode(in).value());
  EXPECT_EQ(Record(record::QueueResumed{"q"}), decode(in).value());
  EXPECT_TRUE(in.at_end());
}

TEST(RecordCodecTest, RefusesAnUnknownRecordType) {
  EXPECT_EQ("unknown record type 19: a newer version has written it, upgrade this one", ByHand(19).fault());
  EXPECT_THAT(ByHand(0).fault(), StartsWith("unknown record type 0:"));
}

TEST(RecordCodecTest, RefusesAnUnknownRequiredField) {
  EXPECT_THAT(ByHand(8).text(1, "T1").text(2, "why").text(9, "new").fault(),
              StartsWith("TaskDead: unknown required field 9:"));
}

TEST(RecordCodecTest, RefusesAnUnknownFieldOfUnknownKind) {
  EXPECT_EQ("TaskDead: field 9: unknown kind 2", ByHand(8).text(1, "T1").text(2, "why").raw("\x4a").fault());
  EXPECT_EQ("TaskDead: field 9: unknown kind 3", ByHand(8).text(1, "T1").text(2, "why").raw("\x4b").fault());
}

TEST(RecordCodecTest, RefusesAnUnknownFieldThatIsCutShort) {
  EXPECT_EQ("TaskDead: field 9: the bytes end within it", ByHand(8).raw("\x48").fault());
  EXPECT_EQ("TaskDead: field 9: the bytes end within it", ByHand(8).raw("\x49\x05only").fault());
}

TEST(RecordCodecTest, RefusesAFieldGivenTwice) {
  EXPECT_EQ("TaskDead: field task_id: given twice", ByHand(8).text(1, "T1").text(2, "why").text(1, "T1").fault());
  EXPECT_EQ("TaskCreated: field queue: given twice", ByHand(1).text(7, "q", 0).text(7, "q", 0).fault());
}

TEST(RecordCodecTest, RefusesAFieldOfTheWrongKind) {
  EXPECT_EQ("TaskDead: field task_id: of another kind than expected", ByHand(8).number(1, 5).fault());
  EXPECT_EQ("TaskCreated: field priority: of another kind than expected", ByHand(1).text(8, "9", 0).fault());
}

TEST(RecordCodecTest, RefusesANumberOutOfItsRange) {
  EXPECT_EQ("TaskCreated: field priority: a number out of its range", ByHand(1).number(8, 256, 0).fault());
  EXPECT_EQ("LeaseGranted: field attempt: a number out of its range",
            ByHand(2).number(4, std::uint64_t{1} << 32).fault());
  EXPECT_EQ("TaskFailed: field next_state: a number out of its range", ByHand(5).number(4, 5, 0).fault());
  EXPECT_EQ("LockReleased: field cause: a number out of its range", ByHand(43).number(6, 3).fault());
  EXPECT_EQ("Forgotten: field kind: a number out of its range", ByHand(60).number(1, 5).fault());
}

TEST(RecordCodecTest, RefusesANumberOfMoreThan64Bits) {
  const std::string eleven = "\x0c" + std::string(10, '\xff') + "\x01";
  EXPECT_THAT(ByHand(60).raw(eleven).fault(), HasSubstr("the bytes end within"));
}

TEST(RecordCodecTest, RefusesAMissingField) {
  EXPECT_EQ("TaskDead: field reason: expected, but missing", ByHand(8).text(1, "T1").fault());
  EXPECT_EQ("TaskDead: field task_id: expected, but missing", ByHand(8).fault());
  EXPECT_EQ("FenceRaised: field fence: expected, but missing", ByHand(63).fault());
}

TEST(RecordCodecTest, RefusesATokenOfAnotherSize) {
  EXPECT_EQ("LeaseExpired: field lease_id: expected 16 bytes", ByHand(7).text(1, "T1").text(2, "short").fault());
  EXPECT_EQ("LeaseExpired: field lease_id: expected 16 bytes", ByHand(7).text(1, "T1").text(2, kSixteen + "y").fault());
  EXPECT_EQ("DigestTaken: field digest: expected 16 bytes", ByHand(64).text(1, kSixteen.substr(1)).fault());
}

TEST(RecordCodecTest, RefusesAFieldThatIsCutShortAndSaysWhich) {
  EXPECT_EQ("TaskDead: field task_id: the bytes end within it", ByHand(8).raw("\x0d\x05T1").fault());
  EXPECT_EQ("FenceRaised: field fence: the bytes end within it", ByHand(63).raw("\x0c").fault());
  EXPECT_EQ("LeaseExpired: field lease_id: the bytes end within it", ByHand(7).raw("\x15\x10short").fault());
  EXPECT_EQ("TaskCreated: field retry_policy: the bytes end within it", ByHand(1).raw("\x25\x09").fault());
  EXPECT_EQ("TaskDead: the bytes end within a field's tag", ByHand(8).raw("\x80").fault());
}

TEST(RecordCodecTest, RefusesAFaultWithinANestedValue) {
  EXPECT_EQ("TaskCreated: field retries: expected, but missing", ByHand(1).text(4, "").fault());
  EXPECT_THAT(ByHand(1).text(4, "\x24\x01").fault(), StartsWith("TaskCreated: unknown required field 4:"));
  EXPECT_EQ("TaskCreated: field id: the bytes end within it", ByHand(1).text(5, "\x0d\x03x", 0).fault());
}

TEST(RecordCodecTest, RefusesGarbageBehindTheFields) {
  EXPECT_EQ("TaskDead: the bytes end within a field's tag",
            ByHand(8).text(1, "T1").text(2, "why").raw("\xff\xff").fault());
  EXPECT_THAT(ByHand(8).text(1, "T1").text(2, "why").raw("\x7f").fault(),
              StartsWith("TaskDead: unknown required field 15:"));
}

TEST(RecordCodecTest, RefusesNothingAtAll) { EXPECT_EQ("the bytes end within a record", fault_of("")); }

}  // namespace
}  // namespace tenure
