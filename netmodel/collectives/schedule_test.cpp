// What every algorithm must do, whatever its shape: end, leave no message behind, and make each member depend
// on exactly those members (or at least those) that MPI's definition of the collective says.
#include "netmodel/collectives/schedule.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <numeric>
#include <ostream>
#include <random>
#include <stdexcept>

#include "netmodel/collectives/testing/executor.hpp"
#include "netmodel/latency_bandwidth/latency_bandwidth.hpp"

namespace nplus1::netmodel {

void PrintTo(const Algorithm& algorithm, std::ostream* out) {
  *out << kind_name(algorithm.kind) << '=' << algorithm.name;
}

namespace {

using testing::everywhere;
using testing::execute;
using testing::Members;
using testing::Outcome;
using testing::select;

const LatencyBandwidth& network() {
  static const LatencyBandwidth lsb{{}};
  return lsb;
}

constexpr std::array<std::int32_t, 18> kMembers{1,  2,  3,  4,  5,  6,  7,  8,  9,
                                                10, 11, 12, 13, 14, 15, 16, 17, 32};
constexpr std::array<std::int64_t, 4> kSizes{0, 1, 1000, 1 << 20};

Members only(std::int32_t member) {
  return Members{1} << member;
}
Members first(std::int32_t members) {
  return (Members{1} << members) - 1;
}

bool neighborhood(CollectiveKind kind) {
  return kind == CollectiveKind::kNeighborAllgather || kind == CollectiveKind::kNeighborAlltoall;
}
bool without_payload(CollectiveKind kind) {
  return kind == CollectiveKind::kBarrier || kind == CollectiveKind::kSynchronize;
}

/// On whom `me` must depend, and on whom else it may.
struct Dependence {
  Members must;
  Members may;
};

Dependence exactly(Members members) {
  return {members, members};
}

Dependence expected(const Algorithm& algorithm, const CollectiveCall& call) {
  const Members all = first(call.members);
  const bool root = call.me == call.root;
  switch (algorithm.kind) {
    case CollectiveKind::kBcast:
      // In the libraries' allgather the root receives what it has already, so it stays.
      if (algorithm.name.find("scatter_") != std::string_view::npos)
        return {only(call.me) | only(call.root), all};
      [[fallthrough]];
    case CollectiveKind::kScatter:
    case CollectiveKind::kScatterv:
      return {only(call.me) | only(call.root), root ? only(call.me) : all};
    case CollectiveKind::kGather:
    case CollectiveKind::kGatherv:
    case CollectiveKind::kReduce:
      return {root ? all : only(call.me), all};
    case CollectiveKind::kScan:
    case CollectiveKind::kExscan:
      return algorithm.name == "recursive_doubling" ? Dependence{first(call.me + 1), all}
                                                    : exactly(first(call.me + 1));
    default:
      return exactly(all);
  }
}

void expect_sound(const Outcome& outcome, const std::vector<CollectiveCall>& calls,
                  const Algorithm& algorithm) {
  ASSERT_TRUE(outcome.finished) << "deadlock";
  EXPECT_EQ(outcome.unreceived, 0U);
  for (const CollectiveCall& call : calls) {
    const Dependence dependence = expected(algorithm, call);
    const Members actual = outcome.depends_on[static_cast<std::size_t>(call.me)];
    EXPECT_EQ(actual & dependence.must, dependence.must) << "member " << call.me << " misses someone";
    EXPECT_EQ(actual & ~dependence.may, 0U) << "member " << call.me << " waits for someone needlessly";
  }
}

void expect_nothing_moved(const Outcome& outcome) {
  ASSERT_TRUE(outcome.finished);
  for (const std::int64_t messages : outcome.messages) EXPECT_EQ(messages, 0);
}

/// Alltoallv without receive_sizes, and libnbc's v forms, exchange empty messages.
bool moves_empty_blocks(const Algorithm& algorithm) {
  return algorithm.kind == CollectiveKind::kAlltoallv ||
         (algorithm.name == "libnbc_linear" &&
          (algorithm.kind == CollectiveKind::kGatherv || algorithm.kind == CollectiveKind::kScatterv));
}

void check_call(const Algorithm& algorithm, const std::vector<CollectiveCall>& calls) {
  SCOPED_TRACE(::testing::Message() << kind_name(algorithm.kind) << "=" << algorithm.name << " members "
                                    << calls.size() << " root " << calls[0].root << " size "
                                    << count(calls[0].size));
  const Outcome outcome = execute(calls, select(algorithm.kind, algorithm.name), network());
  const bool skipped = count(calls[0].size) == 0 && !without_payload(algorithm.kind);
  if (skipped && !moves_empty_blocks(algorithm)) return expect_nothing_moved(outcome);
  expect_sound(outcome, calls, algorithm);
}

void check_all_roots_and_sizes(const Algorithm& algorithm, std::int32_t members) {
  for (const std::int64_t size : kSizes) {
    for (std::int32_t root = 0; root < members; ++root) {
      CollectiveCall call;
      call.kind = algorithm.kind;
      call.root = root;
      call.size = bytes(size);
      check_call(algorithm, everywhere(call, members));
    }
  }
}

class EveryAlgorithm : public ::testing::TestWithParam<Algorithm> {};

TEST_P(EveryAlgorithm, EndsAndMakesEachMemberDependOnWhomMpiSays) {
  for (const std::int32_t members : kMembers) check_all_roots_and_sizes(GetParam(), members);
}

TEST_P(EveryAlgorithm, LetsASingleMemberPass) {
  CollectiveCall call;
  call.kind = GetParam().kind;
  call.size = bytes(1000);
  expect_nothing_moved(execute(everywhere(call, 1), select(call.kind, GetParam().name), network()));
}

TEST_P(EveryAlgorithm, AppendsBehindTheStepsThatAreThere) {
  CollectiveCall call;
  call.kind = GetParam().kind;
  call.members = 4;
  call.me = 2;
  call.size = bytes(1000);
  std::vector<Step> steps{{7, 8, bytes(9)}};
  append_steps(call, select(call.kind, GetParam().name), steps);
  EXPECT_EQ(steps[0].send_to, 7);
  EXPECT_EQ(steps[0].receive_from, 8);
  EXPECT_GT(steps.size(), 1U);
}

/// All but the neighbourhood forms, which need edges: see Neighborhoods.
std::vector<Algorithm> without_edges() {
  std::vector<Algorithm> algorithms;
  for (const Algorithm& algorithm : all_algorithms()) {
    if (!neighborhood(algorithm.kind)) algorithms.push_back(algorithm);
  }
  return algorithms;
}

std::string test_name(const ::testing::TestParamInfo<Algorithm>& info) {
  return std::string{kind_name(info.param.kind)}.append("_").append(info.param.name);
}

INSTANTIATE_TEST_SUITE_P(Schedules, EveryAlgorithm, ::testing::ValuesIn(without_edges()), test_name);

// Sizes per member

/// Random sizes of which about a third are zero, and what follows for each member of an Alltoallv.
struct Matrix {
  Matrix(std::int32_t members, std::uint32_t seed) : n{static_cast<std::size_t>(members)}, sends(n * n) {
    std::mt19937 random{seed};
    for (std::int64_t& size : sends)
      size = random() % 3 == 0 ? 0 : static_cast<std::int64_t>(random() % 5000);
    receives.resize(n * n);
    for (std::size_t i = 0; i < n * n; ++i) receives[i] = sends[i % n * n + i / n];
  }
  [[nodiscard]] std::span<const std::int64_t> row(const std::vector<std::int64_t>& of,
                                                  std::int32_t member) const {
    return std::span{of}.subspan(static_cast<std::size_t>(member) * n, n);
  }

  std::size_t n;
  std::vector<std::int64_t> sends;
  std::vector<std::int64_t> receives;
};

class Alltoallv : public ::testing::TestWithParam<Algorithm> {};

TEST_P(Alltoallv, ExchangesTheBlocksAndOnlyOpenMpiEmptyOnes) {
  for (const std::int32_t members : kMembers) {
    const Matrix matrix{members, static_cast<std::uint32_t>(members)};
    auto calls = everywhere({.kind = CollectiveKind::kAlltoallv}, members);
    for (CollectiveCall& call : calls) {
      call.sizes = matrix.row(matrix.sends, call.me);
      call.receive_sizes = matrix.row(matrix.receives, call.me);
    }
    const Outcome outcome = execute(calls, select(GetParam().kind, GetParam().name), network());
    ASSERT_TRUE(outcome.finished);
    EXPECT_EQ(outcome.unreceived, 0U);
    for (const CollectiveCall& call : calls) {
      std::int64_t sent = 0;
      std::int64_t messages = 0;
      for (std::int32_t to = 0; to < members; ++to) {
        const std::int64_t size = call.sizes[static_cast<std::size_t>(to)];
        if (to != call.me) sent += size;
        if (to != call.me && size > 0) ++messages;
      }
      EXPECT_EQ(outcome.sent[static_cast<std::size_t>(call.me)], sent);
      const bool sends_empty_ones = GetParam().name.starts_with("openmpi_");
      EXPECT_EQ(outcome.messages[static_cast<std::size_t>(call.me)],
                sends_empty_ones ? members - 1 : messages);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Schedules, Alltoallv,
                         ::testing::ValuesIn(algorithms_of(CollectiveKind::kAlltoallv).begin(),
                                             algorithms_of(CollectiveKind::kAlltoallv).end()),
                         test_name);

/// Sizes with holes in them: 0, 1000, 2000, 0, 1000, ...
std::vector<std::int64_t> with_holes(std::int32_t members) {
  std::vector<std::int64_t> sizes;
  for (std::int32_t m = 0; m < members; ++m) sizes.push_back(m % 3 * 1000);
  return sizes;
}

/// Those whose block is not empty.
Members contributors(const std::vector<std::int64_t>& sizes) {
  Members members = 0;
  for (std::size_t m = 0; m < sizes.size(); ++m) members |= sizes[m] > 0 ? Members{1} << m : 0;
  return members;
}

TEST(BlocksPerMember, AllgathervBringsEveryBlockToEverybody) {
  for (const Algorithm& algorithm : algorithms_of(CollectiveKind::kAllgatherv)) {
    for (const std::int32_t members : kMembers) {
      const auto sizes = with_holes(members);
      CollectiveCall call{.kind = CollectiveKind::kAllgatherv};
      call.sizes = sizes;
      const Outcome outcome =
          execute(everywhere(call, members), select(call.kind, algorithm.name), network());
      SCOPED_TRACE(::testing::Message() << algorithm.name << " members " << members);
      ASSERT_TRUE(outcome.finished);
      EXPECT_EQ(outcome.unreceived, 0U);
      const std::int64_t total = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
      EXPECT_EQ(outcome.total_sent() >= total * (members - 1), true);
      for (const Members known : outcome.depends_on) EXPECT_EQ(contributors(sizes) & ~known, 0U);
    }
  }
}

TEST_P(EveryAlgorithm, TakesNoMoreStepsForHugeSizesThanForLargeOnes) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 44U;
  constexpr std::size_t kPieces = 65536;
  for (const std::int32_t members : {2, 5}) {
    CollectiveCall call;
    call.kind = GetParam().kind;
    call.members = members;
    call.me = 1;
    call.size = bytes(kHuge);
    std::vector<Step> steps;
    append_steps(call, select(call.kind, GetParam().name), steps);
    EXPECT_LE(steps.size(), 3 * (kPieces + static_cast<std::size_t>(members)));
  }
}

TEST(BlocksPerMember, ReduceScatterMakesWhoeverGetsABlockDependOnAll) {
  for (const Algorithm& algorithm : algorithms_of(CollectiveKind::kReduceScatter)) {
    for (const std::int32_t members : kMembers) {
      const auto sizes = with_holes(members);
      CollectiveCall call{.kind = CollectiveKind::kReduceScatter};
      call.sizes = sizes;
      const Outcome outcome =
          execute(everywhere(call, members), select(call.kind, algorithm.name), network());
      SCOPED_TRACE(::testing::Message() << algorithm.name << " members " << members);
      ASSERT_TRUE(outcome.finished);
      EXPECT_EQ(outcome.unreceived, 0U);
      for (std::size_t m = 0; m < sizes.size(); ++m) {
        if (sizes[m] == 0) continue;
        EXPECT_EQ(outcome.depends_on[m], first(members));
      }
    }
  }
}

TEST(BlocksPerMember, GathervAndScattervMoveEachBlockOnceAndSkipEmptyOnes) {
  for (const CollectiveKind kind : {CollectiveKind::kGatherv, CollectiveKind::kScatterv}) {
    for (const std::int32_t members : kMembers) {
      const auto sizes = with_holes(members);
      auto calls = everywhere({.kind = kind}, members);
      for (CollectiveCall& call : calls) {
        call.root = members / 2;
        call.size = bytes(sizes[static_cast<std::size_t>(call.me)]);
        if (call.me == call.root) call.sizes = sizes;
      }
      const Outcome outcome = execute(calls, Selection{}, network());
      ASSERT_TRUE(outcome.finished);
      EXPECT_EQ(outcome.unreceived, 0U);
      const std::int64_t own = sizes[static_cast<std::size_t>(members / 2)];
      EXPECT_EQ(outcome.total_sent(), std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) - own);
      const auto messages =
          std::accumulate(outcome.messages.begin(), outcome.messages.end(), std::int64_t{0});
      EXPECT_EQ(messages, std::popcount(contributors(sizes) & ~only(members / 2)));
    }
  }
}

// Neighbourhoods

TEST(Neighborhoods, MakeAMemberDependOnItsSourcesOnly) {
  for (const std::int32_t members : kMembers) {
    const auto n = static_cast<std::uint32_t>(members);
    auto calls = everywhere({.kind = CollectiveKind::kNeighborAlltoall, .size = bytes(1000)}, members);
    std::vector<std::array<std::uint32_t, 2>> next(n);  // a ring, twice: itself where there is one member
    std::vector<std::array<std::uint32_t, 2>> previous(n);
    for (std::uint32_t m = 0; m < n; ++m) {
      next[m] = {(m + 1) % n, (m + 2) % n};
      previous[m] = {(m + n - 1) % n, (m + 2 * n - 2) % n};
      calls[m].destinations = next[m];
      calls[m].sources = previous[m];
    }
    const Outcome outcome = execute(calls, Selection{}, network());
    ASSERT_TRUE(outcome.finished);
    EXPECT_EQ(outcome.unreceived, 0U);
    EXPECT_EQ(outcome.makespan(), network().transit(RankId{0}, RankId{1}, bytes(1000)));
    for (std::size_t m = 0; m < n; ++m) {
      EXPECT_EQ(outcome.depends_on[m],
                Members{1} << m | Members{1} << previous[m][0] | Members{1} << previous[m][1]);
    }
  }
}

TEST(Neighborhoods, TakeSizesPerDestination) {
  const std::array<std::uint32_t, 3> destinations{2, 0, 2};
  const std::array<std::int64_t, 3> sizes{5, 0, 7};
  CollectiveCall call{.kind = CollectiveKind::kNeighborAlltoall, .members = 3, .me = 1};
  call.destinations = destinations;
  call.sizes = sizes;
  std::vector<Step> steps;
  append_steps(call, steps);
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[0].size, bytes(5));
  EXPECT_EQ(steps[1].send_to, 0);
  EXPECT_EQ(steps[2].size, bytes(7));
}

// What moves nothing

TEST(BetweenGroups, WhoMovesNothingHasNoSteps) {
  constexpr std::array kKinds{CollectiveKind::kBcast,     CollectiveKind::kReduce,
                              CollectiveKind::kAllreduce, CollectiveKind::kReduceScatterBlock,
                              CollectiveKind::kGather,    CollectiveKind::kScatter,
                              CollectiveKind::kAllgather, CollectiveKind::kAllgatherv,
                              CollectiveKind::kAlltoall,  CollectiveKind::kBarrier};
  for (const CollectiveKind kind : kKinds)
    for (const bool blocking : {true, false})
      for (std::int32_t me = 0; me < 5; ++me)
        for (const std::int32_t root : {0, 4})
          for (const std::int64_t size : {0, 8}) {
            CollectiveCall call{.kind = kind, .blocking = blocking, .members = 5, .me = me, .root = root};
            call.first_group = 2;
            const bool rooted = kind != CollectiveKind::kAllreduce && kind != CollectiveKind::kAllgather;
            const bool beside = rooted && me != root && (me < 2) == (root < 2);
            if (beside) call.root = kNoMember;
            call.size = bytes(size);
            std::vector<Step> steps;
            append_steps(call, steps);
            const bool nothing = moves_nothing_between_groups(kind, call.size, call.sizes);
            EXPECT_TRUE(steps.empty() || !nothing) << kind_name(kind) << ", member " << me << ", " << size;
            const bool exchanges = kind == CollectiveKind::kAlltoall || kind == CollectiveKind::kBarrier;
            EXPECT_EQ(nothing, size == 0 && !exchanges) << kind_name(kind);
          }
}

TEST(BetweenGroups, WhoGetsSomethingFromTheOtherGroupMovesSomething) {
  const std::array<std::int64_t, 1> theirs{8};
  CollectiveCall call{
      .kind = CollectiveKind::kAllgather, .members = 5, .me = 1, .first_group = 2, .sizes = theirs};
  std::vector<Step> steps;
  append_steps(call, steps);
  EXPECT_FALSE(steps.empty());
  EXPECT_FALSE(moves_nothing_between_groups(call.kind, call.size, call.sizes));
}

TEST(BetweenGroups, OfNonBlockingExchangesWithAListAlltoallwAloneSendsEmptyBlocks) {
  const std::array<std::int64_t, 3> none{0, 0, 0};
  const auto steps_of = [&](bool blocking, bool travel) {
    CollectiveCall call{.kind = CollectiveKind::kAlltoallv,
                        .blocking = blocking,
                        .members = 5,
                        .me = 1,
                        .first_group = 2,
                        .sizes = none,
                        .receive_sizes = none};
    call.empty_blocks_travel = travel;
    std::vector<Step> steps;
    append_steps(call, steps);
    return steps.size();
  };
  EXPECT_EQ(steps_of(false, false), 0U);
  EXPECT_EQ(steps_of(false, true), 3U);
  EXPECT_EQ(steps_of(true, false), 3U);
}

// Calls that contradict themselves

TEST(AppendSteps, RejectsCallsThatContradictThemselves) {
  const std::array<std::int64_t, 3> three{1, 2, 3};
  std::vector<Step> steps;
  CollectiveCall root{.kind = CollectiveKind::kBcast, .members = 4, .root = 4, .size = bytes(1)};
  EXPECT_THROW(append_steps(root, steps), std::invalid_argument);
  CollectiveCall me{.kind = CollectiveKind::kBarrier, .members = 4, .me = -1};
  EXPECT_THROW(append_steps(me, steps), std::invalid_argument);
  CollectiveCall sizes{.kind = CollectiveKind::kAllgatherv, .members = 4, .sizes = three};
  EXPECT_THROW(append_steps(sizes, steps), std::invalid_argument);
  CollectiveCall receives{.kind = CollectiveKind::kAlltoallv, .members = 4, .receive_sizes = three};
  EXPECT_THROW(append_steps(receives, steps), std::invalid_argument);
  const std::array<std::uint32_t, 2> neighbours{1, 4};
  CollectiveCall sources{.kind = CollectiveKind::kNeighborAllgather, .members = 4, .sources = neighbours};
  EXPECT_THROW(append_steps(sources, steps), std::invalid_argument);
  CollectiveCall destinations{
      .kind = CollectiveKind::kNeighborAlltoall, .members = 4, .destinations = neighbours};
  EXPECT_THROW(append_steps(destinations, steps), std::invalid_argument);
  EXPECT_TRUE(steps.empty());
}

TEST(AppendSteps, BetweenGroupsTheRootIsInTheOtherOneOrTheMemberItself) {
  CollectiveCall call{
      .kind = CollectiveKind::kGather, .members = 5, .me = 3, .first_group = 2, .size = bytes(1)};
  std::vector<Step> steps;
  for (const std::int32_t root : {1, 3, netmodel::kNoMember}) {
    call.root = root;
    EXPECT_NO_THROW(append_steps(call, steps)) << root;
  }
  for (const std::int32_t root : {2, 4, 5}) {
    call.root = root;
    EXPECT_THROW(append_steps(call, steps), std::invalid_argument) << root;
  }
}

TEST(AppendSteps, IgnoresTheRootWhereThereIsNone) {
  std::vector<Step> steps;
  append_steps({.kind = CollectiveKind::kBarrier, .members = 4, .root = -1}, steps);
  EXPECT_EQ(steps.size(), 2U);
}

}  // namespace
}  // namespace nplus1::netmodel
