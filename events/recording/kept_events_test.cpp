#include "events/recording/kept_events.hpp"

#include <gtest/gtest.h>

#include "events/recording/reader.hpp"
#include "events/recording/testing/sampler.hpp"
#include "events/recording/testing/scratch_folder.hpp"
#include "events/recording/writer.hpp"

namespace nplus1::events::recording {
namespace {

constexpr std::int32_t kRanks = 5;

void define(EventSink& sink) {
  sink.on_communicator({CommId{1}, {RankId{0}, RankId{2}}, 1});
  sink.on_call_path({CallSiteId{1}, {{"/bin/app", "ab12", 77, "", "", 0}}});
  sink.on_region({RegionId{1}, "solve"});
  sink.on_datatype({DatatypeId{1}, "MPI_DOUBLE", 8});
}

TEST(KeptEvents, PlayEachFieldOfEachKindAgain) {
  Listening told;
  KeptEvents kept{50'000};
  Sampler sampler{11, kRanks};
  sampler.rows(20'000, {&told, &kept});
  for (EventSink* sink : {static_cast<EventSink*>(&told), static_cast<EventSink*>(&kept)}) define(*sink);
  sampler.rows(20'000, {&told, &kept});
  ASSERT_TRUE(kept.all());
  for (int again = 0; again < 2; ++again) {
    Listening heard;
    kept.play(heard, true);
    ASSERT_EQ(heard.rows.size(), told.rows.size());
    for (std::size_t i = 0; i < told.rows.size(); ++i) ASSERT_EQ(heard.rows[i], told.rows[i]) << "row " << i;
    EXPECT_EQ(heard.definitions, told.definitions);
  }
  Listening heard;
  kept.play(heard, false);
  EXPECT_TRUE(heard.rows.empty());
  EXPECT_EQ(heard.definitions, told.definitions);
}

TEST(KeptEvents, KeepNothingOfWhatIsTooLong) {
  KeptEvents kept{999};
  Sampler{3, kRanks}.rows(1000, {&kept});
  EXPECT_FALSE(kept.all());
  Listening heard;
  kept.play(heard, true);
  EXPECT_TRUE(heard.rows.empty());
}

/// A send and a receive of each rank and its right neighbour, so that all that is claimed holds.
void write_ring(const std::filesystem::path& folder, int steps) {
  auto writer = std::move(Writer::create(folder, Header{kRanks, {}}, {})).value();
  define(*writer);
  std::int64_t now = 0;
  std::uint64_t ordinal = 0;
  for (int step = 0; step < steps; ++step, ordinal += 2) {
    for (const EventKind kind : {EventKind::kSend, EventKind::kRecv}) {
      now += 1000;
      for (std::int32_t rank = 0; rank < kRanks; ++rank) {
        Event event;
        event.kind = kind;
        event.peer = kind == EventKind::kSend ? (rank + 1) % kRanks : (rank + kRanks - 1) % kRanks;
        event.size = 8;
        event.entry_ps = now;
        const std::uint64_t place = ordinal + (kind == EventKind::kSend ? 0 : 1);
        writer->on_event({RankId{rank}, event, {}, Time{Duration{now + 10}}, kNoAnswer, {}, nullptr, place});
      }
    }
  }
  writer->close();
}

TEST(KeptEvents, AReaderThatKeepsItsRecordingPlaysTheSame) {
  const ScratchFolder folder;
  write_ring(folder.path(), 1000);
  Reader reader = std::move(Reader::open(folder.path())).value();
  Listening from_file;
  const Coverage first = reader.read(from_file).value();
  ASSERT_TRUE(first.complete) << first.text();
  EXPECT_FALSE(reader.keep(9'999));
  ASSERT_TRUE(reader.keep(10'000));
  Listening from_memory;
  const Coverage again = reader.read(from_memory).value();
  EXPECT_EQ(from_memory.rows, from_file.rows);
  EXPECT_EQ(from_memory.definitions, from_file.definitions);
  EXPECT_TRUE(again.complete);
  EXPECT_EQ(again.events, first.events);
  Listening some;  // of a part, from the file
  EXPECT_EQ(reader.read(some, Selection{.first_rank = RankId{1}, .last_rank = RankId{2}}).value().events,
            4000U);
  Listening first_part;  // likewise
  EXPECT_GT(reader.read(first_part, Selection{.most_rows = 10}).value().events, 0U);
  Listening no_less;
  EXPECT_EQ(reader.read(no_less, Selection{.most_rows = 10'000}).value().events, 10'000U);
  EXPECT_EQ(no_less.rows, from_file.rows);
  Listening definitions;
  EXPECT_EQ(reader.read(definitions, Selection{.events = false}).value().events, 0U);
  EXPECT_EQ(definitions.definitions, from_file.definitions);
}

TEST(KeptEvents, WhatIsNotWholeIsNotKept) {
  const ScratchFolder folder;
  write_ring(folder.path(), 1000);
  std::filesystem::resize_file(folder.path() / "events.n1r",
                               std::filesystem::file_size(folder.path() / "events.n1r") - 7);
  Reader reader = std::move(Reader::open(folder.path())).value();
  EXPECT_FALSE(reader.keep(100'000)) << "damage is told each time";
}

}  // namespace
}  // namespace nplus1::events::recording
