// Words of a command line: splitting a string as a shell would, and quoting words so that they can be pasted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/result.hpp"

namespace nplus1::cli {

/// Splits at white space; '...', "..." and \x protect it. No variables, no globs. Fails on an open quote.
[[nodiscard]] Result<std::vector<std::string>> split_words(std::string_view text);

/// The word as a POSIX shell reads it back; unchanged where nothing needs quoting.
[[nodiscard]] std::string quote(std::string_view word);

/// All words, quoted, with one space between.
[[nodiscard]] std::string join_quoted(const std::vector<std::string>& words);

}  // namespace nplus1::cli
