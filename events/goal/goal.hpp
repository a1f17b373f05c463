// GOAL, the text format of LogGOPSim and of its successors: per rank a graph of computations, sends and
// receives (Hoefler, Schneider, Lumsdaine 2010; docs/formats/exchange.md). Times are nanoseconds. One thread.
#pragma once

#include <filesystem>
#include <memory>

#include "events/exchange/exchange.hpp"
#include "events/exchange/flattener.hpp"

namespace nplus1::events::goal {

/// Collectives become what `expand` makes of them.
[[nodiscard]] Result<std::unique_ptr<exchange::Exporter>> create(const std::filesystem::path& file,
                                                                 const exchange::Preamble& preamble,
                                                                 exchange::Expand expand);

/// Each rank's graph becomes one sequence: an operation waits for what it requires, and for what the sequence
/// has waited for before. Times are those of computing alone. Holds a rank's graph in memory.
[[nodiscard]] Result<std::unique_ptr<exchange::Importer>> open(const std::filesystem::path& file);

}  // namespace nplus1::events::goal
