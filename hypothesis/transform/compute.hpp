// Transformations of computing: the time between two calls of a thread, named by the region it is in or by
// the calls around it (IntervalSelector). Time in calls that are not modelled is not touched.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "hypothesis/transform/counterparts.hpp"
#include "hypothesis/transform/selectors.hpp"
#include "hypothesis/transform/transform.hpp"

namespace nplus1::hypothesis::transform {

/// Computing of `ranks` ranks by rank: picoseconds and intervals.
class ComputeSurvey final : public events::EventSink {
 public:
  /// `by_intervals`: with what takes memory for each interval.
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
  std::vector<std::vector<ComputedInterval>> each;  // by rank
  std::map<IntervalKind, std::uint32_t> kinds;      // their numbers

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
  /// What an interval is counted with; nothing: it stays as it is.
  [[nodiscard]] virtual std::optional<std::size_t> group(RankId /*rank*/, const IntervalKind& /*kind*/,
                                                         double old_length) const {
    return old_length > 0 ? std::optional<std::size_t>{0} : std::nullopt;
  }
  struct Place {
    RankId rank;
    std::size_t group, interval;  // which one of the rank's in that group
  };
  /// The new length (ps) of an interval.
  [[nodiscard]] virtual double length(const Place& place, double old_length) const = 0;
  /// After the survey; not called if nothing was selected.
  [[nodiscard]] virtual Result<Done> prepare(const ComputeSurvey& /*seen*/) { return Done{}; }
  void change(RankId rank, std::uint64_t ordinal, Call& call) final;
  void restart() final;

 private:
  IntervalSelector selector_;
  ComputeSurvey survey_;
  IntervalTracker tracker_;
  std::vector<std::vector<std::size_t>> intervals_;  // by rank and group
  std::string nothing_;
};

[[nodiscard]] Result<std::unique_ptr<Transform>> make_scale(const Step& step,
                                                            const events::DefinitionsCollector& names);
[[nodiscard]] Result<std::unique_ptr<Transform>> make_balance(const Step& step,
                                                              const events::DefinitionsCollector& names);
[[nodiscard]] Result<std::unique_ptr<Transform>> make_noise(const Step& step,
                                                            const events::DefinitionsCollector& names);

}  // namespace nplus1::hypothesis::transform
