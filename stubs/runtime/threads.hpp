// The program's threads: started at their creator's virtual time, joined at no earlier virtual time than their end.
// pthread_create and pthread_join are interposed, for programs that may call MPI from several threads at a time.
#pragma once

#include "support/units.hpp"

namespace nplus1::stubs {

/// The calling thread ends at `t`: for who joins it. With the runtime's lock held.
void note_thread_end(Time t);

/// A thread of ours: none of the program's, and none that gets its signals. False if there can be none.
bool start_own_thread(void* (*run)(void*), void* argument) noexcept;

}  // namespace nplus1::stubs
