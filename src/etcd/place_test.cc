#include "etcd/place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::etcd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Place, HasMembersAndAPrefix) {
  const auto place = parse_place("etcd://a:1,[::1]:2,c/tenure/one/");
  ASSERT_TRUE(place) << place.error().message;
  EXPECT_THAT(place->members, ElementsAre("a:1", "[::1]:2", "c:2379"));
  EXPECT_EQ(place->prefix, "tenure/one");
  EXPECT_EQ(place->user, "");
  EXPECT_FALSE(place->is_tls);
  EXPECT_EQ(place->text(), "etcd://a:1,[::1]:2,c:2379/tenure/one");
}

TEST(Place, MayHaveAUserAndTls) {
  const auto place = parse_place("etcds://ann@host:2379/t");
  ASSERT_TRUE(place) << place.error().message;
  EXPECT_EQ(place->user, "ann");
  EXPECT_TRUE(place->is_tls);
  EXPECT_EQ(place->text(), "etcds://ann@host:2379/t");
}

TEST(Place, IsToldFromAFolder) {
  EXPECT_TRUE(is_place("etcd://"));
  EXPECT_FALSE(is_place("/var/lib/etcd"));
}

TEST(Place, ThatIsWrongIsRefusedWithWhatWasFound) {
  const auto why = [](std::string_view text) {
    const auto place = parse_place(text);
    return place ? "it was taken" : place.error().message;
  };
  EXPECT_THAT(why("http://a/p"), HasSubstr("begin with etcd:// or etcds://"));
  EXPECT_THAT(why("etcd:///p"), HasSubstr("a member's host, found ''"));
  EXPECT_THAT(why("etcd://a,,b/p"), HasSubstr("a member's host, found ''"));
  EXPECT_THAT(why("etcd://a:x/p"), HasSubstr("from 1 to 65535, found 'x'"));
  EXPECT_THAT(why("etcd://a:65536/p"), HasSubstr("from 1 to 65535, found '65536'"));
  EXPECT_THAT(why("etcd://::1:2379/p"), HasSubstr("IPv6 address in brackets"));
  EXPECT_THAT(why("etcd://a:1"), HasSubstr("a prefix of the keys behind the members, found none"));
  EXPECT_THAT(why("etcd://a:1/"), HasSubstr("found none"));
  EXPECT_THAT(why("etcd://a:1/b//c"), HasSubstr("found 'b//c'"));
  EXPECT_THAT(why("etcd://a:1/b c"), HasSubstr("found 'b c'"));
  EXPECT_THAT(why("etcd://@a:1/b"), HasSubstr("a user before '@', found none"));
  EXPECT_THAT(why("etcd://u:p@a:1/b"), HasSubstr("found a password, too"));
  EXPECT_THAT(why("etcd://a/" + std::string(256, 'x')), HasSubstr("at most 255 bytes, found 256"));
}

}  // namespace
}  // namespace tenure::etcd
