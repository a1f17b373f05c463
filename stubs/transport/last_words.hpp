// What a rank has summed up for the simulator, in the slots behind its last event (kFinalize). Plain data of one
// process tree on one machine type; the simulator checks the size.
#pragma once

#include <cstdint>
#include <type_traits>

namespace nplus1::transport {

struct LastWords {
  // What the recording of accesses took (stubs/access/).
  std::uint64_t faults = 0, steps = 0, protects = 0, system_calls = 0;
  std::uint64_t fault_ns = 0, step_ns = 0, protect_ns = 0, system_call_ns = 0;
  std::uint64_t left_open = 0;  // times that a page was not watched because it is missed again and again
  // `--compute recorded:DIR`: how many threads left the recorded calls, and the first that did.
  std::uint32_t departed_threads = 0;
  std::uint16_t departed_thread = 0;
  std::uint16_t expected = 0;  // MpiCall; 0: the recording had no further call
  std::uint64_t followed = 0;  // events of that thread before
  std::uint16_t found = 0;     // MpiCall
  std::uint8_t recorded_accesses = 0;
  std::uint8_t counted_io = 0;  // what follows is known
  std::uint8_t reserved[4]{};
  // What the process has read and written by system calls, but for MPI-IO.
  std::uint64_t bytes_read = 0, bytes_written = 0, reads = 0, writes = 0;
};
static_assert(sizeof(LastWords) == 128 && std::is_trivially_copyable_v<LastWords>);

}  // namespace nplus1::transport
