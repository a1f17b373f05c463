// From measured message times to the parameters of the network models. Pure functions; any thread.
//
// All fits are linear least squares on relative errors, sum of ((a + s b - t)/t)^2 over the sizes s with medians
// t: a microsecond matters for a byte and not for a megabyte. In closed form, with a and b not below zero.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/result.hpp"

namespace nplus1::calibrate {

/// A quantity at one message size, over the repetitions.
struct Sample {
  double size = 0;  // bytes
  double median = 0;
  double low = 0;   // 10 % of the repetitions are below
  double high = 0;  // 10 % are above
};

/// The measuring program's lines (calibrate/mpi/measure.c), by kind and size; sizes ascend.
struct Measurements {
  std::vector<Sample> half_round_trip;
  std::vector<Sample> send;
  std::vector<Sample> gap;
  std::vector<Sample> eager;
  std::vector<Sample> reduce;
  std::vector<Sample> copy;
};

/// Reads its CSV. Errors name the line.
[[nodiscard]] Result<Measurements> read_measurements(std::string_view csv);

/// a + s b: seconds, and seconds per byte.
struct Line {
  double a = 0;
  double b = 0;
  [[nodiscard]] double at(double size) const { return a + size * b; }
};

/// The line through the samples `first` to `last` (exclusive; at least one).
[[nodiscard]] Line fit_line(const std::vector<Sample>& samples, std::size_t first, std::size_t last);

/// Lines for ranges of sizes; each holds for sizes from `from` on, up to the next one's.
struct Piece {
  double from = 0;
  Line line;
};

/// The best cut into at most `most` ranges of at least `fewest` samples each: another range is taken only where
/// it makes the sum of squares smaller by a tenth.
[[nodiscard]] std::vector<Piece> fit_pieces(const std::vector<Sample>& samples, std::size_t most = 5,
                                            std::size_t fewest = 3);
/// The same for times of messages: where the ranges meet about the eager limit, they meet at the limit.
[[nodiscard]] std::vector<Piece> fit_times(const std::vector<Sample>& times, double eager_limit);
[[nodiscard]] double time_at(const std::vector<Piece>& pieces, double size);

struct LogGopsFit {
  double latency = 0;            // L
  double overhead = 0;           // o
  double gap = 0;                // g
  double gap_per_byte = 0;       // G
  double overhead_per_byte = 0;  // O
  double eager_limit = 0;        // S; 0: no send completes before its receive
};

struct Fit {
  Line whole;  // one line for all sizes: latency and 1 / bandwidth
  std::vector<Piece> pieces;
  LogGopsFit loggops;
  double eager_limit = 0;
  double reduce_rate = 0;  // bytes of one operand per second; 0: not measured
  double copy_rate = 0;    // bytes per second; 0: not measured
};

/// Below, a call's own time counts more than the bytes.
inline constexpr double kLeastReduced = 1024;
/// Below, a copy hardly counts beside the messages of its collective, and what caches do for it differs from size to size.
inline constexpr double kLeastCopied = 1 << 20;
/// s / rate through the samples from `least` bytes on. 0 without any.
[[nodiscard]] double fit_rate(const std::vector<Sample>& samples, double least);

/// L, o, g, G and O whose half round trips are those of `whole`.
[[nodiscard]] LogGopsFit fit_loggops(const Measurements& measurements, const Line& whole, double eager_limit);

/// Fitted to the powers of two among the sizes; the others are left to check it.
[[nodiscard]] Fit fit(const Measurements& measurements);

/// Samples of sizes that are powers of two, or the others.
[[nodiscard]] std::vector<Sample> fitted_sizes(const std::vector<Sample>& samples);
[[nodiscard]] std::vector<Sample> held_back_sizes(const std::vector<Sample>& samples);

/// Half a round trip of LogGOPS: L + s G + 2 (o + s O).
[[nodiscard]] double time_at(const LogGopsFit& fit, double size);

/// A SimGrid platform of two hosts whose link, under the SMPI model, takes the pieces' times.
[[nodiscard]] std::string platform_xml(const Fit& fit, const std::string& provenance);
/// "lsb:latency=..,bandwidth=..", "loggops:..": for --network.
[[nodiscard]] std::string lsb_words(const Fit& fit);
[[nodiscard]] std::string loggops_words(const Fit& fit);
/// "reduce_rate=..,copy_rate=..", those that were measured: for --collectives.
[[nodiscard]] std::string collective_words(const Fit& fit);

}  // namespace nplus1::calibrate
