// How much longer than their twins took stretches of a like length were recorded in a run, whatever their kind: what its host adds.
//
// It tells of kinds that few twins measured, or none. On a host that nobody else uses, with as few ranks as cores, stretches of
// milliseconds are recorded within some per cent of what they take: those that differ by more do so by their work. Where somebody
// always has a part of every core, twins that shared it tell: stretch and twin bear alike what sharing makes, and stretches do but for
// how much of the core it was.
//
// Pure.
#pragma once

#include <optional>
#include <vector>

namespace nplus1::hypothesis::clock {

class HostNoise {
 public:
  /// `share_shared`: of all times that a core was looked at, the share in which somebody else had a part of it.
  explicit HostNoise(double share_shared) : share_shared_{share_shared} {}
  HostNoise() = default;
  /// A stretch that a twin measured. Logarithms: of what was recorded, of how much longer that is, and of what the twin left behind, which
  /// is in neither.
  void learn(double log_recorded, double log_longer, double log_left = 0);
  /// ... while it shared its core: with so many times what sharing makes (Sharing::part).
  void learn_shared(double log_recorded, double log_longer, double part);

  /// Logarithms, 0 and more.
  struct Noise {
    double usual = 0;  // median
    double most = 0;   // 90 % quantile
  };
  /// Of stretches as long as that: by those up to four times as long, or as short. None where they are too few to tell.
  [[nodiscard]] std::optional<Noise> at(double log_recorded) const;
  struct OfShared {
    Noise noise;
    // By how many times of what sharing makes stretches differ, from the 10 % to the 90 % quantile.
    double parts = 0;
  };
  /// The most of a host that adds little.
  static constexpr double kLittle = 0.1;
  /// ... on cores that somebody always had a part of, and of a host that adds little; none where any was one's own now and then.
  [[nodiscard]] std::optional<OfShared> of_shared_at(double log_recorded) const;
  /// By how much stretches that are so long on average (picoseconds) and all the same differ at most, whatever the host, from their 10 %
  /// to their 90 % quantile; logarithm. Infinity: shorter ones may differ by anything.
  [[nodiscard]] double most_of_any_host(double mean_ps) const;

 private:
  struct Known {
    double log_recorded = 0, longer = 0, left = 0, part = 0;
  };
  [[nodiscard]] static std::vector<Known> like(const std::vector<Known>& known, double log_recorded);
  [[nodiscard]] static Noise noise_of(const std::vector<Known>& some);
  std::vector<Known> known_, shared_;
  double share_shared_ = 0;
};

}  // namespace nplus1::hypothesis::clock
