#include "guidelines/algorithms.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>

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

/// "coll_tuned_bcast_algorithm" -> {"ignore", "basic_linear", ...}, as the installed library says it.
std::map<std::string, std::vector<std::string>> what_ompi_info_says() {
  std::map<std::string, std::vector<std::string>> found;
  FILE* pipe = popen("ompi_info --param coll tuned --level 9 --parsable 2>/dev/null", "r");
  char line[4096], name[256], value[256];
  int number = 0;
  while (pipe != nullptr && std::fgets(line, sizeof line, pipe) != nullptr) {
    if (std::sscanf(line, "mca:coll:tuned:param:%255[^:]:enumerator:value:%d:%255[^:\n]", name, &number,
                    value) == 3)
      found[name].push_back(value);
  }
  if (pipe != nullptr) pclose(pipe);
  return found;
}

TEST(Algorithms, OfOpenMpiAreThoseThatTheInstalledOneHas) {
  const auto theirs = what_ompi_info_says();
  if (theirs.empty() && std::getenv("NPLUS1_NO_SKIPS") != nullptr) FAIL() << "install openmpi-bin";
  if (theirs.empty()) GTEST_SKIP() << "no ompi_info here";
  for (const char* function : {"Allgather", "Allreduce", "Alltoall", "Bcast", "Gather", "Reduce",
                               "Reduce_scatter", "Reduce_scatter_block", "Scan", "Scatter"}) {
    const auto settings = algorithm_settings("Open MPI v4.1.4", function);
    ASSERT_FALSE(settings.empty()) << function;
    std::string parameter = settings[0].environment[1].first;
    parameter.erase(0, std::string{"OMPI_MCA_"}.size());
    std::vector<std::string> ours{"ignore"};
    for (const auto& setting : settings) ours.push_back(setting.algorithm);
    ASSERT_EQ(theirs.count(parameter), 1U) << parameter;
    EXPECT_EQ(ours, theirs.at(parameter)) << parameter;
  }
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
