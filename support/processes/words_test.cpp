#include "support/processes/words.hpp"
#include "support/shell.hpp"

#include <gtest/gtest.h>

namespace nplus1::processes {
namespace {

using Words = std::vector<std::string>;

Words split(std::string_view text) {
  auto words = split_words(text);
  EXPECT_TRUE(words.ok());
  return words.ok() ? words.value() : Words{};
}

TEST(Words, WhiteSpaceSeparatesAndQuotesProtect) {
  EXPECT_EQ(split("  -f hosts\t-ppn 4 "), (Words{"-f", "hosts", "-ppn", "4"}));
  EXPECT_EQ(split("-env A 'b c' \"d 'e\" f\\ g"), (Words{"-env", "A", "b c", "d 'e", "f g"}));
  EXPECT_EQ(split("a''b ''"), (Words{"ab", ""}));
  EXPECT_EQ(split(""), Words{});
}

TEST(Words, AnOpenQuoteIsAnError) {
  EXPECT_FALSE(split_words("-f 'hosts").ok());
  EXPECT_FALSE(split_words("\"").ok());
}

TEST(Words, QuotedWordsAreReadBackUnchanged) {
  const Words words{"plain", "two words", "it's", "", "$HOME", "a\"b", "back\\slash", "*", "new\nline"};
  EXPECT_EQ(split(join_quoted(words)), words);
}

TEST(Words, PlainWordsStayReadable) {
  EXPECT_EQ(quote("lsb:latency=1e-6,bandwidth=1e9"), "lsb:latency=1e-6,bandwidth=1e9");
}

}  // namespace
}  // namespace nplus1::processes
