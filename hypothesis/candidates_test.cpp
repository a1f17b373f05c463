#include "hypothesis/candidates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace nplus1::hypothesis {
namespace {

TEST(Candidates, AreAlgorithmsThatMpiLibrariesHave) {
  RecordedSettings recorded;
  recorded.network = "lsb:latency=1e-6,bandwidth=1e9";
  for (const std::string kind : {"reduce", "reduce_scatter"}) {
    const auto all = candidates_of({{"somewhere", "MPI_" + kind, "", 1, 10, 2.0}}, {}, recorded);
    const auto proposed = [&](const std::string& algorithm) {
      return std::any_of(all.begin(), all.end(),
                         [&](const Candidate& c) { return c.collectives == kind + "=" + algorithm; });
    };
    EXPECT_TRUE(proposed("linear")) << kind;
    EXPECT_FALSE(proposed("simgrid_linear")) << kind;
  }
}

}  // namespace
}  // namespace nplus1::hypothesis
