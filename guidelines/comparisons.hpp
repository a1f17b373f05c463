// The single comparisons that the rules ask for, before p-values are corrected. Used by analysis.cpp only.
// Pure.
#pragma once

#include "guidelines/analysis.hpp"

namespace nplus1::guidelines {

/// All that the catalogue asks for and the samples have; in the catalogue's order, sizes ascending.
[[nodiscard]] std::vector<Comparison> comparisons_of(const Catalogue& catalogue, const Samples& samples,
                                                     const Judging& judging, bool with_statistics);

/// Fills ratio, delta and p from two samples. `exactly`: from the medians alone, without p.
void compare(const Sample& left, const Sample& right, const Judging& judging, bool with_statistics,
             Comparison& result);

}  // namespace nplus1::guidelines
