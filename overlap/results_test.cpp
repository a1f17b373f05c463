#include "overlap/results.hpp"

#include <map>
#include <nlohmann/json.hpp>

#include "overlap/testing/program.hpp"

namespace nplus1::overlap {
namespace {

/// Two ranks exchange and compute; what a variant would save is given.
struct Sample {
  OverlapProgram program{2};
  Results results;

  explicit Sample(double saved_s) {
    for (std::int32_t r = 0; r < 2; ++r) {
      program.line(r, 72);
      const auto e = program.exchange(r, 1 - r, 1 - r, 1000);
      program.touch(r, e.received, Access::kFirstTouch, 90, 8);
    }
    program.record();
    program.survey();
    results.ranks = 2;
    results.accesses = true;
    results.network = "lsb";
    const Replayed run{1.0, 0.5, {}, 0, true};
    for (auto& written : results.as_written) written = run;
    results.chains.resize(1);
    Replayed after = run;
    after.makespan_s = 1 - saved_s;
    for (auto& kind : results.chains[0].alone[static_cast<std::size_t>(Variant::kGrouped)]) kind = after;
  }
  [[nodiscard]] std::string text() const {
    return overlap_text(results, program.surveyed(), program.analysis());
  }
  [[nodiscard]] nlohmann::json json() const {
    return nlohmann::json::parse(overlap_json(results, program.surveyed(), program.analysis()));
  }
};

TEST(OverlapResults, LessThanFivePercentIsHiddenAndMoreReported) {
  const Sample less{0.049}, more{0.051};
  EXPECT_EQ(less.text().find("MPI_Sendrecv at program.c:72"), std::string::npos);
  EXPECT_NE(less.text().find("1 chain more would save less"), std::string::npos);
  EXPECT_NE(more.text().find("5.1 %  MPI_Sendrecv at program.c:72"), std::string::npos);
  EXPECT_FALSE(less.json()["chains"][0]["finding"]);
  EXPECT_TRUE(more.json()["chains"][0]["finding"]);
}

TEST(OverlapResults, TheDocumentHasWhatItsFormatSays) {
  const auto json = Sample{0.1}.json();
  EXPECT_EQ(json["schema"], "nplus1-overlap/1");
  const auto& chain = json["chains"][0];
  EXPECT_EQ(chain["contexts"],
            nlohmann::json::parse(
                R"([{"function":"MPI_Sendrecv","file":"/src/program.c","line":72,"called_from":null}])"));
  EXPECT_TRUE(chain["one_wait"].is_null());
  EXPECT_EQ(chain["count"], 2);
  EXPECT_EQ(chain["ended_by"], "touch");
  EXPECT_EQ(chain["touch"]["line"], 90);
  EXPECT_EQ(chain["touch"]["offset"], 8);
  EXPECT_NEAR(chain["saving_s"].get<double>(), 0.1, 1e-12);
  EXPECT_NEAR(chain["saving_share"].get<double>(), 0.1, 1e-12);
  EXPECT_EQ(chain["saving_variant"], "grouped");
  EXPECT_TRUE(chain["patch"].is_null());
  EXPECT_EQ(chain["instance"]["requests"].size(), 2U);
  EXPECT_TRUE(json["races"].empty());
}

/// Requests that are open for longer are in transfer for longer: the share may fall.
TEST(OverlapResults, TheBoundIsNeverLessThanWhatIsHiddenAsItIs) {
  Sample sample{0.1};
  sample.results.efficiency.whole = {1000, 990};
  for (auto& written : sample.results.as_written) written = Replayed{1, 0, {1000, 990}, 0, true};
  constexpr auto kAll = static_cast<std::size_t>(Variant::kPerRequest);
  for (auto& moved : sample.results.all[kAll]) moved = Replayed{0.9, 0, {2000, 1100}, 0, true};
  EXPECT_DOUBLE_EQ(*sample.results.bound(ProgressKind::kAsynchronous), 0.99);
  EXPECT_NE(sample.text().find("Its data allow no more"), std::string::npos);
  EXPECT_DOUBLE_EQ(sample.json()["efficiency"]["bound"]["asynchronous"].get<double>(), 0.99);
  for (auto& moved : sample.results.all[kAll]) moved = Replayed{0.9, 0, {2000, 1999}, 0, true};
  EXPECT_DOUBLE_EQ(*sample.results.bound(ProgressKind::kWeak), 0.9995);
  EXPECT_NE(sample.text().find("Its data would allow"), std::string::npos);
}

TEST(OverlapResults, CallsOfOneLineAreToldOnceHoweverTheyAreReached) {
  OverlapProgram p{2};
  for (const std::uint32_t path : {72U, 172U, 172U}) {
    p.line(0, path);
    p.line(1, 73);
    p.send(0, 1, 0);
    p.called(0, MpiCall::MPI_Send);
    p.receive(1, 0);
    p.called(1, MpiCall::MPI_Recv);
  }
  p.record();
  p.survey();
  std::map<std::string, std::uint64_t> counts;
  for (const NotDeferrableLine& l : not_deferrable_lines(p.surveyed(), p.analysis()))
    counts[l.place.function + " " + short_text(l.place)] += l.count;
  EXPECT_EQ(counts, (std::map<std::string, std::uint64_t>{{"MPI_Recv program.c:73", 3},
                                                          {"MPI_Send program.c:72", 3}}));
  EXPECT_EQ(not_deferrable_lines(p.surveyed(), p.analysis()).size(), 2U);
  const auto standing = one_path_for_each_line(p.surveyed());
  EXPECT_EQ(standing.at(172), 72U);
  EXPECT_EQ(standing.at(72), 72U);
  EXPECT_EQ(standing.at(73), 73U);
}

TEST(OverlapResults, ATitleNamesEachCallOnce) {
  OverlapProgram p{2};
  p.survey();
  const auto call = [](std::uint32_t line) {
    Context context{};
    context.site = line;
    context.call = static_cast<std::uint16_t>(MpiCall::MPI_Send);
    return context;
  };
  EXPECT_EQ(title(p.surveyed(), {call(40), call(40), call(41), call(40)}),
            "MPI_Send at program.c:40 (3 times), MPI_Send at program.c:41");
  EXPECT_EQ(title(p.surveyed(), {call(1), call(2), call(3), call(4), call(5), call(6), call(7), call(7)}),
            "MPI_Send at program.c:1, MPI_Send at program.c:2, MPI_Send at program.c:3, "
            "MPI_Send at program.c:4, MPI_Send at program.c:5, MPI_Send at program.c:6 and 1 more");
}

TEST(OverlapResults, WhatDoesNotEndSavesNothing) {
  Sample sample{0.5};
  for (auto& kind : sample.results.chains[0].alone[0]) kind->finished = false;
  EXPECT_EQ(sample.results.saving_s(sample.results.chains[0]), 0);
  EXPECT_TRUE(sample.json()["chains"][0]["savings"].empty());
}

/// 6 us in transfer of which 4 are hidden, and a partner that is 20 us late, which computing hides too.
TEST(OverlapResults, WhatTwoReplaysDifferByIsHiddenTransferAndHiddenWaiting) {
  Sample sample{0.1};
  for (auto& written : sample.results.as_written) written = Replayed{1, 0, {6000, 4000}, 3000, true};
  sample.results.at_once = Replayed{1, 0, {7000, 0}, 28000, true};
  const auto two = sample.results.two_replays();
  ASSERT_TRUE(two);
  EXPECT_DOUBLE_EQ(two->share, 4000.0 / 7000);
  EXPECT_DOUBLE_EQ(two->ratio, 7000.0 / 6000);
  EXPECT_DOUBLE_EQ(two->share * two->ratio, 4000.0 / 6000)
      << "the efficiency: nothing else do they differ by";
  EXPECT_DOUBLE_EQ(two->visible_share, 1 - 2000.0 / 7000);
  EXPECT_DOUBLE_EQ(two->visible_share, two->share + 1 - 1 / two->ratio);
  EXPECT_EQ(two->added, 25000);
  EXPECT_EQ(two->transfer, 4000);
  EXPECT_EQ(two->longer, 1000);
  EXPECT_EQ(two->partners, 20000);
}

TEST(OverlapResults, TheTextSaysInSentencesWhatTheSecondReplayIs) {
  Sample sample{0.1};
  for (auto& written : sample.results.as_written)
    written = Replayed{1, 0, {6'000'000, 4'000'000}, 3'000'000, true};
  sample.results.at_once = Replayed{1, 0, {7'000'000, 0}, 28'000'000, true};
  sample.results.efficiency.whole = {6'000'000, 4'000'000};
  const std::string text = sample.text();
  EXPECT_NE(
      text.find("Overlap efficiency: for 66.7 % of the time that messages are in transfer, their ranks "
                "compute\n"
                "  Checked by a second replay, in which each non-blocking call is waited for at once:\n"
                "    its messages are in transfer for 16.67 % more time; of that, the program as it is hides "
                "57.1 %\n"
                "    its ranks are in MPI for 25 us longer: 4 us of transfer that computing hides now,\n"
                "    1 us because transfers take longer, 20 us of waiting for others that computing hides "
                "now\n"),
      std::string::npos)
      << text;
  sample.results.at_once->whole.transfer = 5'000'000;
  EXPECT_NE(sample.text().find(" because transfers take less time, "), std::string::npos) << sample.text();
  sample.results.at_once->whole.transfer = 6'000'000;
  EXPECT_NE(
      sample.text().find("its messages are in transfer for as long; of that, the program as it is hides "
                         "66.7 %\n"),
      std::string::npos);
}

TEST(OverlapResults, TheTextSaysWhatEndsTheChainAndTheRaces) {
  Sample sample{0.1};
  EXPECT_NE(sample.text().find("until its data are used at program.c:90 (byte 8)"), std::string::npos);
}

}  // namespace
}  // namespace nplus1::overlap
