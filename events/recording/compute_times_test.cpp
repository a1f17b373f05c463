#include "events/recording/compute_times.hpp"

#include <gtest/gtest.h>

#include "events/mpi_call.hpp"
#include "events/recording/testing/scratch_folder.hpp"
#include "events/recording/writer.hpp"

namespace nplus1::events::recording {
namespace {

constexpr auto kSendCall = static_cast<std::uint16_t>(MpiCall::MPI_Send);
constexpr auto kLast = static_cast<std::uint16_t>(MpiCall::MPI_Finalize);

struct Told {
  std::uint64_t ordinal;
  EventKind kind;
  std::uint16_t call;
  std::int64_t compute_ps;
  std::uint16_t thread = 0;
};

Result<ComputeIntervals> intervals_of(const std::vector<Told>& events, WriterOptions options = {},
                                      const Properties& properties = {}) {
  const ScratchFolder folder;
  auto writer = std::move(Writer::create(folder.path(), Header{1, properties}, options)).value();
  for (const Told& told : events) {
    Event event;
    event.kind = told.kind;
    event.call = told.call;
    event.compute_ps = told.compute_ps;
    event.thread = ThreadId{told.thread};
    event.peer = told.kind == EventKind::kSend ? kProcNull.value : 0;
    writer->on_event({RankId{0}, event, {}, Time{Duration{1'000'000}}, kNoAnswer, {}, nullptr, told.ordinal});
  }
  EXPECT_FALSE(writer->close());
  return read_compute_intervals(folder.path());
}

TEST(ComputeTimes, WhatStandsWithinAnIntervalIsPartOfIt) {
  const auto read = intervals_of({{0, EventKind::kLocal, 0, 30},
                                  {1, EventKind::kSend, kSendCall, 12},
                                  {2, EventKind::kFinalize, kLast, 5}});
  ASSERT_TRUE(read.ok()) << read.error().what;
  const std::vector<ComputeInterval> expected{{42, 0, kSendCall, 0}, {5, 0, kLast, 0}};
  EXPECT_EQ(read.value().of_rank.at(0), expected);
}

TEST(ComputeTimes, EachThreadHasItsOwnIntervalsInTheOrderOfItsCalls) {
  const auto read = intervals_of({{0, EventKind::kSend, kSendCall, 1},
                                  {3, EventKind::kSend, kSendCall, 2},
                                  {1, EventKind::kLocal, 0, 10, 1},
                                  {2, EventKind::kSend, kSendCall, 20, 1}});
  ASSERT_TRUE(read.ok()) << read.error().what;
  const std::vector<ComputeInterval> expected{
      {1, 0, kSendCall, 0}, {30, 1, kSendCall, 0}, {2, 0, kSendCall, 0}};
  EXPECT_EQ(read.value().of_rank.at(0), expected);
}

TEST(ComputeTimes, OfAPartOfTheCallsAreRefused) {
  const auto read = intervals_of({{0, EventKind::kSend, kSendCall, 1}, {5, EventKind::kSend, kSendCall, 2}});
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().what.find("a part of its run's calls only"), std::string::npos);
}

TEST(ComputeTimes, ARecordingSaysWhetherItWasMeasuredWhileAccessesWereRecorded) {
  const std::vector<Told> one{{0, EventKind::kSend, kSendCall, 1}};
  const auto plain = intervals_of(one, {}, {{"compute", "measured"}});
  EXPECT_TRUE(plain.value().measured);
  EXPECT_FALSE(plain.value().accesses);
  const auto given = intervals_of(one, {}, {{"compute", "fixed:1"}, {"accesses", "mprotect"}});
  EXPECT_FALSE(given.value().measured);
  EXPECT_TRUE(given.value().accesses);
}

TEST(ComputeTimes, WhereThereIsNoRecordingIsSaid) {
  const auto read = read_compute_intervals("/nowhere");
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().what.find("/nowhere"), std::string::npos);
}

}  // namespace
}  // namespace nplus1::events::recording
