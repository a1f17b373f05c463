// Which stretches between two MPI calls a twin measures, and when it may: the arithmetic, without processes.
//
// A kind of stretch is where it begins and ends: the call path and size of the call before, the call path of the call after.
// On many ranks each affords a few twins, and all are told together. So a lot says what a rank measures next, and the lots of all are
// spread evenly: a kind in which
// time T is spent, and of which the rank has n samples, with a probability ~ T^(3/4) / (n + 1), which is between that for
// the same relative error of each kind and that for the least of the sum, and leaves a few samples to small kinds. Which kind
// begins is foreseen from the calls before it, since a twin has to be made before the stretch has run.
//
// Source of the way to draw: W. Madow, "On the theory of systematic sampling, II" (1949).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace nplus1::stubs::twin {

/// What became of the twin of a stretch.
enum class Outcome : std::uint8_t { kNotTried, kMeasured, kFailed };

class Plan {
 public:
  /// `who`: other chances.
  explicit Plan(std::uint64_t who) : who_{who} {}

  /// A stretch of so many picoseconds has ended with a call from `site` that moves `size` bytes (or whatever else tells its
  /// calls apart). `length`: what its twin measured, if it was left alone, in any unit; else 0.
  void told(std::uint64_t site, std::uint64_t size, std::int64_t picoseconds, Outcome outcome,
            double length = 0);
  /// Whether the stretch that begins now should be measured.
  [[nodiscard]] bool is_due();
  /// The shortest that was told of the kind that is_due() foresaw; 0: none.
  [[nodiscard]] double shortest() const;
  /// The longest of that kind, and all on average; 0: there was none.
  [[nodiscard]] std::int64_t longest_ps() const;
  [[nodiscard]] double mean_ps() const;

 private:
  struct Kind {
    double total_ps = 0;
    double shortest = 0;
    std::int64_t longest_ps = 0;
    std::uint32_t count = 0, tries = 0;
    std::uint64_t told = 0;  // when it came last
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
  [[nodiscard]] double lot() const;
  void draw_another();
  void draw();

  std::uint64_t who_;
  std::unordered_map<std::uint64_t, Kind> kinds_;
  std::unordered_map<std::uint64_t, End> ends_;  // by the calls before
  std::array<std::uint64_t, 8> calls_{};         // site and size, the last first
  std::uint64_t told_ = 0;                       // calls
  std::uint64_t expected_ = 0;                   // the kind that was foreseen last
  std::uint64_t drawn_ = 0;                      // the kind to be measured next; 0: none is worth it
  double drawn_need_ = 0;
  std::uint64_t draws_ = 0;                              // lots
  std::uint64_t drawn_at_ = 0;                           // calls, when kinds were looked at last
  std::uint64_t asked_since_ = 0;                        // times, since there is that lot
  std::vector<std::pair<std::uint64_t, double>> needs_;  // kept for its memory
};

/// The CPU time of a rank, counted from its first call, at which it may have spent `spent_ns` on its twins: 3 ms at once, half of
/// its time until an advance is used up, without which short programs would end before they have paid for more than a few (60 ms
/// a rank, 250 ms where each has a core for itself, half a second of the whole host's for all ranks), then a 120th until the
/// advance is less than a 60th, which it is from there on. That is a 30th of the real time of a job on two cores whose ranks all
/// wait for the one that has a twin.
[[nodiscard]] double affordable_at_ns(std::int64_t spent_ns, int ranks, int cores);

}  // namespace nplus1::stubs::twin
