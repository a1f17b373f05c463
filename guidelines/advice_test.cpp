#include "guidelines/advice.hpp"

#include <gtest/gtest.h>

#include <limits>

#include <nlohmann/json.hpp>

namespace nplus1::guidelines {
namespace {

/// Reduce takes 100 us, a mock-up 50 us; one setting 51 us, one 40 us by chance, one 90 us for sure.
Advice some() {
  return {"Reduce",
          4,
          1024,
          100e-6,
          50e-6,
          {{{"binomial", {{"A", "1"}}}, 51e-6, 0.001, 48e-6},
           {{"lucky", {{"A", "2"}}}, 40e-6, 0.2, {}},
           {{"better", {{"A", "3"}}}, 90e-6, 0.001, {}},
           {{"same", {{"A", "4"}}}, 96e-6, 0.001, {}}}};
}

TEST(Advice, IsTheFastestSettingThatIsSurelyFaster) {
  const Advice advice = some();
  ASSERT_NE(advice.best(), nullptr);
  EXPECT_EQ(advice.best()->setting.algorithm, "binomial");
  EXPECT_TRUE(advice.removes_violation(advice.tried[0]));
  EXPECT_FALSE(advice.helps(advice.tried[1]));
  EXPECT_TRUE(advice.helps(advice.tried[2]));
  EXPECT_FALSE(advice.removes_violation(advice.tried[2]));
  EXPECT_FALSE(advice.helps(advice.tried[3]));  // 4 %: too little
}

TEST(Advice, IsNeverASettingUnderWhichTheFunctionFailed) {
  Advice advice = some();
  advice.tried[0].failure = "Reduce of 8 B gave a wrong result";
  ASSERT_NE(advice.best(), nullptr);
  EXPECT_EQ(advice.best()->setting.algorithm, "better");
  EXPECT_FALSE(advice.removes_violation(advice.tried[0]));
  EXPECT_NE(advice_text({advice}).find("A=1  not advised: Reduce of 8 B gave a wrong result\n"),
            std::string::npos);
  const auto json = nlohmann::json::parse(advice_json({advice}, "MPICH"));
  EXPECT_EQ(json["advice"][0]["tried"][0]["failure"], "Reduce of 8 B gave a wrong result");
  EXPECT_TRUE(json["advice"][0]["tried"][1]["failure"].is_null());
}

TEST(Advice, NeedsATimeToCompareWith) {
  Advice advice = some();
  advice.before = std::numeric_limits<double>::infinity();
  EXPECT_EQ(advice.best(), nullptr);
  EXPECT_NE(advice_text({advice}).find("could not be measured by default"), std::string::npos);
}

TEST(Advice, SaysSoWhenNoSettingHelps) {
  Advice advice = some();
  advice.tried.erase(advice.tried.begin());
  advice.tried.erase(advice.tried.begin() + 1);
  EXPECT_EQ(advice.best(), nullptr);
  EXPECT_NE(advice_text({advice}).find("1024 B  no setting helps"), std::string::npos);
}

TEST(Advice, IsJsonWithEverySettingThatWasTried) {
  const auto json = nlohmann::json::parse(advice_json({some()}, "MPICH"));
  EXPECT_EQ(json["schema"], kAdviceSchema);
  const auto& advice = json["advice"][0];
  EXPECT_EQ(advice["best"], "binomial");
  ASSERT_EQ(advice["tried"].size(), 4U);
  EXPECT_EQ(advice["tried"][0]["environment"]["A"], "1");
  EXPECT_EQ(advice["tried"][0]["removes_violation"], true);
  EXPECT_TRUE(advice["tried"][1]["hockney_s"].is_null());
}

}  // namespace
}  // namespace nplus1::guidelines
