#include "hypothesis/whatif/conditions.hpp"

#include <gtest/gtest.h>

namespace nplus1::hypothesis {
namespace {

Side side() {
  Side s;
  s.metrics["parallel_efficiency"] = 0.8;
  return s;
}

TEST(Conditions, CompareWithTheLimit) {
  const auto holds = [](const char* text) {
    return parse_condition(text, metric_names()).value().holds(side());
  };
  EXPECT_EQ(holds("parallel_efficiency<0.8"), false);
  EXPECT_EQ(holds("parallel_efficiency <= 0.8"), true);
  EXPECT_EQ(holds("parallel_efficiency>0.79"), true);
  EXPECT_EQ(holds("parallel_efficiency>=8e-1"), true);
  EXPECT_EQ(holds("late_sender_s>0"), std::nullopt);
}

TEST(Conditions, MistakesAreNamed) {
  const auto told = [](const char* text) {
    const auto condition = parse_condition(text, metric_names());
    return condition.ok() ? std::string{} : condition.error().what + "; " + condition.error().remedy;
  };
  EXPECT_NE(told("paralel_efficiency<0.8").find("the metrics are: virtual_time_s"), std::string::npos);
  for (const char* text : {"", "parallel_efficiency", "parallel_efficiency<", "parallel_efficiency=0.8",
                           "parallel_efficiency<0.8x", "<0.8", "parallel_efficiency<>1"})
    EXPECT_NE(told(text), "") << text;
}

}  // namespace
}  // namespace nplus1::hypothesis
