// What measuring the MPI library's algorithm settings came to, for people and for machines: advice.json,
// whose keys are in docs/formats/guidelines.md. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "guidelines/algorithms.hpp"

namespace nplus1::guidelines {

inline constexpr const char* kAdviceFile = "advice.json";
inline constexpr const char* kAdviceSchema = "nplus1-advice/1";

/// A change has an effect if it makes something faster by more than 5 %, significantly at .05.
inline constexpr double kLeastEffect = 1.05, kEffectAlpha = 0.05;

struct TriedSetting {
  AlgorithmSetting setting;
  double seconds = 0;               // a call with it, the median of the mpiruns' medians
  double p = 1;                     // that it is not faster than the default, times the settings tried
  std::optional<double> hockney{};  // seconds that the model expects
  std::string failure{};  // with it the function was wrong, hung or ended its mpirun, at some size: no advice
};

/// One function at one size.
struct Advice {
  std::string function;
  int processes = 0;
  std::uint64_t size = 0;
  double before = 0;   // seconds, by default; infinite if that could not be measured
  double mock_up = 0;  // of the fastest mock-up
  std::vector<TriedSetting> tried;

  [[nodiscard]] bool helps(const TriedSetting& one) const;
  /// As fast as the fastest mock-up, to within the least effect.
  [[nodiscard]] bool removes_violation(const TriedSetting& one) const;
  /// The fastest that helps; null if none does.
  [[nodiscard]] const TriedSetting* best() const;
};

/// For all sizes of one function, ascending: the best setting for each, then what each setting is.
[[nodiscard]] std::string advice_text(const std::vector<Advice>& advice);
[[nodiscard]] std::string advice_json(const std::vector<Advice>& advice, const std::string& library);

}  // namespace nplus1::guidelines
