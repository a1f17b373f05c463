// Quantiles, Tukey's fences and ranks: what both the analysis and the measuring MPI program need, so with the
// standard library only. Pure; any thread. Empty input throws std::invalid_argument, but where an empty
// answer is said to be one.
#pragma once

#include <cstddef>
#include <vector>

namespace nplus1::guidelines {

using Values = std::vector<double>;

/// Type 7 of Hyndman and Fan 1996, the default of R: between neighbours in proportion. `sorted` ascending.
[[nodiscard]] double quantile(const Values& sorted, double share);
[[nodiscard]] double median(Values values);
/// Without what is more than 1.5 interquartile ranges outside the quartiles (Tukey's fences); the order
/// stays.
[[nodiscard]] Values tukey_filtered(const Values& values);

/// Twice the midrank of each value: whole numbers, also with ties.
[[nodiscard]] std::vector<std::size_t> doubled_ranks(const Values& values);

}  // namespace nplus1::guidelines
