// What stretches of computing take when their data are in the caches: a model for each kind of stretch, from what
// twins of the ranks have measured (stubs/twin/, `--compute warm`) and from all stretches as they were recorded.
//
// A kind is where a stretch begins (call path and size of the call before) and ends (call path of the call after), the
// same on all ranks. What is to be taken out is the host's disturbance, and not what differs between ranks, steps or data;
// so the warm time of a kind is, whichever tells the samples that it is not made of best (each in turn, by least
// squares of logarithms, a richer model must win by a tenth):
//
//   constant     the samples' median
//   by rank      a m^b, m the lower quartile of the rank's recorded stretches of this kind, 0 <= b <= 1
//   by stretch   a x^b, x the recorded time of the stretch itself
//   levels       the samples form few groups: the longest that is not longer than the stretch was recorded
//
// A stretch that was measured itself has its own. Nothing becomes longer than recorded, or than the longest sample. A kind without samples keeps the
// rank's 10 % quantile: little memory, or nothing that a twin could repeat. docs/clock.md has the evidence.
// Pure; one thread. Memory: the samples, and 64 numbers for each kind and rank.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "events/recording/header.hpp"
#include "events/sink.hpp"
#include "support/ids.hpp"
#include "support/result.hpp"
#include "support/units.hpp"

namespace nplus1::hypothesis::clock {

/// What a twin has measured: the computing before the `ordinal`-th event of `rank`.
struct Sample {
  RankId rank{};
  std::uint64_t ordinal = 0;
  Duration warm{};
};

/// Of a recording under `--compute warm`; empty for others. Errors: the property is not what such a run writes.
[[nodiscard]] Result<std::vector<Sample>> samples_of(const events::recording::Properties& properties);

struct Kind {
  std::uint32_t after = 0, before = 0;  // call paths
  std::int64_t size = 0;                // of the call after which it begins
  friend auto operator<=>(const Kind&, const Kind&) = default;
};

/// Follows the threads of all ranks from call to call.
class Follower {
 public:
  /// The kind of the stretch before `event`. To be asked once for each event, in each thread's order.
  [[nodiscard]] Kind before(RankId rank, const events::Event& event);

 private:
  struct Last {
    std::uint32_t site = 0;
    std::int64_t size = 0;
  };
  std::unordered_map<std::uint64_t, Last> last_;  // by rank and thread
};

enum class Model : std::uint8_t { kNone, kQuantile, kConstant, kByRank, kByStretch, kLevels };
[[nodiscard]] const char* name(Model model);

/// One kind's stretches as recorded, and what they are taken for.
struct KindReport {
  Kind kind;
  std::uint64_t count = 0;
  std::size_t samples = 0;
  Model model{};
  double recorded_ps = 0;  // sums
  double warm_ps = 0;
  double spread =
      0;  // of the samples: half of the range that holds the middle half, as a share of the median
};

class Stretches {
 public:
  explicit Stretches(std::vector<Sample> samples);

  /// Takes in the recorded computing before an event.
  void take(RankId rank, std::uint64_t ordinal, const events::Event& event);
  /// All is taken in.
  void fit();

  /// Which of the two ends of what is known.
  enum class Estimate : std::uint8_t { kBest, kLowest };
  /// The warm time of a stretch that was recorded with `recorded` picoseconds: at most that.
  [[nodiscard]] double warm(const Kind& kind, RankId rank, std::uint64_t ordinal, double recorded,
                            Estimate estimate = Estimate::kBest) const;
  /// Of all kinds, those first that lose most.
  [[nodiscard]] std::vector<KindReport> report() const;
  [[nodiscard]] std::size_t samples() const { return samples_.size(); }

 private:
  struct OfRank {
    std::uint64_t count = 0;
    std::vector<float> some;  // of the recorded times, each as likely as the others
    float quartile = 0, low = 0;
  };
  struct Measured {
    RankId rank{};
    double recorded = 0, warm = 0;
  };
  struct OfKind {
    std::vector<OfRank> ranks;
    std::vector<Measured> measured;
    std::uint64_t count = 0;
    double recorded_ps = 0;
    mutable double warm_ps = 0;
    Model model = Model::kNone;
    double log_a = 0, b = 0;
    std::vector<double> levels;  // logarithms, ascending
    double least = 0, most = 0;  // of the samples
    double spread = 0;
  };
  void fit(OfKind& kind) const;
  [[nodiscard]] static double predictor(const OfKind& kind, Model model, RankId rank, double recorded);
  [[nodiscard]] static double log_warm(const OfKind& kind, RankId rank, double recorded);
  [[nodiscard]] const Sample* sample_of(RankId rank, std::uint64_t ordinal) const;

  std::unordered_map<std::uint64_t, Sample> samples_;  // by rank and ordinal
  Follower follower_;
  std::map<Kind, OfKind> kinds_;
  std::uint64_t random_ = 0x9e3779b97f4a7c15U;
};

}  // namespace nplus1::hypothesis::clock
