// What is read of a platform file's text, whatever it is.
#include "netmodel/simgrid/platform_text.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace nplus1::netmodel {
namespace {

using Ranges = std::vector<std::pair<double, double>>;

TEST(PlatformText, HasElementsWithTheirLinesAndAttributes) {
  const PlatformText text{
      "f.xml",
      "<platform>\n<!-- <cluster id=\"no\"/>\n-->\n<cluster\n id = 'a>b'\tradical=\"0-3\" />\n"
      "<clusters id=\"no\"/><cluster id=\"c\">"};
  const auto clusters = text.elements("cluster");
  ASSERT_EQ(clusters.size(), 2U);
  EXPECT_EQ(clusters[0].line, 4);
  EXPECT_EQ(clusters[0].attribute("id"), "a>b");
  EXPECT_EQ(clusters[0].attribute("radical"), "0-3");
  EXPECT_EQ(clusters[0].attribute("suffix"), "");
  EXPECT_EQ(clusters[1].line, 6);
  EXPECT_EQ(clusters[1].attribute("id"), "c");
}

TEST(PlatformText, TakesTextThatEndsAnywhere) {
  const std::string whole = "<cluster a = \"b\" c='d' e>";
  for (std::size_t length = 0; length <= whole.size(); ++length)
    EXPECT_LE(PlatformText("f.xml", whole.substr(0, length)).elements("cluster").size(), 1U);
  const PlatformText odd{"f.xml", "<cluster \"y\" 'z' a=b d = 'e'>"};
  EXPECT_EQ(odd.elements("cluster")[0].attribute("d"), "e");
}

/// What hides a cluster from the check of its size, and from the parser not.
TEST(PlatformText, IsReadAsTheParserDoes) {
  const PlatformText text{
      "f.xml",
      "<!DOCTYPE platform SYSTEM '<!--'>\n<host id='<!--'/>\n<cluster\fradical=\"0-&#57;&#x39;9\" "
      "prefix='&lt;&amp;&none;&'/>\n<![CDATA[<cluster id='no'/>]]>\n"};
  const auto clusters = text.elements("cluster");
  ASSERT_EQ(clusters.size(), 1U);
  EXPECT_EQ(clusters[0].line, 3);
  EXPECT_EQ(clusters[0].attribute("radical"), "0-999");
  EXPECT_EQ(clusters[0].attribute("prefix"), "<&&none;&");
}

TEST(PlatformText, ALinkIsDeclaredByItsNameByThatOfBothItsHalvesOrByItsCluster) {
  const PlatformText text{"f.xml", "<cluster id=\"c\"/>\n<link id='l'/>\n"};
  EXPECT_EQ(text.line_of_link("l_UP"), 2);
  EXPECT_EQ(text.line_of_link("c_link_3_DOWN"), 1);
  EXPECT_EQ(text.line_of_link("other"), PlatformText::kNoLine);
}

TEST(Radical, IsRanges) {
  EXPECT_EQ(ranges_of("0-3,8"), (Ranges{{0, 3}, {8, 8}}));
  EXPECT_EQ(ranges_of("5-,-7"), (Ranges{{5, 5}, {7, 7}}));
  EXPECT_EQ(ranges_of(""), Ranges{});
  EXPECT_EQ(ranges_of(std::string(500, '9'))[0].second, std::numeric_limits<double>::infinity());
}

TEST(Topology, MultipliesItsParameters) {
  EXPECT_EQ(largest_product("4,4,2", false), 32);
  EXPECT_EQ(largest_product("2;4,4;2,0;1,1", true), 16);
}

}  // namespace
}  // namespace nplus1::netmodel
