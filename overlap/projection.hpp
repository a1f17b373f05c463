// What overlap would save at sizes and numbers of ranks that nobody has run: models of the data, the computing, the run
// and the savings of several recordings (section 3.4 of the paper named in docs/overlap.md). Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "overlap/normal_form.hpp"
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
  double share = 0;                  // of the run, at the place asked for
};

struct Projection {
  std::vector<ProjectedRun> runs;
  double size = 1, ranks = 1;  // asked for
  Quantity time;
  std::vector<ProjectedChain> chains;  // the most saving first
  std::vector<std::string> warnings;   // sentences
};

/// Chains that all runs have. Needs two runs at least.
[[nodiscard]] Projection project(std::vector<ProjectedRun> runs, double size, double ranks);

[[nodiscard]] std::string projection_text(const Projection& projection);
[[nodiscard]] std::string projection_json(const Projection& projection);

}  // namespace nplus1::overlap
