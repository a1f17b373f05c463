// What `nplus1 overlap measure` has measured of chains on real MPI (docs/formats/overlap_measured.md): the ranks' numbers
// put together, with what they say about deferring. Pure functions; any thread. What is not as the format says is an
// Error.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "overlap/results.hpp"
#include "support/result.hpp"

namespace nplus1::overlap {

/// Of several ranks: seconds, with half of the width of the 95 % interval of the mean. Ranks wait for each other, so
/// that their times count as dependent: more ranks make the interval no narrower.
struct Measured {
  std::uint64_t count = 0;
  double mean = 0;
  double half = 0;
};

enum class Says : std::uint8_t { kWins, kLoses, kNothing, kSeldom };

struct MeasuredChain {
  std::vector<Place> contexts;
  std::uint64_t count = 0;  // times it was seen, on all ranks
  std::uint64_t ranks = 0;
  std::map<std::string, std::uint64_t> ended_by;
  Place ending;  // of its first time on the first rank
  std::uint64_t offset = 0;
  bool inexact = false;
  Measured blocking, deferred;  // in MPI, each time
  Measured overhead;            // of deferring it: protection, faults, copies
  Measured round_blocking,
      round_deferred;  // from its beginning until it begins again, with all that is between
  Measured between;    // computing from its last call until its end
  /// The least that it took, as written, and deferred with its overhead: what is left where nobody waits, whatever else
  /// the machine does. The mean of the ranks that have both; 0: none has.
  double undisturbed_blocking = 0, undisturbed_deferred = 0;
  double estimated_blocking = 0, estimated_deferred = 0;  // from the network measured at the start

  /// Whether both ways were measured often enough; else the estimates stand for them.
  [[nodiscard]] bool is_measured() const;
  /// What deferring saves each time in MPI: carried out by hand, where nothing is protected; and as it was measured,
  /// with its overhead.
  [[nodiscard]] Measured by_hand() const;
  [[nodiscard]] Measured at_run_time() const;
  /// All ranks together, over the run.
  [[nodiscard]] double total_s() const { return by_hand().mean * static_cast<double>(count); }
};

[[nodiscard]] Says verdict(const MeasuredChain& chain, const Measured& saving);

struct MessageTime {
  std::int64_t bytes = 0;
  double least = 0, median = 0, most = 0;  // seconds, over the pairs of ranks
};

struct Measurement {
  std::string application;
  std::size_t ranks = 0;
  std::vector<MeasuredChain> chains;                        // most saved by hand first
  std::vector<std::pair<std::int64_t, double>> protecting;  // bytes, seconds of closing and opening them
  std::vector<MessageTime> messages;
  std::map<std::string, std::uint64_t> stopped;  // why ranks measured no further, and how many
  std::uint64_t not_deferrable = 0;              // calls
  std::uint64_t lost = 0;                        // chains beyond what is kept
};

/// Where the innermost of these frames (events/frame_text.hpp) is in the source. A frame may have several lines.
using FindPlace = std::function<Place(const std::string& frames)>;

/// `text` is what the ranks wrote.
[[nodiscard]] Result<Measurement> read_measurement(const std::string& text, const FindPlace& place);

[[nodiscard]] std::string measurement_text(const Measurement& measurement);
[[nodiscard]] std::string measurement_json(const Measurement& measurement);

/// overlap-measured.json beside a recording: each measured chain's line, by title_of_places() of its calls.
[[nodiscard]] Result<std::map<std::string, std::string>> measured_lines(const std::string& json);
/// "MPI_Sendrecv at halo.c:72, ...".
[[nodiscard]] std::string title_of_places(const std::vector<Place>& places);
/// "60 us as written, 40 us non-blocking: saves 20 us +- 1 us each time".
[[nodiscard]] std::string measured_line(const MeasuredChain& chain);

}  // namespace nplus1::overlap
