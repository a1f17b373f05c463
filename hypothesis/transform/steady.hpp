// A transformation of computing: each interval takes what its rank and its step have every time (TwoWay); what comes and
// goes is taken away. Between two given call paths, the k-th interval of one rank belongs to the k-th of the others that
// are there equally often. Left as recorded: what a rank does alone or only once, for nobody can tell of that.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "hypothesis/transform/selectors.hpp"
#include "hypothesis/transform/transform.hpp"
#include "hypothesis/transform/two_way.hpp"

namespace nplus1::hypothesis::transform {

/// Where an interval begins and ends, and how many there have been of this rank.
class StepCounter {
 public:
  explicit StepCounter(const IntervalSelector& selector) : tracker_{selector} {}

  struct Place {
    IntervalKind kind;
    std::size_t step;  // from 0
  };
  /// Nothing where the computing before this call is not meant. To be asked once for each call, in their order.
  [[nodiscard]] std::optional<Place> next(RankId rank, const events::Event& event);

 private:
  IntervalTracker tracker_;
  std::map<std::pair<std::size_t, IntervalKind>, std::size_t> steps_;  // so far, by rank and kind
};

/// One kind of interval, of the ranks that are there equally often.
struct SteadyGroup {
  std::uint32_t after = 0, before = 0;  // call paths
  std::vector<std::size_t> ranks;       // ascending: their places in `parts`
  std::size_t steps = 0;
  double time = 0;              // ps, all ranks
  std::optional<TwoWay> parts;  // nothing: a rank alone, or a single time
};

/// Surveys the recording, and takes the groups apart. 4 bytes for each interval.
class SteadySurvey final : public events::EventSink {
 public:
  explicit SteadySurvey(const IntervalSelector& selector) : counter_{selector} {}
  void on_event(const events::TimedEvent& event) override;
  /// All is seen. Forgets the times.
  [[nodiscard]] std::vector<SteadyGroup> groups();

 private:
  StepCounter counter_;
  std::map<IntervalKind, std::map<std::size_t, std::vector<float>>> times_;  // by rank
};

[[nodiscard]] Result<std::unique_ptr<Transform>> make_steady(const Step& step,
                                                             const events::DefinitionsCollector& names);

}  // namespace nplus1::hypothesis::transform
