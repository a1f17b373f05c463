#include "hypothesis/transform/selectors.hpp"

#include <gtest/gtest.h>

namespace nplus1::hypothesis::transform {
namespace {

/// Whether a frame of that function is at the place.
bool finds(const std::string& place, const std::string& function) {
  events::DefinitionsCollector names;
  names.on_call_path({CallSiteId{1}, {{"/bin/app", "", 1, function, "/src/app.cpp", 7}}});
  return paths_at(place, names).has(CallSiteId{1}.value);
}

TEST(Places, AreFunctionsAsReportsCallThem) {
  const std::string step =
      "void app::Solver<double, std::vector<int> >::step<main::{lambda()#1}>(int&&) const";
  for (const char* place : {"app::Solver::step", "Solver::step", "step"})
    EXPECT_TRUE(finds(place, step)) << place;
  for (const char* place : {"tep", "app", "Solver", "other::Solver::step", "::step", "app::Solver::"})
    EXPECT_FALSE(finds(place, step)) << place;
  EXPECT_TRUE(finds("exchange", "ns::exchange(double*, int)"));
  EXPECT_TRUE(finds("ns::exchange", "ns::exchange(double*, int)"));
  EXPECT_TRUE(finds("ns::exchange(double*, int)", "ns::exchange(double*, int)"));
  EXPECT_FALSE(finds("", "ns::exchange(double*, int)"));
}

}  // namespace
}  // namespace nplus1::hypothesis::transform
