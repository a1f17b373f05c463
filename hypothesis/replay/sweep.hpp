// Many replays of one recording: the values of a network's keys to try, and what came out at each.
//
// Each replay runs in a process of its own (a network simulator may not be loaded twice into one), as many at
// a time as wanted. Called from one thread, in a process without MPI.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hypothesis/replay/replay.hpp"
#include "support/result.hpp"
#include "support/units.hpp"

namespace nplus1::hypothesis {

/// The key that is not the network's: a factor of all compute times.
inline constexpr std::string_view kComputeScale = "compute-scale";
/// More points than this are a slip of the pen.
inline constexpr std::size_t kMostPoints = 10000;

struct Axis {
  std::string key;
  std::vector<double> values;  // seconds, bytes, bytes per second or a factor
};

/// The values of one replay, in the order of the axes.
using Point = std::vector<double>;

/// "KEY=VALUE", "KEY=V,V,V" or "KEY=FROM..TO xPOINTS" (geometric; "+POINTS": evenly spaced; 10 if left out),
/// several separated by commas. Values may have units, as in network specifications. Keys are those of the
/// model that `network` names, and compute-scale. Errors list the keys, or say how a range is written.
[[nodiscard]] Result<std::vector<Axis>> parse_sweep(std::string_view text, std::string_view network);

/// All combinations; the last axis varies fastest.
[[nodiscard]] std::vector<Point> points_of(const std::vector<Axis>& axes);

/// `network` with the point's values in place of its own.
[[nodiscard]] std::string network_at(std::string_view network, const std::vector<Axis>& axes,
                                     const Point& point);
/// The point's compute-scale, `otherwise` if that is no axis.
[[nodiscard]] double compute_scale_at(const std::vector<Axis>& axes, const Point& point, double otherwise);

/// What a sweep keeps of a replay.
struct PointResult {
  Duration makespan{};
  double compute_share = 0;
  double communication_share = 0;
  double unmodelled_share = 0;
  bool finished = false;    // every rank reached its end
  std::uint64_t ended = 0;  // calls that returned
  report::Trust trust{};    // what this replay relies on
};

[[nodiscard]] PointResult point_of(const ReplayResult& result);

/// `replay(i)` for each of `count` points, in child processes, at most `jobs` at a time; `progress(done)`
/// after each, in this process. The first error ends the sweep, and so does a child that dies (the error says
/// how); no child is left behind.
[[nodiscard]] Result<std::vector<PointResult>> run_points(
    std::size_t count, std::size_t jobs, const std::function<Result<PointResult>(std::size_t)>& replay,
    const std::function<void(std::size_t)>& progress);

}  // namespace nplus1::hypothesis
