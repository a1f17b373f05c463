// The function that a call goes on to: the next one of that name behind this library. Any thread.
#pragma once

namespace nplus1::guidelines::tuned {

/// Where an MPI library was opened for its caller alone (Python's modules are), it is made visible to all: mock-ups call it by
/// its names. Null where no library of the process has the function.
[[nodiscard]] void* next_function(const char* name);

/// False where the MPI library has come after this one was loaded and its handles are addresses (Open MPI's, opened by the
/// program itself): then mock-ups have no handles to call it with.
[[nodiscard]] bool has_handles();

}  // namespace nplus1::guidelines::tuned
