// What is done about violations that a measured campaign shows: they are measured once more, the MPI library's settings are
// tried, a library to preload is made. Each measures natively, under the conditions of the campaign. One thread; throws Stopped.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyses/guidelines/folder.hpp"
#include "analyses/guidelines/variants.hpp"
#include "guidelines/advice.hpp"

namespace nplus1::analyses {

/// Where nothing was found violated, `undecided` says what could not be judged, and there is nothing else.
struct Confirmation {
  std::optional<Undecided> undecided;
  std::vector<std::string> notes;  // what could not be measured, for people
  guidelines::Analysis analysis;   // with what fresh measurements have confirmed or refuted
};
/// Measures what was found violated in fresh mpiruns, for `budget` seconds: confirmation.csv.
[[nodiscard]] Confirmation confirm_violations(const std::string& folder, double budget,
                                              const MeasuringWatch& watch = {});

/// What the library's settings do for one function, at all its violated sizes; none if no settings are known.
struct FunctionAdvice {
  std::string function;
  std::vector<guidelines::Advice> sizes;
};
struct AdviceWatch : VariantsWatch {
  std::function<void(const FunctionAdvice&)> advised;
};
struct Advised {
  std::optional<Undecided> undecided;  // as in Confirmation
  std::vector<FunctionAdvice> functions;
  bool all_removed = true;     // a setting removes every violation
  std::filesystem::path file;  // advice.json
};
/// Measures the MPI library's own algorithm settings where a pattern guideline is violated, for `budget` seconds in all.
[[nodiscard]] Advised advise_settings(const std::string& folder, double budget,
                                      const AdviceWatch& watch = {});

struct TuningOptions {
  std::string folder;
  std::string output;  // the library
  std::string
      library;  // libnplus1-tuned.so, built for another MPI library; empty: the one that came with nplus1
};
struct TunedLibrary {
  std::optional<Undecided> undecided;  // as in Confirmation
  MeasuredFolder measured;
  std::vector<guidelines::Cell> cells;  // that it is to be better at
  std::filesystem::path library;
  std::string profile;  // what it replaces: lines of function, processes, sizes from and to, mock-up
};
/// A library to preload that runs the faster mock-up in place of a function.
[[nodiscard]] TunedLibrary make_tuned_library(const TuningOptions& options);

struct TunedEffect {
  guidelines::Cell cell;
  Effect effect;
};
/// Measures in `budget` seconds what it is good for.
[[nodiscard]] std::vector<TunedEffect> measure_tuned_library(const TunedLibrary& tuned, double budget,
                                                             const VariantsWatch& watch = {});

}  // namespace nplus1::analyses
