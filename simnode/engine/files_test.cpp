// Files against closed forms. Network: L = 1000 ns, 1 byte/ns. Storage: 10 us, 1 byte/ns for a client, 2 byte/ns in all, on
// two servers with stripes of 100 bytes: a server moves 1 byte/ns (docs/files.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "simnode/engine/testing/file_calls.hpp"

namespace nplus1::simnode::engine {
namespace {

using events::FileOperation;

constexpr double kStorageLatency = 10'000;
constexpr const char* kFilesNetwork = "lsb:latency=1e-06,bandwidth=1e+09";

Options storage(const char* text = "latency=10us,client=1GB/s,total=2GB/s,stripes=2,stripe=100B") {
  Options options;
  options.storage = netmodel::parse_storage(text).value();
  return options;
}

World world_of(int ranks) {
  return World{ranks, kFilesNetwork, storage()};
}

/// When the last call of each rank returned, after all have finalized.
std::vector<Time> ends_of(World& world, int ranks) {
  std::vector<Time> all;
  world.engine().decide();
  for (int r = 0; r < ranks; ++r) world.finalize(r);
  world.engine().decide();
  for (int r = 0; r < ranks; ++r) all.push_back(world.exit(r));
  return all;
}

TEST(Files, ARequestTakesTheLatencyAndTheSlowerOfClientAndServers) {
  World world = world_of(1);
  read_file(world, 0, 0, 50);  // one stripe: client and server alike
  world.engine().decide();
  EXPECT_EQ(world.exit(0), ns(kStorageLatency + 50));
  write_file(world, 0, 0, 1000);  // the servers take 500 each
  world.engine().decide();
  EXPECT_EQ(world.exit(0), ns(2 * kStorageLatency + 50 + 1000));
  EXPECT_EQ(world.last(0).answer.aux, 0U);
}

TEST(Files, AServerThatHasMoreThanItsShareIsWaitedFor) {
  World world{1, kFilesNetwork, storage("latency=10us,client=100GB/s,total=2GB/s,stripes=2,stripe=100B")};
  write_file(world, 0, 0, 100);
  world.engine().decide();
  EXPECT_EQ(world.exit(0), ns(kStorageLatency + 100));
  write_file(world, 0, 0, 300);  // 200 on the first, 100 on the second
  world.engine().decide();
  EXPECT_EQ(world.exit(0), ns(2 * kStorageLatency + 100 + 200));
}

TEST(Files, MetadataTakeTheLatencyAndQueueForNothing) {
  World world = world_of(2);
  write_file(world, 0, 0, 1'000'000);
  world.push(1, file_event(FileOperation::kMetadata, 0, 0));
  const auto end = ends_of(world, 2);
  EXPECT_EQ(end[1], ns(kStorageLatency));
  EXPECT_EQ(end[0], ns(kStorageLatency + 1'000'000));
}

TEST(Files, ClientsShareTheServersInTheOrderInWhichTheyAsk) {
  World world = world_of(3);
  world.compute(300);
  write_file(world, 0, 0, 100);
  world.compute(100);
  write_file(world, 1, 0, 100);
  world.compute(200);
  write_file(world, 2, 100, 100);  // the other server
  world.engine().decide();
  EXPECT_EQ(world.exit(1), ns(kStorageLatency + 200));
  EXPECT_EQ(world.exit(0), ns(kStorageLatency + 400));
  EXPECT_EQ(world.exit(2), ns(kStorageLatency + 300));
}

TEST(Files, WhatIsLostToOthersIsSaid) {
  World world = world_of(2);
  write_file(world, 0, 0, 100);
  world.compute(30);
  write_file(world, 1, 0, 100);
  world.engine().decide();
  EXPECT_EQ(world.exit(1), ns(kStorageLatency + 200));
  EXPECT_EQ(world.last(0).answer.aux, 0U);
  EXPECT_EQ(world.last(1).answer.aux, 70'000U);
}

TEST(Files, ManyClientsGetTheTotalBandwidth) {
  constexpr int kRanks = 8;
  World world = world_of(kRanks);
  for (int r = kRanks - 1; r >= 0; --r) write_file(world, r, static_cast<std::uint64_t>(r) * 1000, 1000);
  const auto end = ends_of(world, kRanks);
  EXPECT_EQ(*std::max_element(end.begin(), end.end()), ns(kStorageLatency + kRanks * 1000 / 2));
  EXPECT_EQ(end[0], ns(kStorageLatency + 1000));  // ties go by rank: its client is what it waits for
  for (int r = 1; r < kRanks; ++r)
    EXPECT_EQ(end[static_cast<std::size_t>(r)], ns(kStorageLatency + std::max(1000, (r + 1) * 500)));
}

/// Of a file's first bytes those that lie on a server (tests/mpi/storage_table.py does the same live).
std::int64_t on_server(std::int64_t server, std::int64_t servers, std::int64_t stripe, std::int64_t first) {
  const std::int64_t rest = first % (servers * stripe) - server * stripe;
  return first / (servers * stripe) * stripe + std::clamp<std::int64_t>(rest, 0, stripe);
}

/// All clients at one time, one's bytes behind the other's: L + max(s / c, what the busiest of its servers has moved by then).
TEST(Files, OverSizesClientsAndServersTimesAreClosedForms) {
  constexpr std::int64_t kClient = 1'000'000'000, kTotal = 10'000'000'000, kStripe = 4096;
  for (const std::int64_t servers : {1, 2, 4, 10, 64})
    for (const int clients : {1, 2, 5, 64})
      for (const std::int64_t size : {1, 1000, 4096, 4097, 65536, 1'000'003, 1 << 30}) {
        World world{
            clients, kFilesNetwork,
            storage(("latency=10us,client=1GB/s,total=10GB/s,stripe=4096B,stripes=" + std::to_string(servers))
                        .c_str())};
        for (int r = 0; r < clients; ++r) write_file(world, r, static_cast<std::uint64_t>(r * size), size);
        const std::vector<Time> end = ends_of(world, clients);
        for (int r = 0; r < clients; ++r) {
          std::int64_t busiest = 0;
          for (std::int64_t j = 0; j < servers; ++j) {
            const std::int64_t behind = on_server(j, servers, kStripe, (r + 1) * size);
            if (behind > on_server(j, servers, kStripe, r * size)) busiest = std::max(busiest, behind);
          }
          const double seconds =
              std::max(static_cast<double>(size) / kClient, static_cast<double>(busiest * servers) / kTotal);
          const auto off = end[static_cast<std::size_t>(r)] - ns(kStorageLatency + 1e9 * seconds);
          EXPECT_LE(std::abs(off.count()), r + 2)
              << servers << " servers, rank " << r << " of " << clients << ", " << size;
        }
      }
}

TEST(Files, NobodyIsServedWhileSomebodyMayComeBefore) {
  World world = world_of(2);
  world.compute(500);
  write_file(world, 0, 0, 100);
  world.engine().decide();
  EXPECT_EQ(world.engine().state(), State::kWaiting);
  EXPECT_EQ(world.engine().awaited(), RankId{1});
  world.compute(500);
  world.local(1);  // at the same time: it may still ask, and ties go by rank
  world.engine().decide();
  EXPECT_TRUE(world.returned(0, 0));
  write_file(world, 1, 0, 100);
  world.engine().decide();
  EXPECT_EQ(world.exit(0), ns(500 + kStorageLatency + 100));
  EXPECT_EQ(world.exit(1), ns(500 + kStorageLatency + 200));
}

TEST(Files, ARequestIsServedWhileItsThreadGoesOn) {
  World world = world_of(1);
  write_file(world, 0, 0, 1000, 5);
  EXPECT_EQ(world.exit(0), ns(0));
  write_file(world, 0, 1000, 1000, 6);
  world.compute(400);
  world.wait(0, {5, 6});
  world.engine().decide();
  EXPECT_EQ(world.exit(0), ns(kStorageLatency + 2000));  // one after the other: the client is one
}

TEST(Files, ATestOfARequestKnowsWhetherItHasEnded) {
  World world = world_of(1);
  write_file(world, 0, 0, 1000, 5);
  world.compute(5000);
  world.test(0, {5});
  world.engine().decide();
  EXPECT_EQ(world.last(0).answer.flag, 0);
  world.compute(6000);
  world.test(0, {5});
  world.engine().decide();
  EXPECT_EQ(world.last(0).answer.flag, 1);
}

TEST(Files, MembersMeetBeforeTheStorageIsAsked) {
  World world = world_of(2);
  start_write_all(world, 0, 0, 100, 5);
  world.compute(3000);
  start_write_all(world, 1, 100, 100, 7);
  world.wait(0, {5});
  world.wait(1, {7});
  world.engine().decide();
  EXPECT_EQ(world.exit(0), ns(3000 + 1000 + kStorageLatency + 100));  // the barrier's message
  EXPECT_EQ(world.exit(1), ns(3000 + kStorageLatency + 100));         // the other's has been there
}

TEST(Files, TurnsAreTakenInTheOrderOfVirtualTimeAndTakeNone) {
  World world = world_of(2);
  world.compute(200);
  world.push(0, file_event(FileOperation::kTurn, 0, 0));
  world.compute(100);
  world.push(1, file_event(FileOperation::kTurn, 0, 0));
  world.engine().decide();
  EXPECT_EQ(world.exit(1), ns(100));
  EXPECT_TRUE(world.returned(0, 0));  // the other has its turn until it has said what it did
  write_file(world, 1, 0, 100);
  world.engine().decide();
  EXPECT_EQ(world.exit(0), ns(200));
  EXPECT_FALSE(world.returned(1, 1));
  write_file(world, 0, 100, 100);
  world.engine().decide();
  EXPECT_EQ(world.exit(1), ns(100 + kStorageLatency + 100));
  EXPECT_EQ(world.exit(0), ns(200 + kStorageLatency + 100));
}

TEST(Files, AMessageAfterAWriteArrivesAfterIt) {
  World world = world_of(3);
  world.recv(2, kAnySource.value, 0);
  write_file(world, 0, 0, 1000);
  world.engine().decide();
  world.send(0, 2, 0, 0);
  world.finalize(0);
  world.compute(12'500);
  world.send(1, 2, 0, 0);
  world.finalize(1);
  world.engine().decide();
  EXPECT_EQ(world.last(2).answer.source, 0);
  EXPECT_EQ(world.exit(2), ns(kStorageLatency + 1000 + 1000));
}

TEST(Files, ADeadRankWaitsForNothing) {
  World world = world_of(2);
  write_file(world, 0, 0, 1000);
  world.engine().rank_gone(RankId{0});
  write_file(world, 1, 0, 1000);
  world.engine().decide();
  EXPECT_TRUE(world.returned(0, 0));
  EXPECT_FALSE(world.returned(1, 0));
}

TEST(Files, AMemberThatNeverComesIsNamed) {
  World world = world_of(2);
  start_write_all(world, 0, 0, 100, 5);
  world.wait(0, {5});
  world.finalize(1);
  world.engine().decide();
  ASSERT_EQ(world.engine().blocked().size(), 1U);
  EXPECT_EQ(world.engine().blocked()[0].awaits, std::vector{RankId{1}});
}

TEST(Files, WhatWouldNeverEndIsRejectedWhenItIsWaitedFor) {
  World world{1, kFilesNetwork, storage("client=1e-300")};
  for (std::uint32_t request = 1; request <= 40; ++request)
    write_file(world, 0, 0, std::int64_t{1} << 46U, request);
  EXPECT_THROW(
      {
        world.wait(0, {40});
        world.engine().decide();
      },
      std::invalid_argument);
}

TEST(Files, AStrangerToTheFileIsRejected) {
  World world = world_of(2);
  world.engine().define_communicator(CommId{1}, {RankId{1}});
  events::Event e = file_event(FileOperation::kWrite, 0, 10);
  e.comm = CommId{1};
  EXPECT_THROW(world.push(0, e), std::invalid_argument);
}

/// What ranks did, whoever's events are pushed first.
class Interleaved : public testing::TestWithParam<unsigned> {};

std::vector<Time> run_interleaved(unsigned order, const char* network) {
  constexpr int kRanks = 4;
  constexpr int kCalls = 30;
  World world{kRanks, network, storage()};
  std::mt19937 random{order};
  std::vector<std::mt19937> of_rank;
  for (unsigned r = 0; r < kRanks; ++r) of_rank.emplace_back(r + 17);
  std::vector<int> made(kRanks);
  std::vector<std::uint32_t> requests(kRanks, 100);
  for (int left = kRanks * kCalls; left > 0; --left) {
    auto r = static_cast<int>(random() % kRanks);
    while (made[static_cast<std::size_t>(r)] == kCalls) r = (r + 1) % kRanks;
    std::mt19937& own = of_rank[static_cast<std::size_t>(r)];
    const int call = made[static_cast<std::size_t>(r)]++;
    const auto any = [&own](int below) { return static_cast<int>(own() % static_cast<unsigned>(below)); };
    const auto offset = [&] { return static_cast<std::uint64_t>(any(5000)); };
    world.compute(any(3000));
    std::uint32_t& request = requests[static_cast<std::size_t>(r)];
    if (call % 10 == 9) {
      start_write_all(world, r, offset(), any(2000), ++request);
      world.wait(r, {request});
    } else if (any(4) == 0) {
      write_file(world, r, offset(), any(2000), ++request);
      world.wait(r, {request});
    } else if (any(3) == 0) {
      world.send(r, (r + 1) % kRanks, call, 10);
      read_file(world, r, offset(), any(2000));
    } else {
      read_file(world, r, offset(), any(2000));
    }
    if (random() % 3 == 0) world.engine().decide();
  }
  return ends_of(world, kRanks);
}

TEST_P(Interleaved, TheOrderOfArrivalChangesNothing) {
  EXPECT_EQ(run_interleaved(GetParam(), kFilesNetwork), run_interleaved(1, kFilesNetwork));
}
INSTANTIATE_TEST_SUITE_P(Files, Interleaved, testing::Range(2U, 40U));

}  // namespace
}  // namespace nplus1::simnode::engine
