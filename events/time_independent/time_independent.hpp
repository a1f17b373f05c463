// SimGrid's time-independent traces: `smpirun -replay` runs them on any platform (docs/formats/exchange.md).
// A folder: replay.txt names actions.txt, which has a line per action of any rank. Computing is in flops, at
// a rate that says how many a second of virtual time is worth. One thread.
#pragma once

#include <filesystem>
#include <memory>

#include "events/exchange/exchange.hpp"
#include "events/exchange/flattener.hpp"

namespace nplus1::events::time_independent {

/// What a second of computing is worth, unless the user says otherwise: SMPI's hosts should be given this
/// speed.
inline constexpr double kFlopsPerSecond = 1e9;
inline constexpr const char* kList = "replay.txt";
inline constexpr const char* kActions = "actions.txt";

[[nodiscard]] Result<std::unique_ptr<exchange::Exporter>> create(const std::filesystem::path& folder,
                                                                 const exchange::Preamble& preamble,
                                                                 exchange::Expand expand,
                                                                 double flops_per_second = kFlopsPerSecond);

/// `path`: the folder, or a list of trace files as smpirun takes it. Times are those of computing alone:
/// calls take none.
[[nodiscard]] Result<std::unique_ptr<exchange::Importer>> open(const std::filesystem::path& path,
                                                               double flops_per_second = kFlopsPerSecond);

}  // namespace nplus1::events::time_independent
