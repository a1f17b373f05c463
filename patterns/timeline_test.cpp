// Streams written by hand: each test states the rows and messages that a reader would draw on paper.
#include "patterns/timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "events/limits.hpp"

namespace nplus1::patterns {
namespace {

using events::Event;
using events::EventKind;
using nlohmann::json;
using Numbers = std::vector<std::int64_t>;

constexpr std::int64_t kMicrosecond = 1'000'000;

Time at(std::int64_t ps) {
  return kTimeZero + Duration{ps};
}

struct Call {
  EventKind kind;
  std::int64_t entry;
  std::int64_t exit;
  std::int32_t peer = 0;
  std::uint64_t sequence = 0;
  std::uint16_t thread = 0;
};

constexpr std::int64_t kForEver = -1;

void feed(Timeline& timeline, std::int32_t rank, const Call& call) {
  Event event;
  event.kind = call.kind;
  event.entry_ps = call.entry;
  event.peer = call.peer;
  event.size = 100;
  event.thread = ThreadId{call.thread};
  events::Answer answer;
  answer.source = call.peer;
  answer.sequence = call.sequence;
  const bool returned = call.exit != kForEver;
  answer.kind = returned ? events::AnswerKind::kExit : events::AnswerKind::kNone;
  timeline.on_event({RankId{rank}, event, {}, returned ? at(call.exit) : events::kUnfinished, answer});
}

json document(const Timeline& timeline) {
  return json::parse(timeline.json());
}

Numbers numbers(const json& row, const char* column) {
  return row.at(column).get<Numbers>();
}

std::int64_t permille_of_row(const json& row, const char* activity) {
  const Numbers all = numbers(row, activity);
  return std::accumulate(all.begin(), all.end(), std::int64_t{0});
}

/// `count` receives of 1 us, each after 1 us of computing.
void alternate(Timeline& timeline, std::int32_t rank, int count) {
  for (int i = 0; i < count; ++i) {
    const std::int64_t entry = (2 * i + 1) * kMicrosecond;
    feed(timeline, rank, {EventKind::kWait, entry, entry + kMicrosecond});
  }
}

TEST(Timeline, KeepsEachCallAsAGapAndALength) {
  Timeline timeline{2};
  feed(timeline, 1, {EventKind::kSend, 10, 15});
  feed(timeline, 1, {EventKind::kCollective, 25, 40});
  feed(timeline, 1, {EventKind::kFinalize, 50, 50});
  const json row = document(timeline)["rows"][1];
  EXPECT_EQ(numbers(row, "gap_ps"), (Numbers{10, 10}));
  EXPECT_EQ(numbers(row, "length_ps"), (Numbers{5, 15}));
  EXPECT_EQ(numbers(row, "activity"), (Numbers{1, 3}));
  EXPECT_EQ(row["end_ps"], 50);
}

TEST(Timeline, LeavesOutCallsThatTakeNoTime) {
  Timeline timeline{1};
  feed(timeline, 0, {EventKind::kIrecv, 10, 10});
  feed(timeline, 0, {EventKind::kWait, 12, 20});
  EXPECT_EQ(numbers(document(timeline)["rows"][0], "gap_ps"), (Numbers{12}));
}

TEST(Timeline, ACallThatNeverReturnedLastsUntilTheEndOfTheRun) {
  Timeline timeline{2};
  feed(timeline, 0, {EventKind::kRecv, 10, kForEver});
  feed(timeline, 1, {EventKind::kFinalize, 70, 70});
  const json row = document(timeline)["rows"][0];
  EXPECT_EQ(numbers(row, "activity"), (Numbers{5}));
  EXPECT_EQ(numbers(row, "length_ps"), (Numbers{60}));
  EXPECT_EQ(row["end_ps"], 70);
}

TEST(Timeline, UnmodelledTimeLastsFromEnterToExit) {
  Timeline timeline{1};
  feed(timeline, 0, {EventKind::kUnmodelledEnter, 5, 5});
  feed(timeline, 0, {EventKind::kUnmodelledExit, 30, 30});
  const json row = document(timeline)["rows"][0];
  EXPECT_EQ(numbers(row, "gap_ps"), (Numbers{5}));
  EXPECT_EQ(numbers(row, "length_ps"), (Numbers{25}));
  EXPECT_EQ(numbers(row, "activity"), (Numbers{4}));
}

TEST(Timeline, AnotherThreadHasARowOfItsOwn) {
  Timeline timeline{2};
  feed(timeline, 0, {EventKind::kSend, 10, 20, 0, 0, 1});
  const json rows = document(timeline)["rows"];
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[2]["first_rank"], 0);
  EXPECT_EQ(rows[2]["thread"], 1);
  EXPECT_EQ(numbers(rows[2], "length_ps"), (Numbers{10}));
}

TEST(Timeline, MessagesAreTiedBySequenceWhicheverHalfComesFirst) {
  Timeline timeline{2};
  feed(timeline, 0, {EventKind::kSend, 10, 10, 1, 0});
  feed(timeline, 1, {EventKind::kRecv, 30, 35, 0, 1});  // overtakes in time, e.g. by another tag
  feed(timeline, 0, {EventKind::kSend, 20, 20, 1, 1});
  events::Answer match;
  match.source = 0;
  match.sequence = 0;
  match.exit_ps = 50;
  timeline.on_match(RankId{1}, match);
  const json messages = document(timeline)["messages"];
  EXPECT_EQ(numbers(messages, "sent_ps"), (Numbers{20, 10}));
  EXPECT_EQ(numbers(messages, "flight_ps"), (Numbers{15, 40}));
  EXPECT_EQ(numbers(messages, "bytes"), (Numbers{100, 100}));
  EXPECT_EQ(messages["sent"], 2);
  EXPECT_EQ(messages["one_in"], 1);
}

TEST(Timeline, BeyondItsBudgetItKeepsTheShareOfEachActivity) {
  Timeline timeline{2, {.intervals = 500}};
  alternate(timeline, 0, 1000);
  feed(timeline, 0, {EventKind::kFinalize, 2000 * kMicrosecond, 2000 * kMicrosecond});
  const json all = document(timeline);
  ASSERT_EQ(all["detail"], "bins");
  const json row = all["rows"][0];
  const auto reached = 2000.0 * kMicrosecond / all["bin_ps"].get<double>();  // bins' worth of time
  EXPECT_EQ(static_cast<double>(row["receive"].size()), std::ceil(reached));
  EXPECT_NEAR(static_cast<double>(permille_of_row(row, "receive")), 500 * reached, reached);
  EXPECT_NEAR(static_cast<double>(permille_of_row(row, "compute")), 500 * reached, reached);
  EXPECT_EQ(permille_of_row(row, "collective"), 0);
  EXPECT_EQ(permille_of_row(all["rows"][1], "compute"), 0) << "a rank that was never heard of";
}

TEST(Timeline, ManyRanksShareRowsOfBins) {
  Timeline timeline{2500, {.intervals = 10}};
  for (std::int32_t rank = 0; rank < 2500; ++rank) alternate(timeline, rank, 1);
  const json all = document(timeline);
  ASSERT_EQ(all["rows"].size(), 834U);  // three ranks each
  EXPECT_EQ(all["rows"][833]["first_rank"], 2499);
  EXPECT_EQ(all["rows"][833]["ranks"], 1);
  EXPECT_EQ(numbers(all["rows"][0], "receive"), (Numbers{0, 1000}));
}

TEST(Timeline, RowsOfManyRanksHoldMoreTimeThanThereIsOfOne) {
  constexpr std::size_t kMany = 1U << 19U, kOfARow = kMany / 1024;
  Timeline timeline{kMany, {.intervals = 10}};
  for (std::size_t rank = 0; rank < kOfARow; ++rank)
    feed(timeline, static_cast<std::int32_t>(rank),
         {EventKind::kWait, events::kLatest - 1000, events::kLatest});
  const json all = document(timeline);
  const Numbers computing = numbers(all["rows"][0], "compute");
  ASSERT_GE(computing.size(), 32U);
  EXPECT_TRUE(std::all_of(computing.begin(), computing.end() - 1, [](auto part) { return part == 1000; }));
}

TEST(Timeline, AMessageBetweenTheEndsOfTimeIsNotEarly) {
  Timeline timeline{2};
  feed(timeline, 0, {EventKind::kSend, -events::kLatest, -events::kLatest, 1, 7});
  feed(timeline, 1, {EventKind::kRecv, events::kLatest, events::kLatest, 0, 7});
  EXPECT_EQ(numbers(document(timeline)["messages"], "flight_ps"), Numbers{events::kBeyond.count()});
}

TEST(Timeline, StuckRanksFillTheirBinsToTheEnd) {
  Timeline timeline{2, {.intervals = 4}};
  feed(timeline, 1, {EventKind::kRecv, 4 * kMicrosecond, kForEver});
  alternate(timeline, 0, 8);
  const json all = document(timeline);
  ASSERT_EQ(all["detail"], "bins");
  EXPECT_EQ(permille_of_row(all["rows"][1], "stuck"),
            12 * 1000 * kMicrosecond / all["bin_ps"].get<std::int64_t>());
}

TEST(Timeline, TooManyMessagesBecomeASampleThatBothEndsAgreeOn) {
  Timeline timeline{2, {.messages = 100}};
  for (std::int64_t i = 0; i < 5000; ++i) {
    const auto sequence = static_cast<std::uint64_t>(i);
    feed(timeline, 0, {EventKind::kSend, i, i, 1, sequence});
    feed(timeline, 1, {EventKind::kRecv, i, i + 7, 0, sequence});
  }
  const json messages = document(timeline)["messages"];
  const auto shown = messages["shown"].get<std::size_t>();
  EXPECT_EQ(messages["sent"], 5000);
  EXPECT_LE(shown, 100U);
  EXPECT_NEAR(static_cast<double>(shown) * messages["one_in"].get<double>(), 5000, 2500);
  EXPECT_EQ(numbers(messages, "flight_ps"), Numbers(shown, 7));
}

TEST(Timeline, AWindowLeavesOutWhatLiesOutside) {
  Timeline timeline{2, {.begin = at(100), .end = at(200)}};
  feed(timeline, 0, {EventKind::kSend, 20, 30, 1, 0});
  feed(timeline, 0, {EventKind::kWait, 90, 110});
  feed(timeline, 0, {EventKind::kWait, 150, 260});
  feed(timeline, 1, {EventKind::kRecv, 20, 40, 0, 0});
  const json all = document(timeline);
  EXPECT_EQ(numbers(all["rows"][0], "gap_ps"), (Numbers{0, 40}));
  EXPECT_EQ(numbers(all["rows"][0], "length_ps"), (Numbers{10, 50}));
  EXPECT_EQ(all["messages"]["shown"], 0);
  EXPECT_EQ(all["end_ps"], 200);
  EXPECT_EQ(all["run_end_ps"], 260);
}

}  // namespace
}  // namespace nplus1::patterns
