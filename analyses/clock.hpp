// The clock that twins of the ranks have measured (nplus1 run --compute warm, docs/clock.md), for whoever tells of the run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hypothesis/clock/stretches.hpp"
#include "report/json_object.hpp"

namespace nplus1::analyses {

inline constexpr const char* kWarmFolder = "warm";
inline constexpr const char* kClockFile = "clock.json";
/// With which probability the interval of a virtual time has it.
inline constexpr double kShareOfInterval = 0.9;

/// What the twins of the run at `source` say of its stretches; none if it had no twins. `other_runs` of the same program, on as
/// many ranks, say what the host was slow with. Throws Stopped: also where another run is of something else.
[[nodiscard]] std::shared_ptr<hypothesis::clock::Stretches> fitted_stretches(
    const std::string& source, const std::vector<std::string>& other_runs = {});

/// The results with warm caches that a run with --compute warm left in its folder, or `source` itself: what all that
/// tells of the run reads.
[[nodiscard]] std::string with_warm_clock(const std::string& source);

/// The clock's report beside the results at `source`, a run's folder or what it has of that clock; empty: there is none.
[[nodiscard]] std::string clock_beside(const std::string& source);

/// Of the computing of the run at `source` with warm caches, the share that comes and goes with its data, by more than the host
/// adds (hypothesis/clock/kind_model.hpp); 0 where the run has no such clock.
[[nodiscard]] double share_by_data(const std::string& source);

/// Adds the interval of the virtual time of the run at `source` (docs/formats/clock.md), from the clock.json beside it;
/// nothing where the run has none.
void add_interval(report::JsonObject& document, const std::string& source);

}  // namespace nplus1::analyses
