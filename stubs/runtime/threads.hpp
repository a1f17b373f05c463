// The program's threads: started at their creator's virtual time, joined at no earlier virtual time than their end.
// pthread_create and pthread_join are interposed, for programs that may call MPI from several threads at a time.
#pragma once

#include <cstdint>

#include "events/thread_change.hpp"
#include "support/ids.hpp"
#include "support/units.hpp"

namespace nplus1::stubs {

class Runtime;
struct ThreadState;

/// The calling thread ends at `t`: for who joins it. With the runtime's lock held.
void note_thread_end(Time t);

/// Whether several threads of the process may call MPI.
[[nodiscard]] bool threads_may_call();

/// The virtual time of a thread that is in the application.
[[nodiscard]] Time now_of(const ThreadState& thread);

/// Tells the simulator of a change of the thread's, at `now`; `other` and `aux` as events::ThreadChange says. `follows`: right
/// behind one whose end only the simulator knows. With the runtime's lock held.
void tell_change(Runtime& rt, ThreadState& thread, events::ThreadChange change, Time now, ThreadId other,
                 std::uint64_t aux = 0, bool follows = false);

/// If the thread is idle, nobody has forked it, and yet it has something to do: a task that it found while it waited, or a part of a
/// region of which nothing was told. With the runtime's lock held.
void end_idling(Runtime& rt, ThreadState& thread);

/// A thread of ours: none of the program's, and none that gets its signals. False if there can be none.
bool start_own_thread(void* (*run)(void*), void* argument) noexcept;

}  // namespace nplus1::stubs
