// How a platform's links hang together, as far as the routes show it: for the drawing in the report.
#pragma once

#include <string>
#include <vector>

#include "netmodel/link_usage.hpp"

namespace nplus1::patterns {

/// {"nodes": [{"host": NAME or null, "ranks": [..], "level": N}], "edges": [{"link": place in `order`, "from": node,
/// "to": node}], "layered": whether links join neighbouring levels only}; "null" where the routes contradict each other
/// or there is too much to draw. A host's level is 0, a switch's its distance from the nearest host.
[[nodiscard]] std::string drawing_json(const netmodel::LinkUsage& usage,
                                       const std::vector<netmodel::LinkUsage::Number>& order);

}  // namespace nplus1::patterns
