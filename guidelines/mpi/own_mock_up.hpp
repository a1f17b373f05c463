// Mock-ups that a user wrote: functions of the catalogue's name in a library that is preloaded into the
// measuring program (docs/formats/guidelines.md, "Own mock-ups"). All ranks look for the same names.
#pragma once

#include <string>

#include "guidelines/mpi/verify.hpp"

namespace nplus1::guidelines {

/// What such a function looks like; arguments are those of Call.
using OwnMockUp = int (*)(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root,
                          MPI_Comm comm);

/// Empty when no loaded library has a function of that name.
[[nodiscard]] AnyRun find_own_mock_up(const std::string& name);

}  // namespace nplus1::guidelines
