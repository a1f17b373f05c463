#include "guidelines/drift.hpp"

#include <gtest/gtest.h>

namespace nplus1::guidelines {
namespace {

Measurement repetition(int mpirun, const std::string& test, double seconds) {
  Measurement m;
  m.mpirun = mpirun;
  m.test = test;
  m.size = 8;
  m.seconds = seconds;
  return m;
}

TEST(Drift, IsFoundWhereALibraryChangesItsAlgorithmAfter14Calls) {
  DriftFinder finder;
  for (int mpirun = 0; mpirun < 3; ++mpirun) {
    for (int i = 0; i < 50; ++i) {
      const double wobble = 1e-8 * (i * 7 % 5);
      finder.add(repetition(mpirun, "Gather", (i < 14 ? 1e-6 : 3e-6) + wobble));
      finder.add(repetition(mpirun, "Bcast", 1e-6 + wobble));
      finder.add(
          repetition(mpirun, "Scan", (mpirun == 0 && i >= 14 ? 3e-6 : 1e-6) + wobble));  // in one mpirun only
    }
  }
  const auto drifts = finder.found();
  ASSERT_EQ(drifts.size(), 1U);
  EXPECT_EQ(drifts[0].test, "Gather");
  EXPECT_EQ(drifts[0].after, 14);
  EXPECT_NEAR(drifts[0].ratio, 3, 0.1);
  EXPECT_EQ(drifts[0].changed, 3U);
  EXPECT_EQ(drift_csv(drifts).substr(0, 53), "test,msize,after,ratio,changed,mpiruns\nGather,8,14,2.");
}

}  // namespace
}  // namespace nplus1::guidelines
