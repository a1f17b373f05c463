// Where the analytic models turn seconds into picoseconds: once per answer, capped so that it can't overflow.
// Private to netmodel.
#pragma once

#include <algorithm>

#include "netmodel/specification.hpp"
#include "support/units.hpp"

namespace nplus1::netmodel {

/// The nearest picosecond; nothing lasts longer than kLongestTime.
[[nodiscard]] inline Duration rounded(double s) {
  return from_seconds(std::min(s, kLongestTime));
}

}  // namespace nplus1::netmodel
