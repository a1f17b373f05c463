// The options that all parts of `nplus1 guidelines` that measure have in common.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "analyses/guidelines/measure.hpp"

namespace nplus1::cli {

/// What the words of the command line say before they are understood.
struct MeasuringWords {
  std::string budget = "5min";
  std::string sync = "barrier";
  std::string predict = "rse=0.02,cov_mean=0.01";
  int nrep = 0;
  int timeout = 60;
  bool quiet = false;
};

/// Both must outlive the parse.
void declare_measuring(CLI::App& app, analyses::Measuring& measuring, MeasuringWords& words);

/// 90, 90s, 5min or 1h in seconds. Throws Failure (kUsage).
[[nodiscard]] double parse_duration(const std::string& text);

/// Turns the words into `measuring`. Throws Failure (kUsage).
void finish(const MeasuringWords& words, analyses::Measuring& measuring);

}  // namespace nplus1::cli
