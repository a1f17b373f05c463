// Transformations of computing: the time between two calls of a thread, named by the region it is in or by
// the calls around it (IntervalSelector). Time in calls that are not modelled is not touched.
#pragma once

#include <memory>
#include <vector>

#include "hypothesis/transform/selectors.hpp"
#include "hypothesis/transform/transform.hpp"

namespace nplus1::hypothesis::transform {

/// Computing of `ranks` ranks by rank: picoseconds and intervals.
class ComputeSurvey final : public events::EventSink {
 public:
  /// `by_intervals`: with `by_interval`, which takes memory for each interval of a rank.
  ComputeSurvey(const IntervalSelector& selector, bool by_intervals)
      : tracker_{selector}, by_intervals_{by_intervals} {}
  void on_event(const events::TimedEvent& event) override;

  struct Rank {
    double compute = 0;  // ps
    std::size_t intervals = 0;
    std::size_t calls = 0;  // which end these, or an interval in which nothing was computed
  };
  std::vector<Rank> ranks;
  // Sums over the ranks: of their first intervals, their second ...; and of those before their first call, their second ...
  std::vector<double> by_interval, by_call;
  double total = 0;

 private:
  IntervalTracker tracker_;
  bool by_intervals_;
};

/// What all transformations of computing have in common: the computing selected gets a new length.
class ComputeTransform : public Transform {
 public:
  ComputeTransform(const IntervalSelector& selector, std::string nothing, bool survey_intervals = false)
      : selector_{selector},
        survey_{selector, survey_intervals},
        tracker_{selector},
        nothing_{std::move(nothing)} {}
  [[nodiscard]] events::EventSink* survey() override { return &survey_; }
  [[nodiscard]] Result<Done> surveyed() override;

 protected:
  /// Whether intervals in which nothing was computed count, too.
  [[nodiscard]] virtual bool counts_calls() const { return false; }
  /// The new length (ps) of the `interval`-th interval of `rank`.
  [[nodiscard]] virtual double length(RankId rank, std::size_t interval, double old_length) const = 0;
  /// After the survey; not called if nothing was selected.
  [[nodiscard]] virtual Result<Done> prepare(const ComputeSurvey& /*seen*/) { return Done{}; }
  void change(RankId rank, std::uint64_t ordinal, Call& call) final;
  void restart() final;

 private:
  IntervalSelector selector_;
  ComputeSurvey survey_;
  IntervalTracker tracker_;
  std::vector<std::size_t> intervals_;  // by rank
  std::string nothing_;
};

[[nodiscard]] Result<std::unique_ptr<Transform>> make_scale(const Step& step,
                                                            const events::DefinitionsCollector& names);
[[nodiscard]] Result<std::unique_ptr<Transform>> make_balance(const Step& step,
                                                              const events::DefinitionsCollector& names);
[[nodiscard]] Result<std::unique_ptr<Transform>> make_noise(const Step& step,
                                                            const events::DefinitionsCollector& names);

}  // namespace nplus1::hypothesis::transform
