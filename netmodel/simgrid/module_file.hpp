// Finds a function of the module libnplus1-simgrid.so. Private to netmodel/simgrid.
#pragma once

#include "support/result.hpp"

namespace nplus1::netmodel {

/// The module stays loaded.
[[nodiscard]] Result<void*> module_function(const char* name);

}  // namespace nplus1::netmodel
