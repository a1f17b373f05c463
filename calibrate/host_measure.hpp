// Measures the host that it runs on, with one thread: some 4 s. Not to be called beside other work: what the host does
// otherwise makes it slower. Each quantity is the best of many short rounds, in which the others take their turns, so
// that neither an interrupt nor a slow second of the whole host decides.
#pragma once

#include "calibrate/host.hpp"

namespace nplus1::calibrate {

/// Memory: four times the last cache, 64 to 256 MiB. `rounds` >= 1.
[[nodiscard]] Result<Host> measure_host(int rounds = 15);

}  // namespace nplus1::calibrate
