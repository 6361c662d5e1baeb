// Records of a journal that nobody's decision wrote: any values that can be decoded. Each is applied or refused; none
// breaks the book-keeping.
#include <limits>

#include <gtest/gtest.h>

#include "core/record_codec.h"
#include "core/testing.h"

namespace tenure {
namespace {

// Makes any record, its values few enough to meet now and then, and now and then as extreme as can be.
class Forger {
 public:
  Forger(std::uint64_t seed, Ledger& ledger) : dice_(seed), ledger_(ledger) {}

  Record forge() {
    const auto which = dice_.roll(std::variant_size_v<Record>);
    return forge(which, std::make_index_sequence<std::variant_size_v<Record>>());
  }

 private:
  template <std::size_t... I>
  Record forge(std::uint64_t which, std::index_sequence<I...>) {
    Record record;
    ((which == I ? void(record = one<std::variant_alternative_t<I, Record>>()) : void()), ...);
    return record;
  }
  template <class R>
  R one() {
    R record;
    fill(record);
    return record;
  }

  template <class T>
  void fill(T& value) {
    if constexpr (requires { T::table(); }) {
      std::apply([&](const auto&... fields) { (fill(value.*fields.member), ...); }, T::table());
    } else if constexpr (requires { value.emplace(); }) {
      if (dice_.one_in(3)) fill(value.emplace());
    } else if constexpr (std::is_unsigned_v<T>) {
      value = dice_.one_in(50) ? std::numeric_limits<T>::max() : static_cast<T>(dice_.roll(4));
    } else {
      fill_one(value);
    }
  }
  std::int64_t number() {
    if (dice_.one_in(60)) return std::numeric_limits<std::int64_t>::max();
    if (dice_.one_in(60)) return std::numeric_limits<std::int64_t>::min();
    return static_cast<std::int64_t>(dice_.roll(12)) - 1;
  }
  void fill_one(std::string_view& value) {
    static const std::vector<std::string_view> kTexts = {"", "a", "b", "c", "1-0000000000000001"};
    value = dice_.pick(kTexts);
  }
  void fill_one(Instant& value) {
    value = Instant{number()};
    if (!dice_.one_in(8)) value = ledger_.now + Millis{static_cast<std::int64_t>(dice_.roll(40))};
  }
  void fill_one(Millis& value) { value = Millis{number()}; }
  void fill_one(Offset& value) { value = Offset{number()}; }
  void fill_one(Fence& value) { value = Fence{ledger_.state().fence().value + (dice_.one_in(20) ? 0 : 1)}; }
  // The next one, or one that may be current.
  void fill_one(Token& value) {
    const std::uint64_t fence = ledger_.state().fence().value + 1;
    value = Token{Fence{dice_.one_in(2) ? fence : fence - dice_.roll(std::min<std::uint64_t>(fence, 12))}, 1};
  }
  void fill_one(Digest& value) { value = ledger_.state().digest(); }
  void fill_one(TaskState& value) { value = static_cast<TaskState>(dice_.roll(5)); }
  void fill_one(ReleaseCause& value) { value = static_cast<ReleaseCause>(dice_.roll(3)); }
  void fill_one(Remembered& value) { value = static_cast<Remembered>(dice_.roll(5)); }

  Dice dice_;
  Ledger& ledger_;
};

class ArbitraryRecordsTest : public testing::TestWithParam<std::uint64_t> {};

TEST_P(ArbitraryRecordsTest, EachIsAppliedOrRefusedAndTheBooksStayTrue) {
  Ledger ledger(GetParam());
  Forger forger(GetParam(), ledger);
  int refused = 0;
  for (int i = 0; i < 15'000 && !HasFailure(); ++i) {
    if (i % 5 == 0) ledger.now = ledger.now + Millis{3};
    if (ledger.offer(forger.forge()) != nullptr) ++refused;
  }
  EXPECT_GT(refused, 1'000);
  EXPECT_GT(ledger.written(), 500U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ArbitraryRecordsTest, testing::Values(1, 2, 3));

}  // namespace
}  // namespace tenure
