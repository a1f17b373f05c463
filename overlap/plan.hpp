// What is to be moved in a recording: requests posted earlier, waited for later, or waited for at once. A plan is made
// of a survey and carried out by rearrange.hpp. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "overlap/chains.hpp"

namespace nplus1::overlap {

enum class Variant : std::uint8_t {
  kGrouped,  // the paper's: blocking calls become non-blocking where they are, all waited for where the chain ends
  kMerged,      // the same, with what of the chain behind may be started with it
  kPerRequest,  // each request posted as early and waited for as late as is legal
  kOneWait,  // kGrouped with the wait at one place of the program, as a change of the source has it (one_wait.hpp)
};

/// One request that is moved.
struct Move {
  std::uint32_t end = 0;  // place in SurveyedRank::ends
  Position post;
  Position wait;
  bool before_waits = false;  // posted in front of what is waited for at the same place, else behind it
  friend bool operator==(const Move&, const Move&) = default;
};

/// By rank, in the order of their calls.
using Plan = std::vector<std::vector<Move>>;

/// The chains (places in Analysis::chains) made non-blocking. Posts with the same peer, communicator and direction keep
/// their order. An empty plan: the variant changes nothing.
[[nodiscard]] Plan plan_of(const Survey& survey, const Analysis& analysis,
                           const std::vector<std::size_t>& chains, Variant variant);

/// Every non-blocking message waited for at once: its wait stands right behind the thread's last call in front of it,
/// so that nothing is computed meanwhile and no order of calls changes.
[[nodiscard]] Plan waited_at_once(const Survey& survey);

}  // namespace nplus1::overlap
