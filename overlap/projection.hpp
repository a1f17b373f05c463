// What overlap would save at sizes and numbers of ranks that nobody has run: models of the data, the computing, the run
// and the savings of several recordings (section 3.4 of the paper named in docs/overlap.md). Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "overlap/normal_form.hpp"
#include "overlap/phases.hpp"
#include "overlap/results.hpp"

namespace nplus1::overlap {

/// What is fitted of a chain in one run.
struct ChainNumbers {
  std::string title;
  double instances = 0;    // of a rank
  double bytes = 0;        // of one message, the mean
  double hideable_s = 0;   // computing between its last call and its end, once around
  double computing_s = 0;  // from its end to the next chain, once around
  double saving_s = 0;     // grouped, of the whole run
};

struct ProjectedRun {
  std::string source;
  double size = 1, ranks = 1;
  double time_s = 0;
  std::map<std::string, ChainNumbers> chains;  // by number
  Phases phases;
};

/// Replays of one of the runs with the phases that fits give for the place asked for: seconds.
struct Recomputed {
  struct Times {
    double as_written = 0;
    std::map<std::string, double> grouped;  // by chain: the run with that chain non-blocking
    [[nodiscard]] std::optional<double> saving(const std::string& chain) const;
  };
  Times best, least, most;  // by Estimate
};

[[nodiscard]] ProjectedRun numbers_of(const Results& results, const Survey& survey, const Analysis& analysis,
                                      double size);

struct Quantity {
  std::string what;  // "time of the run", "saving" ...
  std::string unit;  // "s", "bytes", ""
  Fit fit;
  double value = 0;  // at the place asked for
  Fit::Spread spread{};
};

struct ProjectedChain {
  std::string id, title;
  std::vector<Quantity> quantities;  // the saving first
  /// At the place asked for: recomputed where that was possible, else the fit of the savings.
  double saving_s = 0;
  std::optional<Fit::Spread> recomputed;  // of saving_s
  double share = 0;                       // of the run
};

struct Projection {
  std::vector<ProjectedRun> runs;
  double size = 1, ranks = 1;  // asked for
  Quantity time;
  double time_s = 0;                      // at the place asked for: recomputed where that was possible
  std::optional<Fit::Spread> recomputed;  // of time_s
  std::string not_recomputed;             // why
  std::vector<ProjectedChain> chains;     // the most saving first
  std::vector<std::string> warnings;      // sentences
};

/// Of the runs on `ranks` ranks the one of the largest size, whose calls a replay at another size can be made of, and
/// those whose phases say with what. Nothing: `why_not` says why.
struct Basis {
  std::size_t run = 0;
  std::vector<SizedPhases> phases;
};
[[nodiscard]] std::optional<Basis> basis_of(const std::vector<ProjectedRun>& runs, double ranks,
                                            std::string& why_not);

/// Chains that all runs have. Needs two runs at least. Without `recomputed` its savings are fits of the runs' savings.
[[nodiscard]] Projection project(std::vector<ProjectedRun> runs, double size, double ranks,
                                 const std::optional<Recomputed>& recomputed = {},
                                 const std::string& not_recomputed = {});

[[nodiscard]] std::string projection_text(const Projection& projection);
[[nodiscard]] std::string projection_json(const Projection& projection);

}  // namespace nplus1::overlap
