// Whether two quantities go together, where some values of the second are far off: the correlation of the first with the places
// that the second's values have among themselves.
//
// Pure. Source: C. Spearman, "The proof and measurement of association between two things" (1904), who takes the places of both.
#pragma once

#include <vector>

namespace nplus1::hypothesis::clock {

/// Student's t of that correlation, with n - 2 degrees of freedom: from about 2 on it is hardly by chance. 0 where one of the two is
/// always the same. Of as many values each, three at least.
[[nodiscard]] double students_t(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace nplus1::hypothesis::clock
