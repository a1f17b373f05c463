// patterns.json: docs/formats/patterns.md. Writing is a pure function; reading refuses what is not such a
// document, or a newer one, with an error that names the file and the key.
#pragma once

#include <filesystem>
#include <string>

#include "patterns/patterns.hpp"
#include "support/result.hpp"

namespace nplus1::patterns {

inline constexpr const char* kPatternsSchema = "nplus1-patterns/1";
inline constexpr const char* kPatternsFile = "patterns.json";  // in the result folder

[[nodiscard]] std::string patterns_json(const Patterns& patterns);

/// `name` is what messages call the document, e.g. its path.
[[nodiscard]] Result<Patterns> parse_patterns(const std::string& text, const std::string& name);
[[nodiscard]] Result<Patterns> read_patterns(const std::filesystem::path& file);

}  // namespace nplus1::patterns
