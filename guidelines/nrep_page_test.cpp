#include "guidelines/nrep_page.hpp"

#include <gtest/gtest.h>

namespace nplus1::guidelines {
namespace {

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST(NrepPage, DrawsTheChosenMetricsOfEachPrediction) {
  std::vector<Look> looks;
  for (int prediction = 0; prediction < 3; ++prediction)
    for (const int n : {10, 25, 50})
      looks.push_back({"Scan",
                       8,
                       prediction,
                       n,
                       {0.5 / n, n >= 30 ? std::optional<double>{0.005} : std::nullopt, 0.1},
                       1e-6,
                       n == 50});
  const std::string page = nrep_page(looks, {});
  EXPECT_EQ(count(page, "<figure>"), 1U);
  EXPECT_EQ(count(page, "<polyline class=\"rse\""), 3U);
  EXPECT_EQ(count(page, "<polyline class=\"mean\""), 3U);
  EXPECT_EQ(count(page, "<polyline class=\"median\""), 0U);  // not chosen
  EXPECT_EQ(count(page, "class=\"limit"), 2U);
  EXPECT_NE(page.find("8 B: 50<"), page.npos);
}

}  // namespace
}  // namespace nplus1::guidelines
