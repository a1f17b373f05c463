// The text of a chain made non-blocking: declarations, posts, wait and the assignments to statuses, as edits that keep
// comments and formatting of what they don't change. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "overlap/patch/located_call.hpp"
#include "overlap/patch/plan.hpp"
#include "overlap/patch/unified_diff.hpp"

namespace nplus1::overlap::patch {

enum class Style { kDeclarations, kBraces };

[[nodiscard]] std::vector<Edit> rewritten(const Source& source, const Plan& plan,
                                          const std::vector<LocatedCall>& calls, Style style);

}  // namespace nplus1::overlap::patch
