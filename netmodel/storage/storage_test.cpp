#include "netmodel/storage/storage.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace nplus1::netmodel {
namespace {

using std::chrono::microseconds;

constexpr std::int64_t kMiB = 1 << 20;

StorageModel storage(std::string_view text) {
  auto model = parse_storage(text);
  EXPECT_TRUE(model.ok()) << (model.ok() ? "" : model.error().what);
  return model.ok() ? model.value() : StorageModel{};
}

std::vector<std::int64_t> spread(const StorageModel& model, std::uint64_t offset, std::int64_t size) {
  std::vector<Bytes> of_server;
  model.spread(offset, bytes(size), of_server);
  std::vector<std::int64_t> counts;
  for (const Bytes of : of_server) counts.push_back(count(of));
  return counts;
}

TEST(Storage, DefaultsToFourServersOfTwoAndAHalfGigabytesPerSecond) {
  const StorageModel model = storage("");
  EXPECT_EQ(model.request_latency(), microseconds{100});
  EXPECT_EQ(model.client_time(bytes(1'000'000)), microseconds{1000});
  EXPECT_EQ(model.server_time(bytes(1'000'000)), microseconds{400});
}

TEST(Storage, ReadsWhatItDescribes) {
  for (const char* text :
       {"", "latency=0", "latency=2ms,client=3GB/s,total=7.5GB/s,stripes=12,stripe=64KiB"}) {
    const StorageModel model = storage(text);
    EXPECT_EQ(storage(model.describe()), model) << model.describe();
  }
}

TEST(Storage, StripesGoRoundTheServersFromTheFirstByteOfTheFile) {
  const StorageModel model = storage("stripes=3,stripe=10B");
  EXPECT_EQ(spread(model, 0, 25), (std::vector<std::int64_t>{10, 10, 5}));
  EXPECT_EQ(spread(model, 15, 10), (std::vector<std::int64_t>{0, 5, 5}));
  EXPECT_EQ(spread(model, 25, 10), (std::vector<std::int64_t>{5, 0, 5}));
  EXPECT_EQ(spread(model, 7, 65), (std::vector<std::int64_t>{23, 22, 20}));
  EXPECT_EQ(spread(model, 29, 0), (std::vector<std::int64_t>{0, 0, 0}));
}

TEST(Storage, WhateverIsSpreadIsAllThere) {
  std::mt19937_64 random{7};
  for (int i = 0; i < 2000; ++i) {
    StorageModel model;
    model.stripes = 1 + static_cast<std::int64_t>(random() % 9);
    model.stripe = 1 + static_cast<std::int64_t>(random() % 40);
    const auto size = static_cast<std::int64_t>(random() % 1000);
    const std::uint64_t offset = random();
    const auto parts = spread(model, offset, size);
    ASSERT_EQ(std::accumulate(parts.begin(), parts.end(), std::int64_t{0}), size);
    std::vector<std::int64_t> one_by_one(parts.size());
    const std::uint64_t first = offset % (static_cast<std::uint64_t>(model.stripe * model.stripes));
    for (std::int64_t byte = 0; byte < size; ++byte)
      ++one_by_one[(first + static_cast<std::uint64_t>(byte)) / static_cast<std::uint64_t>(model.stripe) %
                   parts.size()];
    ASSERT_EQ(parts, one_by_one) << model.describe() << " at " << offset;
  }
}

TEST(Storage, LargeSizesNeitherOverflowNorTakeLong) {
  StorageModel model;
  model.stripe = 1;
  const auto parts = spread(model, ~std::uint64_t{0}, std::int64_t{1} << 46);
  EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), std::int64_t{0}), std::int64_t{1} << 46);
  EXPECT_GT(model.server_time(bytes(std::int64_t{1} << 46)), Duration::zero());
}

TEST(Storage, SaysWhatIsWrong) {
  for (const char* text :
       {"latency=-1", "client=0", "total=0GB/s", "stripes=0", "stripes=1.5", "stripes=100000", "stripe=0",
        "stripe=2e15", "bandwidth=1GB/s", "latency", "client=1GB/s,client=2GB/s", ","}) {
    const auto model = parse_storage(text);
    ASSERT_FALSE(model.ok()) << text;
    EXPECT_FALSE(model.error().what.empty());
  }
  EXPECT_EQ(storage("stripe=1MiB").stripe, kMiB);
}

}  // namespace
}  // namespace nplus1::netmodel
