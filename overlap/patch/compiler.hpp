// How a source is compiled: its flags, for libclang and for the compiler itself, and the compiler's word on a changed
// source. Starts the compiler as a child; nothing is left behind. What fails is an Error with the compiler's words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "overlap/patch/request.hpp"
#include "support/result.hpp"

namespace nplus1::overlap::patch {

struct Compilation {
  std::string compiler;
  std::vector<std::string> flags;  ///< without input, output and -c
  std::string directory;           ///< where it is run
  bool is_c89 = false;             ///< no declarations behind statements

  /// What libclang needs of them, with the compiler wrapper's include paths.
  [[nodiscard]] std::vector<std::string> for_libclang() const;
};

/// Words as a POSIX shell would split them: quotes and backslashes, no expansion.
[[nodiscard]] std::vector<std::string> split_words(const std::string& line);

[[nodiscard]] bool is_fortran(const std::string& file);
[[nodiscard]] bool is_cpp(const std::string& file);

/// Of `unit`, as the request's flags, its compile_commands.json, or nothing but the language say.
[[nodiscard]] Result<Compilation> compilation_of(const Request& request, const std::string& unit);

/// Whether the compiler takes `text` in the place of `unit` (-fsyntax-only); its words if not.
[[nodiscard]] std::optional<std::string> complaint(const Compilation& how, const std::string& unit,
                                                   const std::string& text);

}  // namespace nplus1::overlap::patch
