// Open MPI's predefined handles by the names of the variables that they point to.
#pragma once

#include <algorithm>
#include <cstddef>

#include "stubs/table/next.hpp"

namespace nplus1::stubs {

/// A text that may be an argument of a template.
template <std::size_t kSize>
struct Name {
  char text[kSize]{};
  constexpr Name(const char (&given)[kSize]) { std::copy_n(given, kSize, text); }  // NOLINT: meant to convert
};

/// The handle that is the address of variable `kName`; looked up at the first use, when MPI is there. Any thread.
template <class Handle, Name kName>
inline Handle predefined() noexcept {
  static void* const address = pmpi::variable(kName.text);
  return static_cast<Handle>(address);
}

}  // namespace nplus1::stubs
