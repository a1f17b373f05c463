// The same cells measured under different conditions (an algorithm setting, a preloaded library), to see what
// a change is good for. One thread; throws Stopped.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analyses/guidelines/folder.hpp"
#include "guidelines/advice.hpp"

namespace nplus1::analyses {

struct Variant {
  std::string name;  // of its file: "Reduce-binomial"
  std::vector<std::pair<std::string, std::string>> environment;
  std::string preload;
};

struct VariantsWatch : MeasuringWatch {
  std::function<void(const std::string& variant, const std::string& note)>
      note;  // what could not be measured, or how a trial ended
};

struct VariantTimes {
  guidelines::Samples samples;
  std::string failure;  // of the function under these conditions: wrong, hung, ended; empty if none
};

/// Each into `folder`/NAME.csv below the measured folder, which is gone on with where it exists. They take
/// turns, an mpirun of each, so that a disturbance hits all alike; `measured`'s budget is for all together.
/// The first is what the others are compared with; they are on trial (Measuring), and a hang is soon told.
[[nodiscard]] std::vector<VariantTimes> measure_variants(const MeasuredFolder& measured,
                                                         const std::vector<guidelines::Cell>& cells,
                                                         const std::vector<Variant>& variants,
                                                         const std::string& folder,
                                                         const VariantsWatch& watch);

/// One original at one size: how long before and after, in seconds, medians over mpiruns; infinite where there are none.
struct Effect {
  double before = 0, after = 0;
  double mock_up = 0;  // the fastest mock-up, under the new conditions or the old
  double p = 1;        // that after is not less than before, rank-sum test
  [[nodiscard]] bool faster() const {
    return p <= guidelines::kEffectAlpha && before > guidelines::kLeastEffect * after;
  }
  [[nodiscard]] bool removes_violation() const {
    return faster() && after <= guidelines::kLeastEffect * mock_up;
  }
};
[[nodiscard]] Effect effect_of(const guidelines::Cell& cell, int processes, const guidelines::Samples& before,
                               const guidelines::Samples& after);

/// Cells of the pattern violations that fresh measurements have not refuted.
[[nodiscard]] std::vector<guidelines::Cell> violated_patterns(const MeasuredFolder& measured);

}  // namespace nplus1::analyses
