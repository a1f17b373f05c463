#include "overlap/patch/source.hpp"

#include <gtest/gtest.h>

namespace nplus1::overlap::patch {
namespace {

std::vector<std::string> texts(const Source& source) {
  std::vector<std::string> all;
  for (const Token& token : source.tokens()) all.emplace_back(source.text(token));
  return all;
}

TEST(SourceTokens, KeepCommentsStringsAndDirectivesWhole) {
  const Source source{
      "#define A(x) \\\n  f(x) /* { */\nf(\"a,\\\"(\", 'x'); // (\\\n still )\n/* , */ x = 0x1p-3 + "
      ".5e+3;\n"};
  EXPECT_EQ(texts(source), (std::vector<std::string>{"#define A(x) \\\n  f(x) /* { */", "f", "(",
                                                     "\"a,\\\"(\"", ",", "'x'", ")", ";", "// (\\\n still )",
                                                     "/* , */", "x", "=", "0x1p-3", "+", ".5e+3", ";"}));
}

TEST(SourceTokens, KnowRawStringsAndDigitSeparators) {
  const Source source{"auto s = R\"x(a\")\" )x\"; int n = 1'000'000; L'a'"};
  EXPECT_EQ(texts(source), (std::vector<std::string>{"auto", "s", "=", "R\"x(a\")\" )x\"", ";", "int", "n",
                                                     "=", "1'000'000", ";", "L", "'a'"}));
}

TEST(SourceTokens, EndAnOpenQuoteWithItsLine) {
  const Source source{"#if 0\ndon't (\n#endif\nx\n"};
  EXPECT_EQ(source.tokens().back().kind, TokenKind::kIdentifier);
  EXPECT_EQ(source.text(source.tokens().back()), "x");
}

TEST(SourceLines, CountFromOneAndKnowTheirIndentation) {
  const Source source{"a\n\t b\r\n\nc"};
  EXPECT_EQ(source.lines(), 4);
  EXPECT_EQ(source.line_of(0), 1);
  EXPECT_EQ(source.line_of(4), 2);
  EXPECT_EQ(source.indentation_at(4), "\t ");
  EXPECT_EQ(source.begin_of_line(4), source.text().size() - 1);
  EXPECT_EQ((Source{"a\r\nb"}.newline()), "\r\n");
  EXPECT_EQ((Source{""}.lines()), 1);
}

}  // namespace
}  // namespace nplus1::overlap::patch
