#include "simnode/engine/recorder.hpp"

#include <gtest/gtest.h>

namespace nplus1::simnode::engine {
namespace {

struct Row {
  std::int32_t rank;
  std::uint64_t ordinal;
  std::int32_t tag;
  std::uint32_t crc;
  bool finished;
  std::vector<std::uint32_t> words;
};

class Rows final : public events::EventSink {
 public:
  void on_event(const events::TimedEvent& t) override {
    rows.push_back({t.rank.value,
                    t.ordinal,
                    t.event.tag,
                    t.detail == nullptr ? 0 : t.detail->crc,
                    t.exit != events::kUnfinished,
                    {t.extension.words.begin(), t.extension.words.end()}});
  }
  void on_match(RankId /*receiver*/, const events::Answer& match) override {
    matches.push_back(match.request.value);
  }
  std::vector<Row> rows;
  std::vector<std::uint32_t> matches;
};

events::Event call(std::uint16_t thread, std::int32_t tag) {
  events::Event event;
  event.kind = events::EventKind::kSend;
  event.thread = ThreadId{thread};
  event.tag = tag;
  return event;
}

events::Detail with_crc(std::uint32_t crc) {
  events::Detail detail;
  detail.crc = crc;
  return detail;
}

constexpr Time kEnd{Duration{1000}};

TEST(Recorder, GivesEachCallItsOwnDetailHoweverThreadsInterleave) {
  Rows rows;
  Rows all;
  Recorder recorder{2, rows, all};
  const events::Event first = call(0, 10), second = call(1, 20), third = call(0, 30);
  const events::Detail a = with_crc(1), b = with_crc(2), c = with_crc(3);
  recorder.pushed(RankId{1}, first, {}, &a);
  recorder.pushed(RankId{1}, second, {}, &b);
  recorder.pushed(RankId{1}, third, {}, &c);
  recorder.exited({RankId{1}, second, {}, kEnd});
  recorder.exited({RankId{1}, first, {}, kEnd});
  recorder.exited({RankId{1}, third, {}, kEnd});
  ASSERT_EQ(rows.rows.size(), 3u);
  EXPECT_EQ(rows.rows[0].crc, 2u);
  EXPECT_EQ(rows.rows[1].crc, 1u);
  EXPECT_EQ(rows.rows[2].crc, 3u);
  EXPECT_EQ(rows.rows[0].ordinal, 1u);
  EXPECT_EQ(rows.rows[1].ordinal, 0u);
  EXPECT_EQ(rows.rows[2].ordinal, 2u);
}

TEST(Recorder, LeavesOutWhatHasNoDetailAndStillCountsIt) {
  Rows rows;
  Rows all;
  Recorder recorder{1, rows, all};
  const events::Event first = call(0, 10), second = call(0, 20);
  const events::Detail b = with_crc(2);
  recorder.pushed(RankId{0}, first, {}, nullptr);
  recorder.pushed(RankId{0}, second, {}, &b);
  recorder.exited({RankId{0}, first, {}, kEnd});
  recorder.exited({RankId{0}, second, {}, kEnd});
  ASSERT_EQ(rows.rows.size(), 1u);
  EXPECT_EQ(rows.rows[0].ordinal, 1u);
  EXPECT_EQ(rows.rows[0].crc, 2u);
}

TEST(Recorder, LeavesOutMatchesOfReceivesThatAreNotRecorded) {
  Rows rows;
  Rows all;
  Recorder recorder{1, rows, all};
  events::Event receive;
  receive.kind = events::EventKind::kIrecv;
  const events::Detail detail{};
  for (const std::uint32_t id : {1u, 2u}) {
    receive.request = RequestId{id};
    recorder.pushed(RankId{0}, receive, {}, id == 1 ? nullptr : &detail);
    recorder.exited({RankId{0}, receive, {}, kEnd});
  }
  for (const std::uint32_t id : {1u, 2u}) {
    events::Answer match;
    match.request = RequestId{id};
    recorder.matched(RankId{0}, match);
  }
  EXPECT_EQ(rows.matches, std::vector<std::uint32_t>{2});
}

TEST(Recorder, RecordsCallsThatNeverReturnedAsUnfinishedWithTheirLists) {
  Rows rows;
  Rows all;
  Recorder recorder{1, rows, all};
  const events::Event first = call(0, 10), second = call(0, 20), third = call(0, 30);
  const events::Detail detail = with_crc(7);
  const std::vector<std::uint32_t> ids{4, 5};
  recorder.pushed(RankId{0}, first, {}, &detail);
  recorder.pushed(RankId{0}, second, {ids, {}}, &detail);
  recorder.pushed(RankId{0}, third, {}, nullptr);
  recorder.exited({RankId{0}, first, {}, kEnd});
  recorder.finish();
  ASSERT_EQ(rows.rows.size(), 2u);
  EXPECT_TRUE(rows.rows[0].finished);
  EXPECT_FALSE(rows.rows[1].finished);
  EXPECT_EQ(rows.rows[1].tag, 20);
  EXPECT_EQ(rows.rows[1].words, ids);
  recorder.finish();
  EXPECT_EQ(rows.rows.size(), 2u);
}

TEST(Recorder, KeepsTheOrderOfCallsHoweverManyAreOpenAtATime) {
  Rows rows;
  Rows all;
  Recorder recorder{1, rows, all};
  const events::Detail detail{};
  std::int32_t pushed = 0, exited = 0;
  for (const std::int32_t more : {3, 5, 3000, 1, 40}) {
    for (const std::int32_t end = pushed + more; pushed < end; ++pushed) {
      const std::vector<std::uint32_t> ids(static_cast<std::size_t>(pushed % 100),
                                           static_cast<std::uint32_t>(pushed));
      recorder.pushed(RankId{0}, call(0, pushed), {ids, {}}, &detail);
    }
    for (const std::int32_t left = more == 1 ? 0 : 2; exited < pushed - left; ++exited)
      recorder.exited({RankId{0}, call(0, exited), {}, kEnd});
  }
  recorder.finish();
  ASSERT_EQ(rows.rows.size(), static_cast<std::size_t>(pushed));
  for (std::int32_t i = 0; i < pushed; ++i) {
    EXPECT_EQ(rows.rows[static_cast<std::size_t>(i)].tag, i);
    EXPECT_EQ(rows.rows[static_cast<std::size_t>(i)].ordinal, static_cast<std::uint64_t>(i));
  }
  EXPECT_FALSE(rows.rows.back().finished);
  EXPECT_EQ(rows.rows.back().words, std::vector<std::uint32_t>(48, static_cast<std::uint32_t>(pushed - 1)));
}

}  // namespace
}  // namespace nplus1::simnode::engine
