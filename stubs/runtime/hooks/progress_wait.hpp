// What a thread does that has asked the MPI library for progress, for the hooks of each library (progress_hook.cpp,
// openmpi/progress_hook.cpp). Costs a few nanoseconds where something was found. Any thread; nothing here fails.
#pragma once

#include <atomic>
#include <cstdint>

#include "stubs/guard/guard.hpp"

namespace nplus1::stubs {

namespace detail {
extern constinit std::atomic<std::uint32_t> moves;
extern constinit thread_local unsigned idle_polls;
}  // namespace detail

/// Nothing was found. Yields whenever the thread finds nothing for long; sleeps only within one long MPI call: a program
/// that polls with MPI_Test between pieces of work must not sleep in each poll.
void wait_a_little() noexcept;

/// Something was.
inline void note_progress() noexcept {
  // Two threads at once may count one: that it changes is enough.
  detail::moves.store(detail::moves.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  detail::idle_polls = 0;
  call_state.idle_polls = call_state.idle_sleeps = 0;
}

}  // namespace nplus1::stubs
