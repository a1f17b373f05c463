// Virtual times as decimal numbers of seconds, exact to the picosecond, so that two runs can be compared as
// text.
#pragma once

#include <string>

#include "support/units.hpp"

namespace nplus1::report {

/// "0.001979378000": always 12 decimals.
[[nodiscard]] std::string exact_seconds(Duration duration);

/// For people: "1.98 ms", three significant digits.
[[nodiscard]] std::string readable(Duration duration);

}  // namespace nplus1::report
