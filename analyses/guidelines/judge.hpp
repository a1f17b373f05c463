// Measured run-times judged by the catalogue of performance guidelines. One thread; throws Stopped.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "analyses/guidelines/catalogue.hpp"
#include "guidelines/analysis.hpp"
#include "guidelines/application.hpp"

namespace nplus1::analyses {

struct JudgingOptions {
  std::string source;  // a folder of measurements, or one file: ours, PGMPI's, ReproMPI's
  CatalogueChoice catalogue;
  guidelines::Judging judging;
  bool filter = true;       // without outliers among the repetitions (Tukey)
  int processes = 0;        // of files that don't say it
  std::string application;  // a recording whose calls weigh the violations; empty: none
};

struct JudgedGuidelines {
  std::shared_ptr<const guidelines::Analysis> analysis;
  std::optional<guidelines::ApplicationGains> gains;  // point into the analysis
  std::string coverage;                               // of the recording; empty: complete, or none

  /// Whether a job of continuous integration should fail: a pattern or monotony guideline is violated, or a split violation
  /// is confirmed.
  [[nodiscard]] bool violated() const;
};

[[nodiscard]] JudgedGuidelines judge_guidelines(const JudgingOptions& options);

}  // namespace nplus1::analyses
