#include "hypothesis/whatif/candidates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
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

TEST(Candidates, MessagesWithoutDataAreNoOperationThatMovesSome) {
  RunMessages messages;
  messages.empty = {7};
  const std::vector<RunActivity> sends{{"MPI_Send at a.c:3", "MPI_Send", "", 7, 10, 2.0},
                                       {"MPI_Send at a.c:9", "MPI_Send", "", 8, 10, 2.0}};
  std::set<std::string> replaced;
  std::size_t left_out = 0;
  for (const Candidate& c : candidates_of(sends, messages, {})) {
    if (c.kind == "replace") replaced.insert(c.flags.substr(0, std::string{"--replace 'sends=#8"}.size()));
    left_out += c.kind == "messages" ? 1U : 0U;
  }
  EXPECT_EQ(replaced, std::set<std::string>{"--replace 'sends=#8"});
  EXPECT_EQ(left_out, 2U);  // what a signal costs is told all the same
}

std::vector<Candidate> of_purpose(Purpose purpose, const std::string& compute) {
  RecordedSettings recorded;
  recorded.network = "lsb:latency=1e-6,bandwidth=1e9";
  recorded.compute = compute;
  auto all =
      candidates_of({{"computing before MPI_Send at a.c:3", "computing", "", 7, 10, 2.0}}, {}, recorded);
  std::erase_if(all, [&](const Candidate& c) { return c.purpose != purpose; });
  return all;
}

TEST(Candidates, OfMeasuredComputingItIsToldWhatIsThereEveryTime) {
  const auto steady = of_purpose(Purpose::kSteady, "measured");
  ASSERT_EQ(steady.size(), 2U);  // all computing, and that place
  EXPECT_EQ(steady[1].flags, "--steady 'before=#7'");
  EXPECT_TRUE(steady[1].bound);
  const auto balanced = of_purpose(Purpose::kSteadyBalanced, "measured");
  ASSERT_EQ(balanced.size(), 2U);
  EXPECT_EQ(balanced[1].flags, "--steady 'before=#7' --balance 'before=#7'");
  EXPECT_EQ(balanced[1].subject, steady[1].subject);
}

TEST(Candidates, NothingOfGivenComputingIsNoise) {
  for (const char* given : {"fixed:1e-6", "file:times"})
    EXPECT_TRUE(of_purpose(Purpose::kSteady, given).empty());
}

}  // namespace
}  // namespace nplus1::hypothesis
