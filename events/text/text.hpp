// CSV and JSON lines: every field of every event, match and definition, a line each, both ways without loss
// (docs/formats/exchange.md). For jq, spreadsheets, pandas and tests; some 400 bytes per event.
// One thread. Errors name file and line.
#pragma once

#include <filesystem>
#include <memory>

#include "events/exchange/exchange.hpp"

namespace nplus1::events::text {

enum class Syntax { kCsv, kJsonLines };

[[nodiscard]] Result<std::unique_ptr<exchange::Exporter>> create(const std::filesystem::path& file,
                                                                 Syntax syntax,
                                                                 const exchange::Preamble& preamble);

/// Reads up to the first event. `unchecked`: events come as they stand there, whatever they claim (for tests of the
/// syntax alone; Imported counts nothing then).
[[nodiscard]] Result<std::unique_ptr<exchange::Importer>> open(const std::filesystem::path& file,
                                                               Syntax syntax, bool unchecked = false);

/// As open(), from a descriptor that another process writes to; `name` stands for it in errors. Takes it
/// over.
[[nodiscard]] Result<std::unique_ptr<exchange::Importer>> open(int descriptor, const std::string& name,
                                                               Syntax syntax);

/// A sink that prints rows to `descriptor`, and flushes when it dies.
[[nodiscard]] std::unique_ptr<EventSink> print_to(int descriptor, Syntax syntax,
                                                  const exchange::Preamble& preamble);

}  // namespace nplus1::events::text
