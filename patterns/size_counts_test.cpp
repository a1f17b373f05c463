#include "patterns/size_counts.hpp"

#include <gtest/gtest.h>

#include "patterns/testing/streams.hpp"

namespace nplus1::patterns {
namespace {

TEST(SizeCounts, BucketsEndAtSixteenTimesPowersOfFour) {
  for (std::size_t k = 0; k + 1 < kSizeBuckets; ++k) {
    const std::int64_t limit = std::int64_t{16} << (2 * k);
    EXPECT_EQ(size_bucket(limit - 1), k);
    EXPECT_EQ(size_bucket(limit), k);
    EXPECT_EQ(size_bucket(limit + 1), k + 1);
    EXPECT_EQ(bucket_limit(k), limit);
  }
  EXPECT_EQ(size_bucket(std::numeric_limits<std::int64_t>::max()), 12U);
  EXPECT_FALSE(bucket_limit(12));
}

TEST(SizeCounts, SizesAreCountedExactlyUntilThereAreTooManyAndTheRestIsStated) {
  SizeCounts counts;
  for (std::int64_t size = 0; size < 2000; ++size) counts.add(size);
  for (int i = 0; i < 5; ++i) counts.add(7);
  const Sizes sizes = counts.sizes();
  EXPECT_EQ(sizes.exact.size(), kExactSizes);
  EXPECT_EQ(sizes.exact[7], (std::pair<std::int64_t, std::uint64_t>{7, 6}));
  EXPECT_EQ(sizes.others, 2000 - kExactSizes);
  EXPECT_EQ(sizes.least, 0);
  EXPECT_EQ(sizes.most, 1999);
  EXPECT_EQ(sizes.sum, 1999U * 2000 / 2 + 35);
}

TEST(SizeCounts, ElementsAreThoseOfTheApplicationAndAbsentWithoutDetails) {
  EXPECT_EQ(sample().layers.at(0).elements->exact,
            (std::vector<std::pair<std::int64_t, std::uint64_t>>{{25, 1}}));
  EXPECT_FALSE(sample().layers.at(1).elements.has_value());
}

}  // namespace
}  // namespace nplus1::patterns
