#include "overlap/measured.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace nplus1::overlap {
namespace {

Place place_by_address(const std::string& frame) {
  Place place;
  place.address = frame.substr(0, frame.find(' '));
  place.file = "/src/halo.c";
  place.line = static_cast<std::uint32_t>(std::stoul(place.address.substr(place.address.rfind('x') + 1)));
  return place;
}

/// A chain of one receive as a rank tells it: `n` times each way, with means in us and 1 us of standard deviation.
std::string chain(int n, double blocking_us, double deferred_us, double overhead_us) {
  const auto sample = [n](double us) {
    return " " + std::to_string(n) + " " + std::to_string(1e3 * us) + " " + std::to_string(1e6 * (n - 1));
  };
  return "chain " + std::to_string(2 * n + 1) +
         "\ncall MPI_Recv\nframe /bin/halo+0x72 ab\nmessage receive 1 4096\n" + "ended touch " +
         std::to_string(2 * n + 1) + "\nending 8 0\nat /bin/halo+0x80 ab\nblocking" + sample(blocking_us) +
         sample(1) + sample(100) + "\ndeferred" + sample(deferred_us) + sample(overhead_us) + sample(100) +
         "\nbetween" + sample(10) + "\nleast " + std::to_string(500 * blocking_us) + " " +
         std::to_string(500 * (deferred_us + overhead_us)) + "\n";
}

std::string of_ranks(const std::vector<std::string>& ranks) {
  std::string text = "nplus1-measured 1\nranks " + std::to_string(ranks.size()) + "\n";
  for (std::size_t r = 0; r < ranks.size(); ++r)
    text += "rank " + std::to_string(r) + "\nprotect 4096 2000\n" +
            (r == 0 ? "pair 0 1 4096 3000\npair 0 1 65536 13000\n" : "") + "not-deferrable 2\n" + ranks[r];
  return text + "end\n";
}

Measurement read(const std::vector<std::string>& ranks) {
  const auto made = read_measurement(of_ranks(ranks), place_by_address);
  if (!made) throw std::runtime_error{made.error().what};
  return made.value();
}

TEST(Measurement, TellsWhatEachWayTakesWithItsInterval) {
  const Measurement m = read({chain(101, 60, 40, 5)});
  ASSERT_EQ(m.chains.size(), 1U);
  const MeasuredChain& c = m.chains[0];
  EXPECT_NEAR(c.blocking.mean, 60e-6, 1e-12);
  EXPECT_NEAR(c.deferred.mean, 40e-6, 1e-12);
  // t(100 degrees of freedom) = 1.984, times 1 us / sqrt(101).
  EXPECT_NEAR(c.blocking.half, 1.984e-6 / std::sqrt(101.0), 1e-9);
  EXPECT_NEAR(c.by_hand().mean, 20e-6, 1e-12);
  EXPECT_NEAR(c.by_hand().half, std::sqrt(2.0) * c.blocking.half, 1e-12);
  EXPECT_NEAR(c.total_s(), 203 * 20e-6, 1e-9);
}

TEST(Measurement, HandsOnFramesAsTheRanksToldThemWhateverLinesTheyHave) {
  std::string told = chain(101, 60, 40, 5);
  told.replace(told.find("frame /bin/halo"), 15, "frame /a\nframe  b\nframe \nframe halo");
  told.replace(told.find("at /bin/halo"), 12, "at /a\nat  b\nat \nat halo");
  std::vector<std::string> asked;
  const auto made = read_measurement(of_ranks({told}), [&](const std::string& frames) {
    asked.push_back(frames);
    return Place{};
  });
  ASSERT_TRUE(made.ok()) << made.error().what;
  EXPECT_EQ(asked, (std::vector<std::string>{"/a\n b\n\nhalo+0x72 ab", "/a\n b\n\nhalo+0x80 ab"}));
}

TEST(Measurement, SaysWinsLosesOrNothingByTheInterval) {
  const auto says = [](double blocking, double deferred, double overhead) {
    const MeasuredChain c = read({chain(101, blocking, deferred, overhead)}).chains.at(0);
    return std::pair{verdict(c, c.by_hand()), verdict(c, c.at_run_time())};
  };
  EXPECT_EQ(says(60, 40, 5), (std::pair{Says::kWins, Says::kWins}));
  EXPECT_EQ(says(60, 40, 30), (std::pair{Says::kWins, Says::kLoses}));
  EXPECT_EQ(says(60, 59.95, 0), (std::pair{Says::kNothing, Says::kNothing}));
  EXPECT_EQ(says(40, 60, 5), (std::pair{Says::kLoses, Says::kLoses}));
}

TEST(Measurement, TellsWhatEachWayTakesWhenNobodyWaits) {
  const MeasuredChain c = read({chain(101, 60, 40, 5), chain(101, 20, 30, 5)}).chains.at(0);
  EXPECT_NEAR(c.undisturbed_blocking, 20e-6, 1e-12);
  EXPECT_NEAR(c.undisturbed_deferred, 20e-6, 1e-12);
  std::string without = chain(101, 60, 40, 5);
  without.erase(without.find("least"));
  EXPECT_EQ(read({without}).chains.at(0).undisturbed_deferred, 0);
}

TEST(Measurement, MoreRanksMakeTheIntervalNoNarrower) {
  const std::string one = chain(101, 60, 40, 5);
  const MeasuredChain alone = read({one}).chains.at(0), four = read({one, one, one, one}).chains.at(0);
  EXPECT_EQ(four.ranks, 4U);
  EXPECT_EQ(four.count, 4 * alone.count);
  EXPECT_NEAR(four.blocking.half, alone.blocking.half, 1e-12);
}

TEST(Measurement, ChainsSeenTooSeldomAreEstimatedFromTheNetwork) {
  const Measurement m = read({chain(0, 0, 0, 0), ""});
  ASSERT_EQ(m.chains.size(), 1U);
  EXPECT_FALSE(m.chains[0].is_measured());
  EXPECT_NEAR(m.chains[0].estimated_blocking, 3e-6, 1e-12);
  EXPECT_NEAR(m.chains[0].estimated_deferred, 3e-6, 1e-12);
  EXPECT_EQ(verdict(m.chains[0], m.chains[0].by_hand()), Says::kSeldom);
  EXPECT_NE(measurement_text(m).find("seen too seldom"), std::string::npos);
}

TEST(Measurement, SeveralReceivesInTurnAreEstimatedToTakeTheLongestOne) {
  std::string two = chain(0, 0, 0, 0);
  two.insert(two.find("ended"), "message receive 1 65536\n");
  const MeasuredChain c = read({two, ""}).chains.at(0);
  EXPECT_NEAR(c.estimated_blocking, 16e-6, 1e-12);
  EXPECT_NEAR(c.estimated_deferred, 13e-6, 1e-12);
}

TEST(Measurement, IsShownBesideTheChainOfTheSameLines) {
  const Measurement m = read({chain(101, 60, 40, 30)});
  const auto lines = measured_lines(measurement_json(m));
  ASSERT_TRUE(lines);
  const auto found = lines.value().find("MPI_Recv at halo.c:72");
  ASSERT_NE(found, lines.value().end());
  EXPECT_NE(found->second.find("(wins); protected at run time loses"), std::string::npos) << found->second;
}

TEST(Measurement, WhatIsNoMeasurementIsSaidToBeNone) {
  EXPECT_FALSE(read_measurement("", place_by_address));
  EXPECT_FALSE(read_measurement("nplus1-measured 1\nranks 2\n", place_by_address));  // cut off
  EXPECT_FALSE(read_measurement("nplus1-measured 1\nranks 2\nnonsense\nend\n", place_by_address));
  EXPECT_FALSE(
      read_measurement("nplus1-measured 1\nblocking 1 2 3\nend\n", place_by_address));  // of no chain
  EXPECT_FALSE(read_measurement("nplus1-measured 1\nchain 1\nleast 1 nan\nend\n", place_by_address));
  for (const char* line : {"pair 0 1 -3 2", "pair 0 1 9223372036854775807 2", "protect -1 2"})
    EXPECT_FALSE(read_measurement(std::string{"nplus1-measured 1\n"} + line + "\nend\n", place_by_address))
        << line;
  EXPECT_FALSE(measured_lines("{}"));
  EXPECT_FALSE(measured_lines("[1"));
  EXPECT_FALSE(measured_lines(R"({"schema": 1, "chains": []})"));
}

}  // namespace
}  // namespace nplus1::overlap
