// The kinds of wait states, after Scalasca (docs/formats/waitstates.md has the definitions), and what the
// parts of the search tell each other about whom a call waited for.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

#include "hypothesis/waitstates/critical_path.hpp"
#include "support/ids.hpp"
#include "support/units.hpp"

namespace nplus1::hypothesis {

enum class WaitState : std::uint8_t {
  kLateSender,
  kLateReceiver,
  kLateBroadcast,
  kEarlyReduce,
  kLateContributor,
  kEarlyScan,
  kWaitAtNxN,
  kNxNCompletion,
  kWaitAtBarrier,
  kBarrierCompletion,
  kWaitAtFence,
  kLatePost,
  kEarlyWait,
  kLockContention,
  kContention,
};
inline constexpr std::size_t kWaitStates = 15;

/// "late_sender": the key in JSON is this with "_s" behind it.
inline constexpr std::array<std::string_view, kWaitStates> kWaitStateNames{
    "late_sender",   "late_receiver", "late_broadcast", "early_reduce",    "late_contributor",
    "early_scan",    "wait_at_nxn",   "nxn_completion", "wait_at_barrier", "barrier_completion",
    "wait_at_fence", "late_post",     "early_wait",     "lock_contention", "contention"};

/// For people.
inline constexpr std::array<const char*, kWaitStates> kWaitStateTitles{
    "late sender",   "late receiver", "late broadcast", "early reduce",    "late contributor",
    "early scan",    "wait at NxN",   "NxN completion", "wait at barrier", "barrier completion",
    "wait at fence", "late post",     "early wait",     "lock contention", "contention"};

/// Waiting for each kind.
using WaitTimes = std::array<Duration, kWaitStates>;

/// Whom a call waited for, and since when it could have been served.
struct Partner {
  WaitState state = WaitState::kLateSender;
  RankId rank{-1};
  Time at{};       // when the partner did its part: before that, time is lost
  Time done{};     // when that part was complete at this rank; collectives: `at`
  Time first{};    // kEarlyReduce: when the first contributor came; from then on kLateContributor
  Time leaving{};  // kWaitAtNxN, kWaitAtBarrier: when the first member left; zero: not known
  Path path;       // the partner's, until `at`
};

/// What learns of a partner.
struct Waiter {
  enum class Kind : std::uint8_t { kNobody, kRequest, kCall };
  Kind kind = Kind::kNobody;
  std::uint32_t place = 0;  // in the slab of requests or calls
};

}  // namespace nplus1::hypothesis
