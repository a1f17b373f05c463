#include "hypothesis/replay/sweep.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <csignal>

#include "netmodel/network_model.hpp"

namespace nplus1::hypothesis {
namespace {

const std::string kNetwork = "lsb:latency=1e-06,bandwidth=1e+10";

std::vector<Axis> axes_of(const std::string& text, const std::string& network = kNetwork) {
  auto axes = parse_sweep(text, network);
  EXPECT_TRUE(axes.ok()) << axes.error().what;
  return axes.ok() ? axes.value() : std::vector<Axis>{};
}

std::string error_of(const std::string& text) {
  const auto axes = parse_sweep(text, kNetwork);
  return axes.ok() ? "" : axes.error().what + "; " + axes.error().remedy;
}

TEST(Sweep, RangesAreGeometricAndReachBothEnds) {
  const auto axes = axes_of("bandwidth=1e9..1e11 x5");
  ASSERT_EQ(axes.size(), 1U);
  const std::vector<double>& values = axes[0].values;
  ASSERT_EQ(values.size(), 5U);
  EXPECT_EQ(values.front(), 1e9);
  EXPECT_EQ(values.back(), 1e11);
  for (std::size_t i = 1; i < values.size(); ++i)
    EXPECT_NEAR(values[i] / values[i - 1], std::sqrt(10.0), 1e-9);
}

TEST(Sweep, RangesWithAPlusAreEvenAndMayBeginAtZero) {
  EXPECT_EQ(axes_of("eager=0..64KiB +3")[0].values, (std::vector<double>{0, 32768, 65536}));
}

TEST(Sweep, ListsHaveUnits) {
  const auto axes = axes_of("latency=1us, 5us,bandwidth=10Gbps");
  ASSERT_EQ(axes.size(), 2U);
  ASSERT_EQ(axes[0].values.size(), 2U);
  EXPECT_DOUBLE_EQ(axes[0].values[0], 1e-6);
  EXPECT_DOUBLE_EQ(axes[0].values[1], 5e-6);
  EXPECT_EQ(axes[1].values, (std::vector<double>{1.25e9}));
}

TEST(Sweep, PointsAreAllCombinationsTheLastKeyFastest) {
  const auto points = points_of(axes_of("latency=1us,2us,compute-scale=0.5,1,2"));
  ASSERT_EQ(points.size(), 6U);
  EXPECT_EQ(points[1], (Point{1e-6, 1}));
  EXPECT_EQ(points[3], (Point{2e-6, 0.5}));
}

TEST(Sweep, NetworksKeepWhatIsNotSwept) {
  const auto axes = axes_of("compute-scale=2,bandwidth=1e9");
  const Point point = points_of(axes).front();
  EXPECT_EQ(network_at(kNetwork, axes, point), "lsb:latency=1e-06,bandwidth=1e+09");
  EXPECT_EQ(compute_scale_at(axes, point, 1), 2);
}

TEST(Sweep, ItsKeysAreThoseOfTheModels) {
  for (const char* key : {"latency", "bandwidth", "eager", "handshake"}) {
    const auto axes = axes_of(std::string{key} + "=1");
    EXPECT_TRUE(netmodel::parse(network_at("lsb", axes, {1})).ok()) << key;
  }
  for (const char* key : {"L", "o", "g", "G", "O", "S", "handshake"}) {
    const auto axes = axes_of(std::string{key} + "=1", "loggops");
    EXPECT_TRUE(netmodel::parse(network_at("loggops", axes, {1})).ok()) << key;
  }
}

TEST(Sweep, AMistypedKeyIsAnErrorThatListsTheKeys) {
  const std::string error = error_of("bandwith=1e9");
  EXPECT_NE(error.find("'bandwith'"), std::string::npos) << error;
  for (const char* key : {"latency", "bandwidth", "eager", "handshake", "compute-scale"})
    EXPECT_NE(error.find(key), std::string::npos) << error;
}

TEST(Sweep, SaysWhatIsWrongWithARange) {
  for (const char* text :
       {"", "latency", "latency=", "latency=1us..", "latency=1us..2us x1", "latency=1us..2us y5",
        "latency=0..1us x5", "latency=1us,latency=2us", "compute-scale=0", "bandwidth=-1",
        "latency=1us..2us x20000", "=1", "latency=1us,,2us"})
    EXPECT_NE(error_of(text), "") << text;
}

TEST(Sweep, ResultsComeInTheOrderOfThePoints) {
  std::size_t done = 0;
  const auto results = run_points(
      20, 3, [](std::size_t i) { return Result<PointResult>{PointResult{Duration{static_cast<int>(i)}}}; },
      [&](std::size_t n) { EXPECT_EQ(n, ++done); });
  ASSERT_TRUE(results.ok());
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(results.value()[i].makespan.count(), static_cast<int>(i));
  EXPECT_EQ(done, 20U);
}

TEST(Sweep, AnErrorOfAReplayIsTheSweepsError) {
  const auto results = run_points(
      5, 2,
      [](std::size_t i) {
        return i == 3 ? Result<PointResult>{Error{"the third", "remedy"}}
                      : Result<PointResult>{PointResult{}};
      },
      [](std::size_t) {});
  ASSERT_FALSE(results.ok());
  EXPECT_EQ(results.error().what, "the third");
}

TEST(Sweep, ADeadReplayIsAnErrorThatNamesTheSignal) {
  const auto results = run_points(
      3, 2,
      [](std::size_t i) -> Result<PointResult> {
        if (i == 1) kill(getpid(), SIGKILL);
        return PointResult{};
      },
      [](std::size_t) {});
  ASSERT_FALSE(results.ok());
  EXPECT_NE(results.error().what.find("Killed"), std::string::npos) << results.error().what;
}

}  // namespace
}  // namespace nplus1::hypothesis
