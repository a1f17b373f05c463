// Which stretches between two MPI calls a twin measures, and when it may: the arithmetic, without processes.
//
// A kind of stretch is where it begins and ends: the call path and size of the call before, the call path of the call after.
// Kinds in which most time is spent come first, each the less often the more is known of it. Which kind begins is foreseen from
// the calls before it, since a twin has to be made before the stretch has run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace nplus1::stubs::twin {

/// What became of the twin of a stretch.
enum class Outcome : std::uint8_t { kNotTried, kMeasured, kFailed };

class Plan {
 public:
  /// A stretch of so many picoseconds has ended with a call from `site` that moves `size` bytes (or whatever else tells its
  /// calls apart). `length`: what its twin measured, if it was left alone, in any unit; else 0.
  void told(std::uint64_t site, std::uint64_t size, std::int64_t picoseconds, Outcome outcome,
            double length = 0);
  /// Whether the stretch that begins now should be measured. `luck`, 0.5 to 1.5, makes that ranks which do the same do not all
  /// measure the same stretches.
  [[nodiscard]] bool is_due(double luck);
  /// The shortest that was told of the kind that is_due() foresaw; 0: none.
  [[nodiscard]] double shortest() const;
  /// The longest of that kind; 0: there was none.
  [[nodiscard]] std::int64_t longest_ps() const;

 private:
  struct Kind {
    double total_ps = 0;
    double shortest = 0;
    std::int64_t longest_ps = 0;
    std::uint32_t count = 0, samples = 0, failures = 0;
    [[nodiscard]] double need() const;
  };
  struct End {
    std::uint64_t kind = 0;
    bool again = false;  // as the time before
  };
  [[nodiscard]] bool learns_from(std::int64_t picoseconds) const;
  void learn(std::uint64_t site, std::int64_t picoseconds, Outcome outcome, double length);
  [[nodiscard]] std::uint64_t history(std::size_t calls) const;
  [[nodiscard]] const Kind* expect();
  void find_most_needed();

  std::unordered_map<std::uint64_t, Kind> kinds_;
  std::unordered_map<std::uint64_t, End> ends_;  // by the calls before
  std::array<std::uint64_t, 8> calls_{};         // site and size, the last first
  std::uint64_t told_ = 0;                       // calls
  std::uint64_t expected_ = 0;                   // the kind that was foreseen last
  double most_needed_ = 0;
};

/// The CPU time of a rank, counted from its first call, at which it may have spent `spent_ns` on its twins: 3 ms at once, half of
/// its time until an advance is used up, without which short programs would end before they have paid for more than a few (60 ms
/// a rank, half a second of the whole host's for all ranks), then a 120th until the advance is less than a 60th, which it is from
/// there on. That is a 30th of the real time of a job on two cores whose ranks all wait for the one that has a twin.
[[nodiscard]] double affordable_at_ns(std::int64_t spent_ns, int ranks, int cores);

}  // namespace nplus1::stubs::twin
