#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "events/definitions_collector.hpp"
#include "events/recording/reader.hpp"
#include "events/recording/testing/sampler.hpp"
#include "events/recording/testing/scratch_folder.hpp"
#include "events/recording/writer.hpp"

namespace nplus1::events::recording {
namespace {

std::unique_ptr<Writer> writer_in(const std::filesystem::path& folder, std::int32_t ranks,
                                  WriterOptions options = {}) {
  return std::move(Writer::create(folder, Header{ranks, {}}, options)).value();
}

/// Rows come back as they were written, whatever nonsense the sampler has put into them.
Coverage read_into(EventSink& sink, const std::filesystem::path& folder, Selection selection = {}) {
  Reader reader = std::move(Reader::open(folder)).value();
  selection.unchecked = true;
  return reader.read(sink, selection).value();
}

class RoundTrip : public testing::TestWithParam<std::tuple<int, bool>> {};

TEST_P(RoundTrip, EveryFieldOfEveryKindComesBackByteForByte) {
  const auto [ranks, background] = GetParam();
  const ScratchFolder folder;
  Listening told;
  WriterOptions options;
  options.background = background;
  auto writer = writer_in(folder.path(), ranks, options);
  Sampler{7, ranks}.rows(100'000, {&told, writer.get()});  // several blocks
  EXPECT_FALSE(writer->close());
  Listening heard;
  const Coverage coverage = read_into(heard, folder.path());
  EXPECT_EQ(coverage.text(), "complete");
  EXPECT_TRUE(coverage.complete);
  EXPECT_EQ(coverage.events + coverage.matches, 100'000U);
  ASSERT_EQ(heard.rows.size(), told.rows.size());
  for (std::size_t i = 0; i < told.rows.size(); ++i) ASSERT_EQ(heard.rows[i], told.rows[i]) << "row " << i;
}

INSTANTIATE_TEST_SUITE_P(Ranks, RoundTrip,
                         testing::Combine(testing::Values(1, 2, 16, 70'000), testing::Bool()));

TEST(Recording, DefinitionsComeBackAndTheLastOneWins) {
  const ScratchFolder folder;
  Listening told;
  auto writer = writer_in(folder.path(), 8);
  CallPath path{CallSiteId{3},
                {{"/bin/app", "ab12", 77, "", "", 0}, {"/lib/x.so", "", 1U << 30U, "", "", 0}}};
  for (EventSink* sink : {static_cast<EventSink*>(&told), static_cast<EventSink*>(writer.get())}) {
    sink->on_communicator({CommId{0}, {RankId{0}, RankId{1}, RankId{2}}, 0});
    sink->on_communicator({CommId{5}, {RankId{7}, RankId{0}, RankId{3}}, 1});
    sink->on_communicator({CommId{6}, {}, 0});
    sink->on_call_path(path);
    sink->on_region({RegionId{1}, "solve"});
    sink->on_datatype({DatatypeId{2}, "MPI_DOUBLE", 8});
    sink->on_datatype({DatatypeId{3}, "", -1});
    CallPath resolved = path;
    resolved.frames[0].function = "main";
    resolved.frames[0].file = "app.c";
    resolved.frames[0].line = 12;
    sink->on_call_path(resolved);
  }
  writer->close();
  Listening heard;
  EXPECT_TRUE(read_into(heard, folder.path()).complete);
  EXPECT_EQ(heard.definitions, told.definitions);
  DefinitionsCollector definitions;
  read_into(definitions, folder.path(), Selection{.events = false});
  ASSERT_NE(definitions.call_path(CallSiteId{3}), nullptr);
  EXPECT_EQ(definitions.call_path(CallSiteId{3})->frames.at(0).line, 12U);
  EXPECT_EQ(definitions.communicator(CommId{5})->members.at(1), RankId{0});
  EXPECT_EQ(definitions.communicator(CommId{5})->first_group, 1U);
  EXPECT_EQ(definitions.datatype(DatatypeId{2})->bytes, 8);
  EXPECT_EQ(definitions.region(RegionId{1})->name, "solve");
  EXPECT_EQ(definitions.region(RegionId{9}), nullptr);
}

TEST(Recording, PropertiesHaveTheirLastValues) {
  const ScratchFolder folder;
  auto writer =
      std::move(Writer::create(folder.path(), {4, {{"application", "cg"}, {"clock", "cpu"}}})).value();
  writer->set_property("clock", "wall");
  writer->set_property("note", std::string(3000, 'x'));
  writer->close();
  const Reader reader = std::move(Reader::open(folder.path())).value();
  EXPECT_EQ(reader.header().ranks, 4);
  EXPECT_EQ(reader.properties(),
            (Properties{{"application", "cg"}, {"clock", "wall"}, {"note", std::string(3000, 'x')}}));
}

TEST(Recording, IsFoundFromTheFileTheFolderAndTheResultFolder) {
  const ScratchFolder result;
  const auto folder = result.path() / "recording";
  writer_in(folder, 1)->close();
  for (const auto& path : {result.path(), folder, folder / kFileName})
    EXPECT_TRUE(Reader::open(path).ok()) << path;
}

TEST(Recording, IsReadAgainWithTheSameOutcome) {
  const ScratchFolder folder;
  auto writer = writer_in(folder.path(), 5);
  Sampler{1, 5}.rows(5000, {writer.get()});
  writer->close();
  Reader reader = std::move(Reader::open(folder.path())).value();
  Listening first;
  Listening second;
  EXPECT_EQ(reader.read(first, {.unchecked = true}).value().events,
            reader.read(second, {.unchecked = true}).value().events);
  EXPECT_EQ(first.rows, second.rows);
}

TEST(Recording, OfSomeRanksIsTheirRowsInOrder) {
  const ScratchFolder folder;
  Listening told;
  auto writer = writer_in(folder.path(), 9);
  Sampler sampler{3, 9};
  sampler.rows(3000, {&told, writer.get()});
  writer->flush();
  sampler.rows(3000, {&told, writer.get()});
  writer->close();
  Listening heard;
  const Coverage coverage =
      read_into(heard, folder.path(), {.first_rank = RankId{2}, .last_rank = RankId{4}});
  std::vector<Heard> expected;
  for (const Heard& row : told.rows) {
    std::int32_t rank = 0;
    std::memcpy(&rank, row.text.data() + 5, sizeof rank);  // behind "event" or "match"
    if (rank >= 2 && rank <= 4) expected.push_back(row);
  }
  EXPECT_TRUE(coverage.complete);
  EXPECT_EQ(coverage.events + coverage.matches, expected.size());
  EXPECT_GT(expected.size(), 1000U);
  EXPECT_EQ(heard.rows, expected);
}

TEST(Recording, OfDefinitionsAloneSkipsTheEvents) {
  const ScratchFolder folder;
  auto writer = writer_in(folder.path(), 3);
  writer->on_region({RegionId{1}, "a"});
  Sampler{3, 3}.rows(100, {writer.get()});
  writer->close();
  Listening heard;
  const Coverage coverage = read_into(heard, folder.path(), {.events = false});
  EXPECT_TRUE(coverage.complete);
  EXPECT_TRUE(heard.rows.empty());
  EXPECT_EQ(heard.definitions.size(), 1U);
  EXPECT_EQ(coverage.written.events + coverage.written.matches, 100U);
}

TEST(Recording, WithListsLongerThanABlockComesBack) {
  const ScratchFolder folder;
  Listening told;
  auto writer = writer_in(folder.path(), 2);
  std::vector<std::uint32_t> ids(300'000);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::uint32_t>(7 * i);
  Event event;
  event.kind = EventKind::kWait;
  event.aux = ids.size();
  for (int i = 0; i < 3; ++i)
    for (EventSink* sink : {static_cast<EventSink*>(&told), static_cast<EventSink*>(writer.get())})
      sink->on_event({RankId{1}, event, {ids, {}}, Time{Duration{5}}});
  writer->close();
  Listening heard;
  EXPECT_TRUE(read_into(heard, folder.path()).complete);
  EXPECT_EQ(heard.rows, told.rows);
}

TEST(Recording, OfAccessesPassesTheChecksAndComesBack) {
  const ScratchFolder folder;
  Listening told;
  auto writer = writer_in(folder.path(), 2);
  Event touch;
  touch.kind = EventKind::kLocal;
  touch.operation = static_cast<std::uint8_t>(Access::kFirstTouch);
  touch.peer = static_cast<std::int32_t>(Toucher::kRelease);  // more than there are ranks
  touch.tag = kInexactAccess;
  touch.size = 4096;
  touch.aux = 12;
  touch.compute_ps = touch.entry_ps = 77;
  Event last = touch;
  last.operation = static_cast<std::uint8_t>(Access::kLastTouch);
  last.flags = kHasBytesPerMember;
  const std::vector<std::int64_t> distance{1'000'000};
  const Detail detail;
  for (EventSink* sink : {static_cast<EventSink*>(&told), static_cast<EventSink*>(writer.get())}) {
    sink->on_event({RankId{1}, touch, {}, touch.entry(), kNoAnswer, {}, &detail, 13});
    sink->on_event({RankId{1}, last, {{}, distance}, last.entry(), kNoAnswer, {}, &detail, 14});
  }
  writer->close();
  Listening heard;
  Reader reader = std::move(Reader::open(folder.path())).value();
  EXPECT_TRUE(reader.read(heard, {}).value().complete);  // checked, as every reader's are
  EXPECT_EQ(heard.rows, told.rows);
}

TEST(Recording, CountsAnEventWhoseListIsTooLongAsDropped) {
  const ScratchFolder folder;
  auto writer = writer_in(folder.path(), 2);
  const std::vector<std::uint32_t> ids(2'000'000);
  writer->on_event({RankId{1}, Event{}, {ids, {}}, Time{}});
  writer->close();
  Listening heard;
  const Coverage coverage = read_into(heard, folder.path());
  EXPECT_EQ(coverage.written, (Totals{0, 0, 1, 0}));
}

TEST(Recording, RefusesARankThatIsNotInTheJob) {
  const ScratchFolder folder;
  auto writer = writer_in(folder.path(), 2);
  EXPECT_THROW(writer->on_event({RankId{2}, Event{}, {}, Time{}}), std::invalid_argument);
  EXPECT_THROW(writer->on_match(RankId{-1}, Answer{}), std::invalid_argument);
}

TEST(Recording, TickHandsOnWhatIsOlderThanTheInterval) {
  const ScratchFolder folder;
  WriterOptions options;
  options.flush_interval = std::chrono::milliseconds{0};
  options.background = false;
  auto writer = writer_in(folder.path(), 2, options);
  const std::uint64_t empty = writer->bytes();
  writer->on_event({RankId{1}, Event{}, {}, Time{}});
  EXPECT_EQ(writer->bytes(), empty);
  writer->tick();
  EXPECT_GT(writer->bytes(), empty);
  Listening heard;
  const Coverage coverage = read_into(heard, folder.path());  // while it is being written
  EXPECT_EQ(coverage.events, 1U);
  EXPECT_FALSE(coverage.complete);
  EXPECT_NE(coverage.text().find("was not closed"), std::string::npos);
}

TEST(Recording, TakesNothingMoreOnceClosed) {
  const ScratchFolder folder;
  auto writer = writer_in(folder.path(), 2);
  writer->on_event({RankId{1}, Event{}, {}, Time{}});
  writer->close();
  const auto size = std::filesystem::file_size(folder.path() / kFileName);
  writer->on_event({RankId{1}, Event{}, {}, Time{}});
  writer->on_region({RegionId{1}, "late"});
  writer->tick();
  EXPECT_FALSE(writer->close());
  writer.reset();
  EXPECT_EQ(std::filesystem::file_size(folder.path() / kFileName), size);
}

TEST(Recording, IsNeverOverwritten) {
  const ScratchFolder folder;
  writer_in(folder.path(), 2)->close();
  const auto again = Writer::create(folder.path(), {2, {}});
  ASSERT_FALSE(again.ok());
  EXPECT_NE(again.error().what.find("exists already"), std::string::npos);
  EXPECT_FALSE(Writer::create("/nonexistent/a/b", {2, {}}).ok());
  EXPECT_FALSE(Writer::create(folder.path() / "x", {0, {}}).ok());
  EXPECT_FALSE(Writer::create(folder.path() / "x", {kMaxRanks + 1, {}}).ok());
}

}  // namespace
}  // namespace nplus1::events::recording
