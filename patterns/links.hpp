// The links of a platform as results: links.json and links.csv (docs/formats/links.md), and lines for the terminal. Pure
// functions of what netmodel/flows has kept account of.
#pragma once

#include <string>
#include <vector>

#include "netmodel/link_usage.hpp"
#include "patterns/patterns.hpp"

namespace nplus1::patterns {

inline constexpr const char* kLinksSchema = "nplus1-links/1";
inline constexpr const char* kLinksFile = "links.json";  // in the result folder
inline constexpr const char* kLinksTable = "links.csv";

/// `patterns` name the run and its call sites.
[[nodiscard]] std::string links_json(const netmodel::LinkUsage& usage, const Patterns& patterns);
/// One line for each link, after a line of titles.
[[nodiscard]] std::string links_csv(const netmodel::LinkUsage& usage);
/// The most used links, who held whom up; or why sharing links has changed nothing. At most ten lines.
[[nodiscard]] std::vector<std::string> links_text(const netmodel::LinkUsage& usage, const Patterns& patterns);

}  // namespace nplus1::patterns
