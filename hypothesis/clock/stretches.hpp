// What stretches of computing take when their data are in the caches: a model for each kind of stretch (kind_model.hpp), from
// what twins of the ranks have measured (stubs/twin/, `--compute warm`) and from all stretches as they were recorded.
//
// A kind is where a stretch begins (call path and size of the call before) and ends (call path of the call after), the
// same on all ranks. What is to be taken out is the host's disturbance, and not what differs between ranks, steps or
// data. docs/clock_model.md has equations and evidence.
//
// How far all this can be trusted is found by doing it again, with samples drawn from the samples (bootstrap) and other
// chances where chance decides: replicate().
// Pure; one thread. Memory: the samples, and 64 stretches for each kind and rank.
#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "events/sink.hpp"
#include "hypothesis/clock/awake.hpp"
#include "hypothesis/clock/chance.hpp"
#include "hypothesis/clock/kind_model.hpp"
#include "hypothesis/clock/lengths.hpp"
#include "hypothesis/clock/place.hpp"
#include "hypothesis/clock/samples.hpp"
#include "hypothesis/clock/told.hpp"
#include "support/ids.hpp"

namespace nplus1::hypothesis::clock {

/// One kind's stretches as recorded, and what they are taken for.
struct KindReport {
  Kind kind;
  std::uint64_t count = 0;
  std::size_t samples = 0;
  Model model{};
  bool by_data = false;    // KindModel::differ_by_their_data()
  double recorded_ps = 0;  // sums
  double warm_ps = 0;
  double spread = 0;  // of the samples: half of the range of the middle half, as a share of the median
};

class Stretches {
 public:
  explicit Stretches(const std::vector<Sample>& samples) : samples_{samples} {}
  Stretches(const Stretches&) = delete;
  Stretches& operator=(const Stretches&) = delete;

  /// Looks at the recorded computing before an event, how long it was: at all before any is taken in, or at none.
  void look_at(RankId rank, const events::Event& event);
  /// Takes in the recorded computing before an event. `detail`: with real times, if they are known.
  void take(RankId rank, std::uint64_t ordinal, const events::Event& event,
            const events::Detail* detail = nullptr);
  /// What is taken in, before fit().
  [[nodiscard]] ToldByRun told() const;
  /// Adds what other runs of the same program told (told.hpp), with the call paths' numbers of this one. Before fit().
  void join(const std::vector<ToldByRun>& others);
  /// All is taken in.
  void fit() { replicate(0); }
  /// From here on warm() tells what the `number`-th set of samples that might have been would say; 0: those that are. fit() first.
  void replicate(std::uint32_t number);

  /// The warm time of a stretch that was recorded with `recorded` picoseconds: at most that.
  [[nodiscard]] double warm(const Place& place, RankId rank, std::uint64_t ordinal, double recorded,
                            Estimate estimate = Estimate::kBest) const;
  /// Of all kinds, those first that lose most.
  [[nodiscard]] std::vector<KindReport> report() const;
  [[nodiscard]] const Samples& samples() const { return samples_; }

 private:
  struct OfKind {
    KindModel model;
    std::uint16_t after = 0;  // events::MpiCall: the function behind which they begin
    double recorded_ps = 0;
    mutable double warm_ps = 0;
  };
  [[nodiscard]] Stretch stretch_of(const Place& place, RankId rank, std::uint64_t ordinal,
                                   double recorded) const;
  [[nodiscard]] Kind kind_of(const Place& place, double recorded) const;
  [[nodiscard]] OfKind& kind(const Kind& kind);
  [[nodiscard]] Core core_before(RankId rank, std::uint64_t ordinal, Core at_end);
  void find_cost_of_measuring();
  void take_off_what_twins_leave();
  void find_how_much_longer();

  Samples samples_;
  Follower follower_, looking_follower_;
  Awake awake_;
  std::vector<Core> last_cores_;        // of ranks, where they were looked at last
  std::map<Kind, Lengths> lengths_;     // until the first is taken in
  std::map<Kind, double> longer_ones_;  // from so many picoseconds on
  std::map<Kind, OfKind> kinds_;        // in an order that is always the same
  tsl::robin_map<Kind, OfKind*, Kind::Hash> known_kinds_;
  double most_longer_ = 0;  // logarithm: the most that may be the host's of what a rank does a few times only
};

}  // namespace nplus1::hypothesis::clock
