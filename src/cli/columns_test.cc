#include "cli/columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::cli {
namespace {

using testing::ElementsAre;

TEST(ColumnsTest, AreAsWideAsTheirWidestCellAndNumbersStandOnTheRight) {
  Columns columns({"NAME", ">COUNT", ""});
  EXPECT_TRUE(columns.is_empty());
  columns.add({"a", "1", "paused"});
  columns.add({"longer", "1000", ""});
  EXPECT_FALSE(columns.is_empty());
  EXPECT_THAT(columns.lines(), ElementsAre("NAME    COUNT", "a           1  paused", "longer   1000"));
}

TEST(ColumnsTest, AreCutToTheWidthInCharactersNotBytes) {
  Columns columns({"NAME", "X"});
  columns.add({"\xc3\xa4\xc3\xb6\xc3\xbc", "1"});
  EXPECT_THAT(columns.lines(2), ElementsAre("NA", "\xc3\xa4\xc3\xb6"));
  EXPECT_EQ(columns_of("\xc3\xa4\xc3\xb6"), 2U);
}

TEST(FieldsTest, LeaveOutWhatIsEmpty) {
  EXPECT_EQ(fields_text({{"a", "1"}, {"missing long name", ""}, {"name", "2"}}), "a     1\nname  2\n");
}

}  // namespace
}  // namespace tenure::cli
