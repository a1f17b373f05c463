// nrep.html: how the metrics of each test fell while its repetitions were predicted, as figure 1 of Hunold et
// al. 2016: a small picture for each test and size, without scripts. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "guidelines/runner_lines.hpp"

namespace nplus1::guidelines {

/// One self-contained page. Metrics below 0.0001 or above 1 are drawn there.
[[nodiscard]] std::string nrep_page(const std::vector<Look>& looks, const Criteria& criteria);

}  // namespace nplus1::guidelines
