#include "events/mpi_call.hpp"

#include <gtest/gtest.h>

#include <set>

namespace nplus1::events {
namespace {

TEST(MpiCall, NumbersInRecordingsNeverChange) {
  EXPECT_EQ(index(MpiCall::kNone), 0U);
  EXPECT_EQ(index(MpiCall::MPIX_Comm_agree), 1U);
  EXPECT_EQ(index(MpiCall::MPI_Abort), 16U);
  EXPECT_EQ(index(MpiCall::MPI_Wtime), 634U);
  EXPECT_GE(kMpiCalls, 635U);
}

TEST(MpiCall, EveryNameLeadsBackToItsCall) {
  std::set<std::string_view> seen;
  for (std::size_t i = 1; i < kMpiCalls; ++i) {
    const auto call = static_cast<MpiCall>(i);
    EXPECT_TRUE(seen.insert(name(call)).second) << name(call) << " is listed twice";
    EXPECT_EQ(call_named(name(call)), call);
  }
  EXPECT_EQ(name(MpiCall::MPI_Isend), "MPI_Isend");
}

TEST(MpiCall, UnknownNumbersAndNamesAreSaidToBeUnknown) {
  EXPECT_EQ(name(static_cast<MpiCall>(65535)), "unknown");
  EXPECT_FALSE(call_named("PMPI_Send"));
  EXPECT_FALSE(call_named("none"));
}

}  // namespace
}  // namespace nplus1::events
