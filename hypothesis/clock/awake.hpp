// For how long a rank had computed when a stretch began, since it last slept in a call or lost its core: what others have pushed out of
// its caches it has fetched again by then, and what it fetches now it has itself pushed out.
//
// Pure; one thread. From the real times of calls (events::Detail), without which nothing is known.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "events/event.hpp"
#include "support/ids.hpp"

namespace nplus1::hypothesis::clock {

class Awake {
 public:
  /// Picoseconds of computing, before that which ends with `event`. To be asked once for each event, in each thread's order.
  [[nodiscard]] double before(RankId rank, const events::Event& event, const events::Detail* detail);

 private:
  struct Thread {
    double awake_ps = 0;
    std::int64_t entry_ns = 0;  // of its last call; 0: none yet
  };
  std::unordered_map<std::uint64_t, Thread> threads_;  // by thread_number()
};

}  // namespace nplus1::hypothesis::clock
