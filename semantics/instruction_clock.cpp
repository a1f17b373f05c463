#include "semantics/instruction_clock.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace nplus1::semantics {

/// Stretches of a kind may do different work: an eighth of the one is not to be held against the other.
std::uint64_t WarmCycles::key(std::uint64_t kind, std::uint64_t instructions) {
  constexpr double kPartsOfAnOctave = 4;
  const auto size = std::lround(kPartsOfAnOctave * std::log2(static_cast<double>(instructions) + 1));
  return (kind * 0x9e3779b97f4a7c15U) ^ static_cast<std::uint64_t>(size);
}

double WarmCycles::cycles(std::uint64_t kind, ProcessorCounts of) const {
  const auto counted = static_cast<double>(of.cycles);
  const auto found = passes_.find(key(kind, of.instructions));
  if (found == passes_.end()) return counted;
  return std::min(counted, static_cast<double>(of.instructions) * static_cast<double>(found->second.warm));
}

void WarmCycles::learn(std::uint64_t kind, ProcessorCounts of) {
  constexpr double kTenth = 0.1;
  constexpr std::uint32_t kEachOfTheFirst = 16, kThenEach = 8;  // passes between two sortings
  if (of.instructions == 0) return;
  Passes& passes = passes_[key(kind, of.instructions)];
  passes.cycles_each[passes.count++ % kKept] =
      static_cast<float>(static_cast<double>(of.cycles) / static_cast<double>(of.instructions));
  if (passes.count > kEachOfTheFirst && passes.count % kThenEach != 0) return;
  auto sorted = passes.cycles_each;
  const auto known = std::min<std::size_t>(passes.count, kKept);
  const auto tenth = static_cast<std::ptrdiff_t>(kTenth * static_cast<double>(known));
  std::nth_element(sorted.begin(), sorted.begin() + tenth,
                   sorted.begin() + static_cast<std::ptrdiff_t>(known));
  passes.warm = sorted[static_cast<std::size_t>(tenth)];
}

InstructionClock::InstructionClock(std::unique_ptr<ProcessorCounter> counter, double cycles_per_ns)
    : counter_{std::move(counter)}, cycles_per_ns_{cycles_per_ns} {
  calibrate();
}

void InstructionClock::calibrate() noexcept {
  constexpr int kTries = 32;
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  ProcessorCounts least{kMost, kMost};
  for (int i = 0; i < kTries; ++i) {
    begin(0);
    if (const auto empty = counted())
      least = {std::min(least.instructions, empty->instructions), std::min(least.cycles, empty->cycles)};
  }
  if (least.cycles != kMost) of_reading_ = least;
}

void InstructionClock::begin(std::uint64_t kind) noexcept {
  kind_ = kind;
  began_ = counter_->read();
}

std::optional<ProcessorCounts> InstructionClock::counted() const noexcept {
  const auto now = counter_->read();
  if (!began_ || !now) return std::nullopt;
  const auto net = [](std::uint64_t from, std::uint64_t to, std::uint64_t less) {
    return to - from > less ? to - from - less : 0;
  };
  return ProcessorCounts{net(began_->instructions, now->instructions, of_reading_.instructions),
                         net(began_->cycles, now->cycles, of_reading_.cycles)};
}

std::optional<double> InstructionClock::so_far() const noexcept {
  const auto counts = counted();
  if (!counts) return std::nullopt;
  return warm_.cycles(kind_, *counts) / cycles_per_ns_;
}

std::optional<double> InstructionClock::end() {
  const auto counts = counted();
  if (!counts) return std::nullopt;
  warm_.learn(kind_, *counts);
  return warm_.cycles(kind_, *counts) / cycles_per_ns_;
}

}  // namespace nplus1::semantics
