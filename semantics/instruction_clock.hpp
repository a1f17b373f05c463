// How long a stretch of computing takes, from what the processor counted in it (`--clock instructions`):
//
//   T = N * min(C / N, c) / f
//
// N instructions and C cycles of the stretch, in user mode; c, the cycles per instruction of stretches of its kind when
// they are warm; f, the frequency at which a cycle is charged. c is the tenth of the last 64 passes' cycles per
// instruction (the fastest of the first ten), among stretches of the same kind, which execute the same number of
// instructions within a quarter of an octave. What a cold cache or a preemption adds are cycles without instructions, so
// it is left out; what differs in work differs in N, and stays.
//
// Of one thread; nothing but begin() of a new kind allocates. docs/clock.md has what it cannot know.
// Source: direct execution with counters: S. Reinhardt et al., "The Wisconsin Wind Tunnel" (SIGMETRICS 1993).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

#include "semantics/processor_counters.hpp"

namespace nplus1::semantics {

/// Cycles per instruction of warm passes, by kind of stretch.
class WarmCycles {
 public:
  /// What so many cycles and instructions of a stretch of `kind` come to when it is warm: never more cycles.
  [[nodiscard]] double cycles(std::uint64_t kind, ProcessorCounts of) const;
  /// A whole pass.
  void learn(std::uint64_t kind, ProcessorCounts of);

 private:
  static constexpr std::size_t kKept = 64;
  struct Passes {
    std::array<float, kKept> cycles_each{};  // of an instruction; the last ones
    std::uint32_t count = 0;
    float warm = 0;
  };
  static std::uint64_t key(std::uint64_t kind, std::uint64_t instructions);

  std::unordered_map<std::uint64_t, Passes> passes_;
};

/// A thread's stretches, one after the other.
class InstructionClock {
 public:
  /// `cycles_per_ns`: f.
  InstructionClock(std::unique_ptr<ProcessorCounter> counter, double cycles_per_ns);

  /// A stretch of `kind` begins.
  void begin(std::uint64_t kind) noexcept;
  /// Nanoseconds since it began; nothing where the counters were not there all the time.
  [[nodiscard]] std::optional<double> so_far() const noexcept;
  /// It ends, and is learned from.
  [[nodiscard]] std::optional<double> end();

 private:
  [[nodiscard]] std::optional<ProcessorCounts> counted() const noexcept;
  void calibrate() noexcept;

  std::unique_ptr<ProcessorCounter> counter_;
  double cycles_per_ns_;
  WarmCycles warm_;
  std::uint64_t kind_ = 0;
  std::optional<ProcessorCounts> began_;
  ProcessorCounts of_reading_{};  // what an empty stretch is counted as
};

}  // namespace nplus1::semantics
