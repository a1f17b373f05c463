// The patterns as tables for spreadsheets and scripts: messages.csv and bytes.csv (n lines of n numbers, line
// = sender), ranks.csv, sizes.csv, collectives.csv, call_sites.csv, over_time.csv; the last five with a line
// of titles, which are the keys of docs/formats/patterns.md.
#pragma once

#include <filesystem>

#include "patterns/patterns.hpp"
#include "report/files.hpp"

namespace nplus1::patterns {

/// `layer`: what the matrices and the sizes show (combine()). Makes `folder` if it is not there; refuses to
/// replace files. Sizes in elements where `elements` says so and the layer has them.
[[nodiscard]] Result<report::Done> write_csv(const std::filesystem::path& folder, const Patterns& patterns,
                                             const Layer& layer, bool elements);

}  // namespace nplus1::patterns
