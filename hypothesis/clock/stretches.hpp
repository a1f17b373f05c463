// What stretches of computing take when their data are in the caches: a model for each kind of stretch, from what
// twins of the ranks have measured (stubs/twin/, `--compute warm`) and from all stretches as they were recorded.
//
// A kind is where a stretch begins (call path and size of the call before) and ends (call path of the call after), the
// same on all ranks. What is to be taken out is the host's disturbance, and not what differs between ranks, steps or
// data: so where the samples of a kind agree, that is what all its stretches take, and where they don't, they form levels,
// and each stretch has one (levels.hpp). A stretch that was measured itself has the level of its sample. Nothing becomes longer
// than recorded. A kind without samples keeps the rank's 10 % quantile, as much shorter as kinds of its length are that were
// measured, and what its steps have more than others. What a rank does only once is compared with what others do, because
// of many such stretches a host hits a few. docs/clock.md has equations and evidence.
//
// How far all this can be trusted is found by doing it again, with samples drawn from the samples (bootstrap) and other
// chances where chance decides: replicate().
// Pure; one thread. Memory: the samples, and 64 stretches for each kind and rank.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "events/recording/header.hpp"
#include "events/sink.hpp"
#include "hypothesis/clock/levels.hpp"
#include "hypothesis/clock/line.hpp"
#include "support/ids.hpp"
#include "support/result.hpp"
#include "support/units.hpp"

namespace nplus1::hypothesis::clock {

/// How fast a core ran: what a fixed number of cycles took, and a fixed number of loads, which take longer where somebody else
/// has the core's other hardware thread. No time: not known.
struct CoreSpeed {
  Duration cycles{}, loads{};
};

/// What is known of the computing before the `ordinal`-th event of `rank`.
struct Sample {
  RankId rank{};
  std::uint64_t ordinal = 0;
  Duration warm{};                 // as a twin has measured it; 0: none has
  bool rough = false;              // rather too long: others had the twin's core now and then
  CoreSpeed twins_core{}, core{};  // the latter, of long stretches: the core that did it, at its end
  bool shared = false;             // somebody else had a part of the twin's core; Stretches find out
};

/// Of a recording under `--compute warm`; empty for others. Errors: the property is not what such a run writes.
[[nodiscard]] Result<std::vector<Sample>> samples_of(const events::recording::Properties& properties);

struct Kind {
  std::uint32_t after = 0, before = 0;  // call paths
  std::int64_t size = 0;                // of the call after which it begins
  friend auto operator<=>(const Kind&, const Kind&) = default;
};

/// A stretch, by where it stands.
struct Place {
  Kind kind;
  std::uint32_t step = 0;   // how many of its kind its rank had before
  std::uint16_t after = 0;  // events::MpiCall: the function behind which it begins
};

/// Follows the threads of all ranks from call to call.
class Follower {
 public:
  /// Of the stretch before `event`. To be asked once for each event, in each thread's order.
  [[nodiscard]] Place before(RankId rank, const events::Event& event);

 private:
  struct Last {
    std::uint32_t site = 0;
    std::int64_t size = 0;
    std::uint16_t call = 0;
  };
  std::unordered_map<std::uint64_t, Last> last_;         // by rank and thread
  std::map<Kind, std::vector<std::uint32_t>> how_many_;  // of a kind, by rank
};

enum class Model : std::uint8_t {
  kNone,
  kQuantile,
  kConstant,
  kAtRandom,  // of several levels, and so on
  kByRank,
  kByStep,
  kByRankAndStep,
  kAlong  // a line through what twins took against what was recorded
};
[[nodiscard]] const char* name(Model model);

/// One kind's stretches as recorded, and what they are taken for.
struct KindReport {
  Kind kind;
  std::uint64_t count = 0;
  std::size_t samples = 0;
  Model model{};
  double recorded_ps = 0;  // sums
  double warm_ps = 0;
  double spread = 0;  // of the samples: half of the range of the middle half, as a share of the median
};

/// What one run tells of a kind.
struct ToldOfKind {
  std::vector<Measured> measured;  // by twins
  std::vector<Recorded> recorded;  // without these; some of them
  std::uint64_t count = 0;         // of all its stretches
  double recorded_ps = 0;          // their sum
};
using ToldByRun = std::map<Kind, ToldOfKind>;

/// The share of the computing of `run` that is in kinds of stretches of which the other has as many, within a tenth.
[[nodiscard]] double share_in_common(const ToldByRun& run, const ToldByRun& other);

class Stretches {
 public:
  explicit Stretches(std::vector<Sample> samples);

  /// Takes in the recorded computing before an event.
  void take(RankId rank, std::uint64_t ordinal, const events::Event& event);
  /// What is taken in, before fit().
  [[nodiscard]] ToldByRun told() const;
  /// Adds what other runs of the same program told, with the call paths' numbers of this one. A host is slow in one run and not in
  /// the next, and in each with some of what is computed: so in each run a kind's times are first made as short as they were in the
  /// fastest quarter of the runs. Before fit().
  void join(const std::vector<ToldByRun>& others);
  /// All is taken in.
  void fit();
  /// From here on warm() tells what the `number`-th set of samples that might have been would say; 0: those that are.
  void replicate(std::uint32_t number);

  /// Which of the two ends of what is known.
  enum class Estimate : std::uint8_t { kBest, kLowest };
  /// The warm time of a stretch that was recorded with `recorded` picoseconds: at most that.
  [[nodiscard]] double warm(const Place& place, RankId rank, std::uint64_t ordinal, double recorded,
                            Estimate estimate = Estimate::kBest) const;
  /// Of all kinds, those first that lose most.
  [[nodiscard]] std::vector<KindReport> report() const;
  /// By twins.
  [[nodiscard]] std::size_t samples() const { return measured_; }
  /// How much longer the same cycles took on average, where that is known, than at the highest frequency that was met: 0 and more.
  [[nodiscard]] double slower_than_fastest() const;

 private:
  struct OfRank {
    std::uint64_t all = 0, count = 0;  // the latter without those that twins measured
    std::vector<Recorded> some;        // each stretch as likely as the others
    float log_low = 0;                 // of picoseconds, without what its step adds
    double low = 0;                    // the same; no logarithm
    float log_shared = 0;  // how much longer loads took where the last one ended than on a core for oneself
  };
  struct OfKind {
    std::vector<OfRank> ranks;
    std::vector<Measured> measured;
    std::vector<Measured> believed;  // of these those that count
    std::uint64_t count = 0;
    std::uint16_t after = 0;  // events::MpiCall: the function behind which they begin
    double of_measuring = 0;  // picoseconds in each
    double recorded_ps = 0;
    mutable double warm_ps = 0;
    Levels levels;
    std::optional<Line> line;    // where no amounts of work come back; then what follows does not count
    Differences differences;     // where there are no samples
    double least = 0, most = 0;  // of what is believed; the former, without, of what was recorded
    double spread = 0;
    double pace = 1;  // times of the fastest runs in this one's, as recorded
    double pace_of_twins = 1;
  };
  [[nodiscard]] static ToldOfKind told(const OfKind& kind);
  static void join(OfKind& kind, const std::vector<const ToldOfKind*>& others);
  void fit(OfKind& kind) const;
  void fit_levels(OfKind& kind, const std::vector<Recorded>& recorded) const;
  static void believe(OfKind& kind);
  static void believe_all(OfKind& kind, const std::vector<Recorded>& recorded);
  static void find_ends(OfKind& kind);
  [[nodiscard]] std::vector<Measured> drawn(const OfKind& kind, const std::vector<Measured>& samples) const;
  void find_line(OfKind& kind) const;
  [[nodiscard]] static bool differ_as_recorded(const OfKind& kind);
  [[nodiscard]] static bool tells_better(const Line& line, const OfKind& kind);
  [[nodiscard]] static double range_on_ranks(const OfKind& kind);
  static void leave_once(OfKind& kind);
  void take_quantiles(OfKind& kind, const std::vector<Recorded>& recorded) const;
  void forgive_once(OfKind& kind, double typical) const;
  [[nodiscard]] static bool are_alike(const OfKind& kind, double typical);
  void learn_warmer();
  struct Warmer {
    double mean = 0, most = 0;  // logarithms, none above 0
  };
  [[nodiscard]] Warmer warmer(double log_low, std::uint64_t random) const;
  [[nodiscard]] static double warmer_at_least(const OfKind& kind);
  void warm_up(OfKind& kind) const;
  [[nodiscard]] double measured_of(const OfKind& kind, const Sample* own) const;
  [[nodiscard]] double warm_along(const OfKind& kind, double recorded, const Sample* own) const;
  /// The estimate for a stretch of a kind that was measured.
  [[nodiscard]] double warm_of_levels(const OfKind& kind, const Place& place, RankId rank,
                                      std::uint64_t ordinal, double recorded, const Sample* own) const;
  void find_cost_of_measuring();
  [[nodiscard]] static Model model_of(const OfKind& kind);
  [[nodiscard]] const Sample* sample_of(RankId rank, std::uint64_t ordinal) const;
  [[nodiscard]] std::uint64_t chance(std::uint64_t of) const;

  /// How much longer loads took than on a core for oneself; 0: no longer, or that is not known.
  [[nodiscard]] double log_shared(const CoreSpeed& core) const;
  /// `time` at the highest frequency that a core was met with, where it passed at another.
  [[nodiscard]] double at_fastest(double time, const CoreSpeed& core) const;

  std::unordered_map<std::uint64_t, Sample> samples_;  // by rank and ordinal
  std::size_t measured_ = 0;
  double fastest_ = 0;    // CoreSpeed::cycles, in picoseconds
  double own_share_ = 0;  // CoreSpeed: loads against cycles of a core for oneself
  Follower follower_;
  std::map<Kind, OfKind> kinds_;
  std::vector<std::pair<double, double>> warmer_;  // logarithms: of the low quantile, and of warm against it
  std::uint64_t random_ = 0x9e3779b97f4a7c15U;
  std::uint32_t replicate_ = 0;
};

}  // namespace nplus1::hypothesis::clock
