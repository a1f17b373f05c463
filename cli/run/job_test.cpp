#include "cli/run/job.hpp"

#include <gtest/gtest.h>

namespace nplus1::cli {
namespace {

using Words = std::vector<std::string>;

TEST(Job, OneProgramTakesAllWords) {
  const auto sections = parse_sections(4, {"./app", "-n", "9", "--", "x"});
  ASSERT_TRUE(sections.ok());
  ASSERT_EQ(sections.value().size(), 1U);
  EXPECT_EQ(sections.value()[0].ranks, 4);
  EXPECT_EQ(sections.value()[0].command, (Words{"./app", "-n", "9", "--", "x"}));
}

TEST(Job, LaterSectionsCountTheirOwnRanks) {
  const auto sections =
      parse_sections(4, {"./a", "x", ":", "-n", "2", "-host", "h", "./b", "-n", "7", ":", "./c"});
  ASSERT_TRUE(sections.ok());
  const auto& s = sections.value();
  ASSERT_EQ(s.size(), 3U);
  EXPECT_EQ(s[1].ranks, 2);
  EXPECT_EQ(s[1].options, (Words{"-host", "h"}));
  EXPECT_EQ(s[1].command, (Words{"./b", "-n", "7"}));
  EXPECT_EQ(s[2].ranks, 1);
  EXPECT_EQ(total_ranks(s), 7);
}

TEST(Job, MissingProgramsAreErrors) {
  EXPECT_FALSE(parse_sections(4, {}).ok());
  EXPECT_FALSE(parse_sections(4, {"./a", ":"}).ok());
  EXPECT_FALSE(parse_sections(4, {"./a", ":", "-n", "2"}).ok());
  EXPECT_FALSE(parse_sections(4, {":", "./a"}).ok());
}

TEST(Job, UnknownOptionsOfALaterSectionAreNamed) {
  const auto sections = parse_sections(1, {"./a", ":", "-frobnicate", "./b"});
  ASSERT_FALSE(sections.ok());
  EXPECT_NE(sections.error().what.find("-frobnicate"), std::string::npos);
}

TEST(Job, RanksAreWholePositiveNumbers) {
  EXPECT_EQ(parse_ranks("16").value(), 16);
  for (const char* bad : {"0", "-1", "", "4x", "1.5", "99999999999999", "100001", " 4"}) {
    EXPECT_FALSE(parse_ranks(bad).ok()) << bad;
  }
}

TEST(Job, TooManyRanksOverAllSectionsAreRefused) {
  EXPECT_TRUE(parse_sections(50000, {"./a", ":", "-n", "50000", "./b"}).ok());
  EXPECT_FALSE(parse_sections(50000, {"./a", ":", "-n", "50001", "./b"}).ok());
}

}  // namespace
}  // namespace nplus1::cli
