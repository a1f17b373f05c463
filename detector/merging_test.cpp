#include "detector/merging.hpp"

#include <gtest/gtest.h>

namespace nplus1::detector {
namespace {

Instance operation(CollectiveKind kind, TransferIndex message) {
  Instance i;
  i.verdict.kind = kind;
  i.verdict.ranks = {0, 1, 2};
  i.transfers = {message};
  return i;
}

// What lineage finds may be of any kind; HPL on 8 x 8 had two reductions in a row.
TEST(Merging, OperationsWithoutARootStayWhatTheyAre) {
  Transfers transfers;
  transfers.ranks = 3;
  transfers.all.resize(2);
  const auto found =
      merged(transfers, {operation(CollectiveKind::kAllreduce, 0), operation(CollectiveKind::kAllgather, 1)});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].verdict.kind, CollectiveKind::kAllreduce);
  EXPECT_EQ(found[1].verdict.kind, CollectiveKind::kAllgather);
}

}  // namespace
}  // namespace nplus1::detector
