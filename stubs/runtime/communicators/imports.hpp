// Which functions the program can call: what it and the libraries loaded with it import. Any thread; no failure.
#pragma once

#include <initializer_list>
#include <string_view>

namespace nplus1::stubs {

/// Whether a module that is loaded, other than MPI's own libraries, needs one of these symbols from others.
[[nodiscard]] bool program_imports(std::initializer_list<std::string_view> names);

}  // namespace nplus1::stubs
