#include "overlap/patch/unified_diff.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace nplus1::overlap::patch {
namespace {

TEST(UnifiedDiff, HasThreeLinesOfContextAndOnlyLinesThatChange) {
  const Source source{"1\n2\n3\n4\n5\n6\n7\n8\n9\n"};
  EXPECT_EQ(unified_diff(source, {{8, 9, "five"}}, "x/y.c"),
            "--- a/x/y.c\n+++ b/x/y.c\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST(UnifiedDiff, OfAnInsertionAtALineIsAnAddedLine) {
  const Source source{"1\n2\n"};
  EXPECT_EQ(unified_diff(source, {{2, 2, "new\n"}}, "f"),
            "--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n 1\n+new\n 2\n");
}

TEST(UnifiedDiff, OfDistantEditsHasAHunkEachWithShiftedLines) {
  std::string text;
  for (int i = 1; i <= 30; ++i) text += std::to_string(100 + i) + "\n";
  const Source source{text};
  const std::string diff = unified_diff(source, {{100, 100, "late\n"}, {0, 0, "early\nmore\n"}}, "f");
  EXPECT_NE(diff.find("@@ -1,3 +1,5 @@\n+early\n+more\n 101\n"), std::string::npos) << diff;
  EXPECT_NE(diff.find("@@ -23,6 +25,7 @@\n 123\n 124\n 125\n+late\n 126\n"), std::string::npos) << diff;
}

TEST(UnifiedDiff, SaysWhereNoLineEndIsAtTheEnd) {
  const Source source{"a\nb"};
  EXPECT_EQ(unified_diff(source, {{2, 3, "c"}}, "f"),
            "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at "
            "end of file\n");
}

TEST(UnifiedDiff, OfNothingIsEmpty) {
  const Source source{"a\n"};
  EXPECT_EQ(unified_diff(source, {}, "f"), "");
  EXPECT_EQ(unified_diff(source, {{0, 1, "a"}}, "f"), "");
}

TEST(Edits, AtOnePlaceKeepTheirOrderAndMayTouchButNotOverlap) {
  const Source source{"abcd"};
  EXPECT_EQ(applied(source, {{1, 1, "1"}, {1, 2, "B"}, {2, 2, "2"}}), "a1B2cd");
  EXPECT_TRUE(overlap({{1, 3, ""}, {2, 2, "x"}}));
  EXPECT_THROW(static_cast<void>(applied(source, {{0, 2, ""}, {1, 3, ""}})), std::logic_error);
}

}  // namespace
}  // namespace nplus1::overlap::patch
