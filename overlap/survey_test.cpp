#include "overlap/survey.hpp"

#include <gtest/gtest.h>

#include "overlap/bounds.hpp"

namespace nplus1::overlap {
namespace {

using events::EventKind;

/// A call of a rank's, one microsecond long.
struct Told {
  std::uint64_t ordinal;
  std::uint16_t thread;
  EventKind kind;
  std::uint32_t request = 0;
};

void tell(Survey& survey, const Told& told) {
  const std::vector<std::uint32_t> requests{told.request};
  events::Detail detail;
  detail.buffer = 4096 * (told.ordinal + 1);
  events::Event event;
  event.kind = told.kind;
  event.thread = ThreadId{told.thread};
  event.request = RequestId{told.request};
  event.entry_ps = static_cast<std::int64_t>(told.ordinal) * 2'000'000;
  event.size = 8;
  events::TimedEvent timed{RankId{0}, event, {}, Time{Duration{event.entry_ps + 1'000'000}}};
  timed.ordinal = told.ordinal;
  timed.detail = &detail;
  if (told.kind == EventKind::kWait) timed.extension.words = requests;
  survey.on_event(timed);
}

/// Thread 0 was in MPI_Recv while thread 1 made many calls: its call is decided, and told, last.
TEST(Survey, ACallOfAnotherThreadThatIsToldLateHasItsPlace) {
  Survey survey{1};
  tell(survey, {0, 0, EventKind::kIrecv, 1});
  tell(survey, {2, 1, EventKind::kIsend, 2});
  tell(survey, {3, 1, EventKind::kIrecv, 3});
  tell(survey, {4, 1, EventKind::kWait, 2});
  tell(survey, {1, 0, EventKind::kRecv});
  tell(survey, {5, 1, EventKind::kWait, 3});
  tell(survey, {6, 0, EventKind::kWait, 1});
  const SurveyedRank& rank = survey.ranks()[0];
  for (std::uint64_t ordinal = 0; ordinal < 7; ++ordinal) {
    ASSERT_NE(rank.moment(ordinal), nullptr) << ordinal;
    EXPECT_EQ(rank.moment(ordinal)->ordinal, ordinal);
  }
  EXPECT_EQ(rank.of_thread, (std::vector<std::vector<std::uint32_t>>{{0, 1, 6}, {2, 3, 4, 5}}));
  std::vector<std::pair<std::uint64_t, std::uint64_t>> completed;
  for (const MessageEnd& end : rank.ends) completed.emplace_back(end.ordinal, end.completed);
  EXPECT_EQ(completed,
            (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0, 6}, {1, 1}, {2, 4}, {3, 5}}));
  for (std::size_t i = 0; i + 1 < rank.uses.size(); ++i)
    EXPECT_LT(rank.uses[i].ordinal, rank.uses[i + 1].ordinal);
  EXPECT_EQ(bounds_of(rank).size(), 4U);
}

TEST(Survey, ACallThatIsToldTwiceCountsOnce) {
  Survey survey{1};
  tell(survey, {0, 0, EventKind::kRecv});
  tell(survey, {1, 0, EventKind::kRecv});
  tell(survey, {0, 0, EventKind::kRecv});
  EXPECT_EQ(survey.ranks()[0].moments.size(), 2U);
  EXPECT_EQ(survey.ranks()[0].ends.size(), 2U);
}

}  // namespace
}  // namespace nplus1::overlap
