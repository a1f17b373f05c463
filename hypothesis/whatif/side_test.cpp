#include "hypothesis/whatif/side.hpp"

#include <gtest/gtest.h>

#include "hypothesis/waitstates/report.hpp"
#include "hypothesis/whatif/analysis.hpp"
#include "hypothesis/whatif/text.hpp"

namespace nplus1::hypothesis {
namespace {

Analysis analysis() {
  Analysis a;
  a.replay.ranks.resize(2);
  a.replay.state = simnode::engine::State::kFinished;
  a.states.network = "lsb";
  a.states.virtual_time = Duration{10'000'000};
  a.states.ranks.resize(2);
  a.states.total.waiting = Duration{5'000'000};
  a.states.total.states[static_cast<std::size_t>(WaitState::kLateSender)] = Duration{4'000'000};
  a.states.efficiencies = Efficiencies{};
  a.states.efficiencies->parallel = 0.75;
  Activity activity;
  activity.kind = "MPI_Recv";
  activity.tally = a.states.total;
  a.states.activities.push_back(activity);
  return a;
}

std::string with_trust(report::JsonObject side, const std::string& trust) {
  side.raw("trust", trust);
  return side.document();
}

std::string with_trust(const Analysis& a) {
  return with_trust(side_object(a), trust_json(replay_trust(a), {}, std::nullopt));
}

TEST(Side, ReadsBackWhatWasWritten) {
  const auto side = parse_side(with_trust(analysis()), "x");
  ASSERT_TRUE(side.ok()) << side.error().what;
  EXPECT_EQ(side.value().ranks, 2U);
  EXPECT_DOUBLE_EQ(*side.value().metric("virtual_time_s"), 10e-6);
  EXPECT_DOUBLE_EQ(*side.value().metric("waiting_s"), 5e-6);
  EXPECT_DOUBLE_EQ(*side.value().metric("waiting_share"), 0.25);
  EXPECT_DOUBLE_EQ(*side.value().metric("late_sender_s"), 4e-6);
  EXPECT_DOUBLE_EQ(*side.value().metric("parallel_efficiency"), 0.75);
  EXPECT_EQ(side.value().metric("serialisation"), std::nullopt);
  ASSERT_EQ(side.value().activities.size(), 1U);
  EXPECT_DOUBLE_EQ(side.value().activities[0].waited, 5e-6);
  EXPECT_EQ(
      side.value().trust,
      "model lsb; identity replay exact; 0.0 % not modelled; how far the recorded run can be believed is not "
      "known (its summary.json is not there)");
}

TEST(Side, OfAReplayThatDoesNotEndIsNotComparedWithoutAWord) {
  Analysis stuck = analysis();
  stuck.replay.state = simnode::engine::State::kAllBlocked;
  stuck.replay.blocked = {RankId{0}, RankId{1}};
  const auto before = parse_side(with_trust(analysis()), "x");
  const auto after = parse_side(with_trust(stuck), "x");
  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_EQ(before.value().stuck, 0U);
  EXPECT_EQ(after.value().stuck, 2U);
  const std::string text = comparison_text(before.value(), after.value(), "before", "after");
  EXPECT_EQ(text.find("after: 2 ranks wait for what never comes"), 0U) << text;
  EXPECT_EQ(comparison_text(before.value(), before.value(), "before", "after").find("never"),
            std::string::npos);
}

TEST(Side, SaysThatTheRecordingIsNotWhole) {
  Analysis cut = analysis();
  cut.replay.state = simnode::engine::State::kAllBlocked;
  cut.states.coverage = "incomplete: the file ends inside a block";
  const auto side = parse_side(with_trust(cut), "x");
  ASSERT_TRUE(side.ok());
  EXPECT_NE(
      side.value().trust.find(
          "; the replay ends before the program does; recording incomplete: the file ends inside a block"),
      std::string::npos)
      << side.value().trust;
  EXPECT_EQ(parse_side(with_trust(analysis()), "x").value().trust.find("recording complete"),
            std::string::npos);
}

TEST(Side, SaysWhatTheRunAndItsReplayRelyOn) {
  RunTrust run;
  run.run = report::Trust{};
  run.run->cores = 4;
  const auto line = [&](const Analysis& a) {
    return parse_side(with_trust(side_object(a), trust_json(replay_trust(a), run, std::nullopt)), "x")
        .value()
        .trust;
  };
  EXPECT_NE(line(analysis()).find("2 ranks on 4 cores, every match proved"), std::string::npos);
  run.run->forced_decisions = 3;
  Analysis forced = analysis();
  forced.replay.counters.order_inversions = 2;
  EXPECT_NE(line(forced).find("in the run 3 forced decisions: "), std::string::npos);
  EXPECT_NE(line(forced).find("in this replay 2 order inversions: "), std::string::npos);
}

TEST(Side, OfARecordingAsItIsSaysWhatItsRunReliesOn) {
  RunTrust run;
  run.run = report::Trust{};
  run.run->clock_mismatches = 1;
  const auto states = analysis().states;
  const auto side = parse_side(with_trust(wait_states_object(states), trust_json(states, run)), "x");
  EXPECT_EQ(side.value().trust,
            "model lsb; recorded by 2 ranks on 0 cores; in the run 1 clock mismatch between a rank and the "
            "simulator");
}

TEST(Side, EveryMetricThatIsWrittenHasAName) {
  const auto side = parse_side(with_trust(analysis()), "x");
  for (const auto& [name, value] : side.value().metrics)
    EXPECT_NE(std::find(metric_names().begin(), metric_names().end(), name), metric_names().end()) << name;
}

TEST(Side, WaitstatesJsonIsASideToo) {
  EXPECT_TRUE(parse_side(wait_states_json(analysis().states), "x").ok());
}

TEST(Side, OtherDocumentsAreRefused) {
  for (const char* text : {"", "{}", "[1]", "{\"total\": 3, \"activities\": []}", "no json"}) {
    const auto side = parse_side(text, "some.json");
    ASSERT_FALSE(side.ok()) << text;
    EXPECT_NE(side.error().what.find("some.json"), std::string::npos);
  }
}

TEST(Side, ChangesAreSharesOfBefore) {
  EXPECT_EQ(change_text(10, 8), "-20.0 %");
  EXPECT_EQ(change_text(1, 1), "same");
  EXPECT_EQ(change_text(0, 1), "new");
  EXPECT_EQ(change_text(1, 20), "x 20");
}

}  // namespace
}  // namespace nplus1::hypothesis
