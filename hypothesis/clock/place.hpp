// Where a stretch of computing stands: of which kind it is, and which of its kind on its rank.
//
// One thread. Memory: a number for each kind and rank.
#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "events/sink.hpp"
#include "hypothesis/clock/chance.hpp"
#include "support/ids.hpp"

namespace nplus1::hypothesis::clock {

struct Kind {
  std::uint32_t after = 0, before = 0;  // call paths
  std::int64_t size = 0;                // of the call after which it begins
  bool longer = false;                  // between the same calls others are far shorter (lengths.hpp)
  friend auto operator<=>(const Kind&, const Kind&) = default;

  struct Hash {
    std::size_t operator()(const Kind& kind) const {
      return mixed(mixed(std::uint64_t{kind.after} << 32U | kind.before) +
                   static_cast<std::uint64_t>(kind.size) + (kind.longer ? 1U : 0U));
    }
  };
};

struct Place {
  Kind kind;
  std::uint32_t step = 0;   // how many of its kind its rank had before
  std::uint16_t after = 0;  // events::MpiCall: the function behind which it begins
};

/// Of all ranks' threads.
[[nodiscard]] inline std::uint64_t thread_number(RankId rank, const events::Event& event) {
  return static_cast<std::uint64_t>(rank.value) << 16U | event.thread.value;
}

/// Follows the threads of all ranks from call to call.
class Follower {
 public:
  /// Of the stretch before `event`. To be asked once for each event, in each thread's order.
  [[nodiscard]] Place before(RankId rank, const events::Event& event);

 private:
  struct Last {
    std::uint32_t site = 0;
    std::int64_t size = 0;
    std::uint16_t call = 0;
  };
  tsl::robin_map<std::uint64_t, Last, Mixed> last_;                        // by thread_number()
  tsl::robin_map<Kind, std::vector<std::uint32_t>, Kind::Hash> how_many_;  // of a kind, by rank
};

}  // namespace nplus1::hypothesis::clock
