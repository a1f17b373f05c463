// A tiny executor of schedules, for tests: runs all members' steps over a network without overheads and
// reports when each left, whom it depends on, and what was moved. Members enter at time zero.
#pragma once

#include <cstdint>
#include <vector>

#include "netmodel/collectives/schedule.hpp"
#include "netmodel/collectives/selection.hpp"
#include "netmodel/network_model.hpp"

namespace nplus1::netmodel::testing {

/// A set of up to 64 members.
using Members = std::uint64_t;

struct Outcome {
  bool finished = false;               // no deadlock
  std::size_t unreceived = 0;          // messages that nobody took
  std::vector<Duration> left;          // per member: when it was through
  std::vector<Members> depends_on;     // per member: whose entry its exit depends on, itself included
  std::vector<std::int64_t> sent;      // per member: bytes
  std::vector<std::int64_t> messages;  // per member: sends

  [[nodiscard]] std::int64_t total_sent() const;
  [[nodiscard]] Duration makespan() const;
};

/// `calls` has one entry per member, in order.
[[nodiscard]] Outcome execute(const std::vector<CollectiveCall>& calls, const Selection& selection,
                              const NetworkModel& network);

/// The same call at `members` members: only `me` differs.
[[nodiscard]] std::vector<CollectiveCall> everywhere(CollectiveCall call, std::int32_t members);

/// The selection that gives `kind` the algorithm `name`.
[[nodiscard]] Selection select(CollectiveKind kind, std::string_view name);

}  // namespace nplus1::netmodel::testing
