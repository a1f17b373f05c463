// Words of a command line: splitting a string as a shell would. The other way: support/shell.hpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/result.hpp"

namespace nplus1::processes {

/// Splits at white space; '...', "..." and \x protect it. No variables, no globs. Fails on an open quote.
[[nodiscard]] Result<std::vector<std::string>> split_words(std::string_view text);

}  // namespace nplus1::processes
