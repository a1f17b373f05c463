#include "hypothesis/transform/step.hpp"

#include <gtest/gtest.h>

namespace nplus1::hypothesis::transform {
namespace {

TEST(HypothesisFile, SaysWhatTheCommandLineSays) {
  const auto read = parse_hypothesis(
      "network = 'lsb:latency=1us'\n"
      "[[scale]]\nregion = 'solve'\nfactor = 0.5\n"
      "[[delete]]\ntag = 7\nfrom = [0, 2]\n"
      "[[scale]]\nbefore = 'a.c:1'\nfactor = 2\n",
      "h.toml");
  ASSERT_TRUE(read.ok()) << read.error().what;
  EXPECT_EQ(read.value().network, "lsb:latency=1us");
  ASSERT_EQ(read.value().steps.size(), 3U);
  const auto& steps = read.value().steps;  // in the order of the file, not of the names
  EXPECT_EQ(steps[0].text(), parse_step("scale", "factor=0.5,region=solve", "").value().text());
  EXPECT_EQ(steps[1].verb, "delete");
  EXPECT_EQ(*steps[1].find("from"), "0:2");
  EXPECT_EQ(*steps[2].find("before"), "a.c:1");
}

TEST(HypothesisFile, MistakesAreNamedWithTheirLine) {
  const auto told = [](const char* text) {
    const auto read = parse_hypothesis(text, "h.toml");
    return read.ok() ? std::string{} : read.error().what + "; " + read.error().remedy;
  };
  EXPECT_NE(told("[[scale]]\nregoin = 'a'\n").find("h.toml:2: scale: there is no key 'regoin'"),
            std::string::npos);
  EXPECT_NE(told("\n[[scael]]\n").find("h.toml:2: there is no 'scael'"), std::string::npos);
  EXPECT_NE(told("\n[[scael]]\n").find("[[scale]]"), std::string::npos);
  EXPECT_NE(told("network = 5 5\n").find("h.toml:1"), std::string::npos);
  EXPECT_NE(told("scale = 3\n").find("h.toml:1"), std::string::npos);
  EXPECT_NE(told("[[scale]]\nfactor = true\n").find("h.toml:2"), std::string::npos);
}

TEST(Step, AllNeedsNoSettings) {
  const auto step = parse_step("balance", "all", "--balance");
  ASSERT_TRUE(step.ok());
  EXPECT_EQ(step.value().text(), "balance all");
  EXPECT_FALSE(parse_step("balance", "", "--balance").ok());
}

}  // namespace
}  // namespace nplus1::hypothesis::transform
