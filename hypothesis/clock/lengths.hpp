// Between the same two calls a program may do two things: a loop that packs a message computes next to nothing between most sends, and
// all of the step behind the last. Twins are few, and measure what comes often; so the longer stretches are told apart by how long
// they were recorded, as a kind of their own (Kind::longer).
//
// Longer is what lies behind a valley of the lengths' histogram, is eight times as long as the median and more, and happens more often
// than a host makes stretches as long: as kinds show that have no such longer ones. A rank that all others wake, as a master of 255
// workers, is disturbed more often than these: so few that come no more often than any host has made them come as regularly as a loop
// lets them, mostly as many stretches behind the last.
//
// Pure. Memory: 40 counts for each kind, and up to 256 places.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "hypothesis/clock/place.hpp"
#include "support/ids.hpp"

namespace nplus1::hypothesis::clock {

/// How long the stretches of a kind were recorded: a histogram by octaves of nanoseconds.
class Lengths {
 public:
  static constexpr std::size_t kOctaves = 40;

  void take(RankId rank, double picoseconds);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::size_t ranks() const;
  /// The octave of the median.
  [[nodiscard]] std::size_t median() const;
  [[nodiscard]] std::uint64_t in(std::size_t octave) const { return counts_[octave]; }
  /// Of all stretches, the share in this octave and those above.
  [[nodiscard]] double share_from(std::size_t octave) const;
  /// Whether those in this octave and above come after mostly as many others of their rank; or are too many to tell.
  [[nodiscard]] bool are_regular_from(std::size_t octave) const;

 private:
  static constexpr std::size_t kMostPlaces = 256;
  struct Place {
    std::uint32_t rank, number;  // how many of its kind its rank had before
    std::uint8_t octave;
  };
  std::array<std::uint64_t, kOctaves> counts_{};
  std::uint64_t count_ = 0;
  std::vector<std::uint32_t> by_rank_;
  std::vector<Place> long_;  // in their order
  bool many_long_ = false;
};

/// Of kinds with longer stretches that are of another kind: from which length on they are, picoseconds.
[[nodiscard]] std::map<Kind, double> longer_ones(const std::map<Kind, Lengths>& kinds);

}  // namespace nplus1::hypothesis::clock
