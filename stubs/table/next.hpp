// Finds the MPI library's own functions behind our wrappers. Resolved at first use and kept; callable from
// any thread. A function that no library of the process has ends the process as the dynamic linker would:
// message, 127.
#pragma once

#include <array>
#include <atomic>
#include <limits>

#include "events/mpi_call.hpp"

namespace nplus1::stubs::pmpi {

/// The next definition of `name` after our library: in the global scope, or else in an MPI library that
/// somebody opened with RTLD_LOCAL (as mpi4py does). Null if there is none.
[[nodiscard]] void* next_symbol(const char* name) noexcept;

/// Whether `function` is of the other MPI library than the job was started for; who calls its wrapper ends with 65.
[[nodiscard]] bool is_of_another_mpi(const void* function) noexcept;

/// The variable `name` of the MPI library's, as the program sees it: a program that is linked with the library may have a
/// copy of its own, which the library uses, too. Null if there is none.
[[nodiscard]] void* variable(const char* name) noexcept;

/// The MPI library's special addresses, without linking to it: compare neighbour weights against these, or
/// pass them. Implemented once for each MPI library (mpich/special_addresses.cpp, openmpi/special_addresses.cpp).
[[nodiscard]] int* unweighted() noexcept;
[[nodiscard]] int* weights_empty() noexcept;

namespace detail {

extern std::array<std::atomic<void*>, events::kMpiCalls> functions, profilers;

/// Fills `profilers[call]`.
void* look_for_profiler(events::MpiCall call) noexcept;

/// An exception comes out of the MPI library: a callback of the program's threw it.
void note_callback_threw() noexcept;

/// Alive while the MPI library works.
struct InMpi {
  bool has_returned = false;
  InMpi() = default;
  ~InMpi() {
    if (!has_returned) [[unlikely]]
      note_callback_threw();
  }
  InMpi(const InMpi&) = delete;
  InMpi& operator=(const InMpi&) = delete;
};

/// Whether a count may be passed to a form with counts of type int.
template <class Count>
inline bool fits(Count count) noexcept {
  return count >= std::numeric_limits<int>::min() && count <= std::numeric_limits<int>::max();
}

/// Fills `functions[call]`.
void* resolve(events::MpiCall call) noexcept;

template <class Function>
inline Function* next(events::MpiCall call) noexcept {
  void* found = functions[events::index(call)].load(std::memory_order_relaxed);
  if (found == nullptr) [[unlikely]]
    found = resolve(call);
  return reinterpret_cast<Function*>(found);
}

/// In `profilers`: nobody stands between our library and the MPI library.
inline void* const kNobody = &profilers;

}  // namespace detail

/// The function MPI_X of a profiling library that the program is linked with, or that is preloaded behind ours: null if there
/// is none. It is called in place of what ours does in MPI_X, and observed where it calls PMPI_X, as it would be bare.
template <class Function>
inline Function* profiler(events::MpiCall call) noexcept {
  void* found = detail::profilers[events::index(call)].load(std::memory_order_relaxed);
  if (found == detail::kNobody) [[likely]]
    return nullptr;
  if (found == nullptr) found = detail::look_for_profiler(call);
  return found == detail::kNobody ? nullptr : reinterpret_cast<Function*>(found);
}

}  // namespace nplus1::stubs::pmpi
