// What was found in a recording, for the end of a run. Pure.
#pragma once

#include <string>

#include "analyses/findings.hpp"

namespace nplus1::cli {

/// What there is to fix first, or why it is not told; of the run at `source`. Empty where nobody looked.
[[nodiscard]] std::string fixes_text(const analyses::Findings& found, const std::string& source);

/// Three lines where there is a recording that cannot be read; else empty.
[[nodiscard]] std::string trouble_text(const analyses::Findings& found);

}  // namespace nplus1::cli
