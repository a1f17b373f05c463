// What `nplus1 run` and `nplus1 clock` say about the clock.
#pragma once

#include <memory>
#include <string>

#include "hypothesis/clock/stretches.hpp"

namespace nplus1::cli {

/// What the twins of the run at `source` say of its stretches; none if it had no twins. Throws Failure.
[[nodiscard]] std::shared_ptr<hypothesis::clock::Stretches> fitted_stretches(const std::string& source);

/// The results with warm caches that a run with --compute warm left in its folder, or `source` itself: what all that
/// tells of the run reads.
[[nodiscard]] std::string with_warm_clock(const std::string& source);

/// The clock's report beside the results at `source`, a run's folder or what it has of that clock; empty: there is none.
[[nodiscard]] std::string clock_beside(const std::string& source);

/// The document `json` of the run at `source` with the interval of its virtual time (docs/formats/clock.md), from the
/// clock.json beside it; as it is where the run has none.
[[nodiscard]] std::string with_interval(const std::string& json, const std::string& source);

/// For the end of a run with --compute warm: the virtual time with warm caches, and between which ends it lies. Leaves
/// results and a recording with that clock in the folder. Throws Failure.
[[nodiscard]] std::string clock_lines(const std::string& folder);

}  // namespace nplus1::cli
