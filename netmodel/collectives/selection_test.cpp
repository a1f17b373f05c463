#include "netmodel/collectives/selection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace nplus1::netmodel {
namespace {

std::string_view mpich(CollectiveKind kind, std::int32_t members, std::int64_t size) {
  return Selection{}.choose({.kind = kind, .members = members, .size = bytes(size)}).name;
}

CollectiveKind kind_at(std::size_t index) {
  return static_cast<CollectiveKind>(index);
}

TEST(Selection, DefaultsToTheThresholdsOfMpichForRootedCollectives) {
  EXPECT_EQ(mpich(CollectiveKind::kBcast, 7, 1 << 30), "binomial");
  EXPECT_EQ(mpich(CollectiveKind::kBcast, 8, 12288), "binomial");
  EXPECT_EQ(mpich(CollectiveKind::kBcast, 8, 12289), "scatter_recursive_doubling_allgather");
  EXPECT_EQ(mpich(CollectiveKind::kBcast, 8, 524288), "scatter_recursive_doubling_allgather");
  EXPECT_EQ(mpich(CollectiveKind::kBcast, 8, 524289), "scatter_ring_allgather");
  EXPECT_EQ(mpich(CollectiveKind::kBcast, 9, 12289), "scatter_ring_allgather");
  EXPECT_EQ(mpich(CollectiveKind::kReduce, 16, 2048), "binomial");
  EXPECT_EQ(mpich(CollectiveKind::kReduce, 16, 2049), "rabenseifner");
  EXPECT_EQ(mpich(CollectiveKind::kReduce, 1024, 4096), "binomial");
  EXPECT_EQ(mpich(CollectiveKind::kGather, 16, 1 << 20), "binomial");
  EXPECT_EQ(mpich(CollectiveKind::kScatter, 16, 1 << 20), "binomial");
}

TEST(Selection, DefaultsToTheThresholdsOfMpichForTheOthers) {
  EXPECT_EQ(mpich(CollectiveKind::kAllreduce, 16, 8), "recursive_doubling");
  EXPECT_EQ(mpich(CollectiveKind::kAllreduce, 16, 15 * 8), "recursive_doubling");
  EXPECT_EQ(mpich(CollectiveKind::kAllreduce, 16, 16 * 8), "rabenseifner");
  EXPECT_EQ(mpich(CollectiveKind::kAllgather, 16, 524288 / 16 - 1), "recursive_doubling");
  EXPECT_EQ(mpich(CollectiveKind::kAllgather, 16, 524288 / 16), "ring");
  EXPECT_EQ(mpich(CollectiveKind::kAllgather, 10, 8191), "bruck");
  EXPECT_EQ(mpich(CollectiveKind::kAllgather, 10, 8192), "ring");
  EXPECT_EQ(mpich(CollectiveKind::kAllgatherv, 10, 8192), "pipelined_ring");
  EXPECT_EQ(mpich(CollectiveKind::kAlltoall, 9, 256), "bruck");
  EXPECT_EQ(mpich(CollectiveKind::kAlltoall, 9, 257), "scattered");
  EXPECT_EQ(mpich(CollectiveKind::kAlltoall, 8, 256), "scattered");
  EXPECT_EQ(mpich(CollectiveKind::kAlltoall, 8, 32768), "scattered");
  EXPECT_EQ(mpich(CollectiveKind::kAlltoall, 8, 32769), "pairwise");
  EXPECT_EQ(mpich(CollectiveKind::kReduceScatterBlock, 16, 524288 / 16 - 1), "recursive_halving");
  EXPECT_EQ(mpich(CollectiveKind::kReduceScatterBlock, 16, 524288 / 16), "pairwise");
}

TEST(Selection, KnowsADefaultForEveryKind) {
  for (std::size_t k = 0; k < kCollectiveKinds; ++k) {
    EXPECT_FALSE(algorithms_of(kind_at(k)).empty()) << k;
    for (const std::int64_t size : {1, 3000, 1 << 22}) {
      for (const std::int32_t members : {2, 8, 11}) EXPECT_NO_THROW((void)mpich(kind_at(k), members, size));
    }
  }
}

TEST(Selection, ListsEachKindTogetherAndEachNameOnce) {
  const auto all = all_algorithms();
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [](auto& a, auto& b) { return a.kind < b.kind; }));
  std::set<std::pair<CollectiveKind, std::string_view>> names;
  for (const Algorithm& algorithm : all) EXPECT_TRUE(names.emplace(algorithm.kind, algorithm.name).second);
}

TEST(Selection, OverridesOnlyWhatItNames) {
  const auto selection = Selection::parse("bcast=chain,allreduce=ring");
  ASSERT_TRUE(selection.ok());
  const CollectiveCall bcast{.kind = CollectiveKind::kBcast, .members = 4, .size = bytes(8)};
  const CollectiveCall reduce{.kind = CollectiveKind::kReduce, .members = 4, .size = bytes(8)};
  EXPECT_EQ(selection.value().choose(bcast).name, "chain");
  EXPECT_EQ(selection.value().choose(reduce).name, "binomial");
  EXPECT_EQ(selection.value().describe(), "bcast=chain,allreduce=ring");
}

TEST(Selection, TakesMpichForTheWholeOrForOneKind) {
  for (const char* text : {"", "mpich", "bcast=mpich"}) {
    const auto selection = Selection::parse(text);
    ASSERT_TRUE(selection.ok()) << text;
    EXPECT_EQ(selection.value(), Selection{}) << text;
  }
  EXPECT_EQ(Selection{}.describe(), "mpich");
}

TEST(Selection, DescribeReadsBackAsTheSame) {
  std::mt19937 random{1};
  for (int i = 0; i < 200; ++i) {
    std::string text;
    for (std::size_t k = 0; k < kCollectiveKinds; ++k) {
      const auto known = algorithms_of(kind_at(k));
      if (random() % 2 == 0) continue;
      if (!text.empty()) text += ',';
      text.append(kind_name(kind_at(k))).append("=").append(known[random() % known.size()].name);
    }
    const auto selection = Selection::parse(text);
    ASSERT_TRUE(selection.ok()) << text;
    const auto again = Selection::parse(selection.value().describe());
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again.value(), selection.value());
    EXPECT_EQ(selection.value().describe(), text.empty() ? "mpich" : text);
  }
}

TEST(Selection, ErrorsListWhatExists) {
  const auto collective = Selection::parse("broadcast=chain");
  ASSERT_FALSE(collective.ok());
  EXPECT_NE(collective.error().what.find("'broadcast'"), std::string::npos);
  EXPECT_NE(collective.error().remedy.find("bcast"), std::string::npos);
  const auto algorithm = Selection::parse("bcast=ring");
  ASSERT_FALSE(algorithm.ok());
  EXPECT_NE(algorithm.error().what.find("bcast has no algorithm 'ring'"), std::string::npos);
  EXPECT_NE(algorithm.error().remedy.find("linear, binomial, chain"), std::string::npos);
}

TEST(Selection, RejectsWhatIsNotAListOfOverrides) {
  for (const char* text :
       {"bcast", "bcast=", "=chain", "bcast=chain,", ",bcast=chain", "bcast=chain,bcast=linear"}) {
    EXPECT_FALSE(Selection::parse(text).ok()) << text;
  }
}

TEST(Selection, FollowsALibraryButForWhatIsNamed) {
  const auto selection =
      Selection::parse("openmpi,bcast=mpich,reduce=pipelined,segment=8KiB,ranks_per_node=4");
  ASSERT_TRUE(selection.ok());
  const CollectiveCall bcast{.kind = CollectiveKind::kBcast, .members = 16, .size = bytes(64)};
  const CollectiveCall scan{.kind = CollectiveKind::kScan, .members = 16, .size = bytes(64)};
  EXPECT_EQ(selection.value().choose(bcast).name, "binomial");
  EXPECT_EQ(selection.value().choose(scan).name, "linear");
  EXPECT_EQ(selection.value().tuned(bcast).segment, bytes(8192));
  EXPECT_EQ(selection.value().tuned(bcast).ranks_per_node, 4);
  EXPECT_EQ(selection.value().describe(),
            "openmpi,bcast=mpich,reduce=pipelined,segment=8192,ranks_per_node=4");
  const auto again = Selection::parse(selection.value().describe());
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again.value(), selection.value());
}

TEST(Selection, KnowsAChoiceOfEveryLibraryForEverySizeAndNumberOfMembers) {
  for (const char* library : {"mpich", "openmpi", "simgrid:default", "simgrid:mpich", "simgrid:ompi"}) {
    const auto selection = Selection::parse(library);
    ASSERT_TRUE(selection.ok()) << library;
    EXPECT_EQ(selection.value().describe(), library);
    for (std::size_t k = 0; k < kCollectiveKinds; ++k) {
      for (std::int32_t members = 2; members < 10000; members = members * 3 / 2 + 1) {
        for (std::int64_t size = 1; size < (1 << 24); size *= 2)
          EXPECT_NO_THROW(
              (void)selection.value().choose({.kind = kind_at(k), .members = members, .size = bytes(size)}));
      }
    }
  }
}

TEST(Selection, CombinesAtARateOrInNoTime) {
  EXPECT_EQ(Selection{}.combining(bytes(1 << 20)), Duration{});
  const auto selection = Selection::parse("reduce_rate=4GBps");
  ASSERT_TRUE(selection.ok());
  EXPECT_EQ(selection.value().combining(bytes(1000)), std::chrono::nanoseconds{250});
  EXPECT_EQ(Selection::parse(selection.value().describe()).value(), selection.value());
}

TEST(Selection, CopiesAtARateOrInNoTime) {
  const CollectiveCall call{.kind = CollectiveKind::kAlltoall, .members = 4, .size = bytes(1000)};
  EXPECT_EQ(Selection{}.copying(call), Duration{});
  const auto selection = Selection::parse("alltoall=pairwise,copy_rate=4GBps");
  ASSERT_TRUE(selection.ok());
  EXPECT_EQ(selection.value().copying(call), std::chrono::nanoseconds{250});
  for (const char* with_many : {"alltoall=scattered,copy_rate=4GBps", "alltoall=linear,copy_rate=4GBps"})
    EXPECT_EQ(Selection::parse(with_many).value().copying(call), std::chrono::nanoseconds{500});
  EXPECT_EQ(selection.value().combining(bytes(1000)), Duration{});
  EXPECT_EQ(Selection::parse(selection.value().describe()).value(), selection.value());
}

TEST(Selection, SaysWhichLibrariesExistAndWhatParametersMayBe) {
  for (const char* text :
       {"intel", "simgrid:impi", "openmpi,", "segment=0", "ranks_per_node=0", "segment=x"}) {
    const auto selection = Selection::parse(text);
    ASSERT_FALSE(selection.ok()) << text;
    EXPECT_FALSE(selection.error().remedy.empty()) << text;
  }
  EXPECT_NE(Selection::parse("intel").error().remedy.find("openmpi"), std::string::npos);
}

}  // namespace
}  // namespace nplus1::netmodel
