#include "server/starts.h"

#include <gtest/gtest.h>

#include "base/faulty_files.h"
#include "base/files_testing.h"

namespace tenure::server {
namespace {

TEST(StartsTest, CountsThoseBefore) {
  FaultyFiles files(1);
  must(files.make_folder("/data"));
  EXPECT_EQ(must(count_start(files, "/data")), 0U);
  EXPECT_EQ(must(count_start(files, "/data")), 1U);
  EXPECT_EQ(must(count_start(files, "/data")), 2U);
}

TEST(StartsTest, BeginsAnewWhereTheCountIsNone) {
  FaultyFiles files(1);
  must(files.make_folder("/data"));
  create(files, "/data/STARTS", "many");
  create(files, "/data/STARTS.tmp", "left behind");
  EXPECT_EQ(must(count_start(files, "/data")), 0U);
  EXPECT_EQ(must(count_start(files, "/data")), 1U);
}

}  // namespace
}  // namespace tenure::server
