// How fast this thread's core runs at this moment, by two fixed pieces of work that need no memory. A core's frequency comes
// and goes by a tenth, now and then by a quarter, with what the processor's other cores do; and where a core is two hardware
// threads, whoever has the other one takes part of its units: the same loads, or multiplications, then take a third or half as
// long again. On a virtual machine both are other people's doing, and no clock of the system's shows them.
//
// One thread. x86-64; elsewhere nothing is known.
#pragma once

#include <cstdint>

namespace nplus1::stubs {

struct CoreSpeed {
  std::int64_t chain_ticks =
      0;  // a chain of dependent multiplications: 4,800 cycles, whoever has the other hardware thread
  std::int64_t loads_ticks = 0;  // as many loads as the core can start: their share of the chain says who has

  [[nodiscard]] bool is_known() const { return chain_ticks > 0; }
  /// Loads against cycles, the less the better; which number is good depends on the processor. Only where it is known.
  [[nodiscard]] double share() const {
    return static_cast<double>(loads_ticks) / static_cast<double>(chain_ticks);
  }
};

/// In ticks of the time stamp counter, each the shorter of two times: some 6 us.
[[nodiscard]] CoreSpeed core_speed() noexcept;

}  // namespace nplus1::stubs
