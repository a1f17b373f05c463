// What `nplus1 patterns` prints: the first page of mpiP's report and Riesen's categories, in a bounded number
// of lines however many ranks there were. Pure function.
#pragma once

#include <string>
#include <vector>

#include "patterns/layers.hpp"
#include "report/results.hpp"

namespace nplus1::patterns {

struct ScreenOptions {
  std::vector<std::string> layers{std::string{kPointToPoint}};  // in sizes and heatmaps
  bool elements = false;  // sizes in elements; the layers must have them
  bool heatmap = false;
  report::TextStyle style;
};

[[nodiscard]] std::string first_screen(const Patterns& patterns, const ScreenOptions& options);

/// "main (cg.c:42)", "app+0x1373", or "unknown": where a call came from.
[[nodiscard]] std::string place_of(const CallSiteUse& site);

}  // namespace nplus1::patterns
