#include "guidelines/algorithms.hpp"

#include <gtest/gtest.h>

namespace nplus1::guidelines {
namespace {

TEST(Algorithms, OfMpichAreControlVariables) {
  const auto settings = algorithm_settings("MPICH Version: 4.0.2", "Gather");
  ASSERT_EQ(settings.size(), 2U);
  EXPECT_EQ(settings[0].environment[0],
            (std::pair<std::string, std::string>{"MPIR_CVAR_GATHER_INTRA_ALGORITHM", "binomial"}));
}

TEST(Algorithms, OfOpenMpiAreNumbersThatNeedDynamicRules) {
  const auto settings = algorithm_settings("Open MPI v4.1.4, package: Debian", "Reduce_scatter");
  ASSERT_EQ(settings.size(), 4U);
  EXPECT_EQ(settings[2].algorithm, "ring");
  EXPECT_EQ(settings[2].environment[0].first, "OMPI_MCA_coll_tuned_use_dynamic_rules");
  EXPECT_EQ(settings[2].environment[1],
            (std::pair<std::string, std::string>{"OMPI_MCA_coll_tuned_reduce_scatter_algorithm", "3"}));
}

TEST(Algorithms, OfOtherLibrariesAreNotKnown) {
  EXPECT_TRUE(algorithm_settings("Other MPI 1.0", "Reduce").empty());
}

TEST(Hockney, GivesTheNumbersOfThePaperSection52) {
  const Hockney network{1.7e-6, 0};  // latency only
  EXPECT_NEAR(*estimate(network, "Gather", "linear", 32, 1), 52.7e-6, 1e-12);
  EXPECT_NEAR(*estimate(network, "Gather", "binomial", 32, 1), 8.5e-6, 1e-12);
}

TEST(Hockney, CountsTheBytesThatTheSlowestPathCarries) {
  const Hockney network{0, 1};
  EXPECT_EQ(*estimate(network, "Gather", "binomial", 8, 10), 70);
  EXPECT_EQ(*estimate(network, "Reduce", "binomial", 8, 10), 30);
  EXPECT_EQ(*estimate(network, "Reduce", "reduce_scatter_gather", 8, 16), 28);
  EXPECT_EQ(*estimate(network, "Alltoall", "brucks", 8, 10), 120);
  EXPECT_FALSE(estimate(network, "Reduce", "nb", 8, 10));
}

TEST(Hockney, IsALineThroughTwoSizes) {
  const Hockney network = hockney_from(100, 2e-6, 1100, 3e-6);
  EXPECT_NEAR(network.per_byte, 1e-9, 1e-18);
  EXPECT_NEAR(network.latency, 1.9e-6, 1e-15);
}

}  // namespace
}  // namespace nplus1::guidelines
