// Writing result files so that a reader sees either nothing or the whole file.
#pragma once

#include <filesystem>
#include <string_view>
#include <variant>

#include "support/result.hpp"

namespace nplus1::report {

/// Success without a value.
using Done = std::monostate;

/// Writes `contents` beside `path` and renames it into place. A full disk, a short write and a failing close
/// are errors that name the file and what was left of it: then nothing new is at `path`, and an older file is
/// untouched. What a link at `path` leads to is replaced, and not the link; what is there and no regular file (a
/// terminal, a pipe, /dev/null) is written to as it is.
[[nodiscard]] Result<Done> write_file(const std::filesystem::path& path, std::string_view contents);

}  // namespace nplus1::report
