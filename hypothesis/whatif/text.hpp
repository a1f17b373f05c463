// Two sides next to each other, for a terminal. Pure function.
#pragma once

#include <string>

#include "hypothesis/whatif/side.hpp"

namespace nplus1::hypothesis {

/// Times, efficiencies, waiting and where it was: `left` and `right` are the headings of the columns.
[[nodiscard]] std::string comparison_text(const Side& before, const Side& after, const std::string& left,
                                          const std::string& right);

/// What changed, as a share of `before`: "-20.6 %".
[[nodiscard]] std::string change_text(double before, double after);

}  // namespace nplus1::hypothesis
