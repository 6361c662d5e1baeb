// The tables of docs/protocol.md and docs/security.md are made from the table of verbs. To make them anew:
//
//   TENURE_REWRITE=1 build/release/bin/wire_test --gtest_filter='ProtocolDocument*'
#include "wire/document.h"

#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::wire {
namespace {

using ::testing::HasSubstr;

std::string document(const char* path = "docs/protocol.md") {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(ProtocolDocumentTest, ItsTablesAreMadeFromTheTableOfVerbs) {
  for (const char* path : {"docs/protocol.md", "docs/security.md"}) {
    const auto fresh = refresh_document(document(path));
    ASSERT_TRUE(fresh.has_value()) << fresh.error().message;
    if (std::getenv("TENURE_REWRITE") != nullptr) {  // NOLINT(concurrency-mt-unsafe): tests run on one thread
      std::ofstream(path, std::ios::binary | std::ios::trunc) << *fresh;
    }
    EXPECT_TRUE(document(path) == *fresh) << path << ": TENURE_REWRITE=1 makes them anew";
  }
}

TEST(ProtocolDocumentTest, TheRolesOfEveryVerbAreTold) {
  const std::string text = document("docs/security.md");
  EXPECT_NE(text.find("<!-- made: roles -->\n"), std::string::npos);
  EXPECT_THAT(text, HasSubstr("| TASK.SUBMIT | submit | the queue |\n"));
  EXPECT_THAT(text, HasSubstr("| TASK.GET | submit, work, read or admin | the task's queue |\n"));
  EXPECT_THAT(text, HasSubstr("| LOCK.LIST | lock, read or admin | the lock domain; without it every name |\n"));
  EXPECT_THAT(text, HasSubstr("| SHUTDOWN | admin | every name |\n"));
  EXPECT_THAT(text, HasSubstr("| PING | signed in | - |\n"));
}

TEST(ProtocolDocumentTest, ItTellsEveryVerbErrorRouteAndLimit) {
  const std::string text = document();
  for (const Verb* verb : all_verbs()) {
    EXPECT_NE(text.find(fmt::format("\n| `{}` |", verb->usage())), std::string::npos) << verb->name;
  }
  for (const char* table : {"tasks", "work", "locks", "server", "routes", "errors", "limits"}) {
    EXPECT_NE(text.find(fmt::format("<!-- made: {} -->\n", table)), std::string::npos) << table;
  }
}

TEST(ProtocolDocumentTest, OnlyWhatIsBetweenMarksIsMadeAnew) {
  const auto made = refresh_document("before\n<!-- made: locks -->\nold\n<!-- end -->\nbehind\n");
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(*made, "before\n<!-- made: locks -->\n" + verb_table(Group::kLocks) + "<!-- end -->\nbehind\n");
  EXPECT_EQ(refresh_document(*made), made);
  EXPECT_EQ(refresh_document("nothing to make").value(), "nothing to make");
}

TEST(ProtocolDocumentTest, BadMarksAreNoticed) {
  EXPECT_EQ(refresh_document("<!-- made: nonsense -->\n<!-- end -->").error().message,
            "expected the name of a table, found 'nonsense'");
  EXPECT_THAT(refresh_document("<!-- made: locks -->\n").error().message, HasSubstr("expected '<!-- end -->'"));
  for (const char* text : {"<!-- end --><!-- made: locks -->\n", "<!-- made: locks", "<!-- made: locks <!-- end -->",
                           "<!-- made: locks <!-- end --> -->\n"}) {
    EXPECT_EQ(refresh_document(text).error().message, "expected '<!-- end -->' behind '<!-- made: '") << text;
  }
}

}  // namespace
}  // namespace tenure::wire
