// How much longer than their twins took stretches of a like length were recorded in a run, whatever their kind: what its host adds.
//
// It tells of kinds that few twins measured, or none. On a host that nobody else uses, with as few ranks as cores, stretches of
// milliseconds are recorded within some per cent of what they take: those that differ by more do so by their work.
//
// Pure.
#pragma once

#include <optional>
#include <vector>

namespace nplus1::hypothesis::clock {

class HostNoise {
 public:
  /// A stretch that a twin measured. Logarithms: of what was recorded, and of how much longer that is.
  void learn(double log_recorded, double log_longer);

  /// Logarithms, 0 and more.
  struct Noise {
    double usual = 0;  // median
    double most = 0;   // 90 % quantile
  };
  /// Of stretches as long as that: by those up to four times as long, or as short. None where they are too few to tell.
  [[nodiscard]] std::optional<Noise> at(double log_recorded) const;

 private:
  struct Known {
    double log_recorded = 0, longer = 0;
  };
  std::vector<Known> known_;
};

}  // namespace nplus1::hypothesis::clock
