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

TEST(Candidates, OfFilesTellWhatStorageCostsAtMost) {
  RecordedSettings recorded;
  recorded.storage = "latency=1ms,stripes=2";
  const std::vector<RunActivity> activities{
      {"MPI_File_open at a.c:3", "MPI_File_open", "", 7, 4, 1.0},
      {"MPI_File_write_shared at a.c:9", "MPI_File_write_shared", "", 8, 100, 2.0}};
  const auto storages = [&](const std::vector<RunActivity>& of) {
    auto all = candidates_of(of, {}, recorded);
    std::erase_if(all, [](const Candidate& c) { return c.kind != "storage"; });
    return all;
  };
  const auto all = storages(activities);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_NE(all[0].what.find("MPI_File_write_shared at a.c:9"), std::string::npos) << all[0].what;
  EXPECT_EQ(all[0].storage, "latency=0,client=1e+18,total=1e+18,stripes=2,stripe=1048576");
  EXPECT_EQ(all[1].storage, "latency=0,client=1e+09,total=1e+10,stripes=2,stripe=1048576");
  EXPECT_EQ(all[2].storage, "latency=0.001,client=1e+18,total=1e+18,stripes=2,stripe=1048576");
  for (const Candidate& c : all) {
    EXPECT_TRUE(c.bound);
    EXPECT_EQ(c.flags, "--storage " + c.storage);
  }
  EXPECT_TRUE(storages({{"MPI_Send at a.c:3", "MPI_Send", "", 7, 10, 2.0}}).empty());
}

/// A program can ask its MPI library for an algorithm, and nobody for another network.
TEST(Candidates, OfTheNetworksOwnCollectivesIsNoAdvice) {
  const auto all = candidates_of({{"MPI_Barrier at a.c:3", "MPI_Barrier", "", 1, 10, 2.0}}, {}, {});
  std::size_t by_the_network = 0;
  for (const Candidate& c : all) {
    if (c.kind != "collectives") continue;
    EXPECT_EQ(c.bound, c.collectives == "barrier=hardware") << c.what;
    by_the_network += c.bound ? 1U : 0U;
  }
  EXPECT_EQ(by_the_network, 1U);
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
