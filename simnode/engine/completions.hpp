// Requests, and the calls that wait for them or test them (MPI 4.0, section 3.7). Private to the engine.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "events/event.hpp"
#include "semantics/timing.hpp"
#include "simnode/engine/call.hpp"
#include "simnode/engine/lane.hpp"
#include "simnode/engine/parts.hpp"
#include "simnode/engine/request_table.hpp"
#include "support/ids.hpp"
#include "support/units.hpp"

namespace nplus1::simnode::engine {

class Completions {
 public:
  explicit Completions(const Parts& parts)
      : lanes_{parts.lanes}, agenda_{parts.agenda}, calls_{parts.calls}, decisions_{parts.decisions} {}

  void add(Lane& lane, const events::Event& event, Request::Kind kind);
  /// The request's end is known; whoever waits for it goes on. Keeps how long its transfer was held up by others.
  void complete(RankId rank, RequestId id, Time at, Duration overhead, Duration held_up = {});

  /// Calls; false: the lane is blocked in it.
  bool wait(Lane& lane, const events::Event& event, const events::Extension& extension, Outcome& out);
  bool free(Lane& lane, const events::Event& event, Outcome& out);

  /// The virtual time after which the outcome of a blocked lane's call is fixed, given what is known; none while nothing
  /// is. `certain`: it is fixed now.
  [[nodiscard]] static std::optional<Time> decision_time(const Lane& lane, const events::Event& event,
                                                         const Tally& tally, bool& certain);
  /// Fixes the outcome from what is known: unknown completions come too late to matter.
  void conclude(Lane& lane, const events::Event& event, std::span<const std::uint32_t> ids, Outcome& out);

 private:
  using Ids = std::span<const std::uint32_t>;

  [[nodiscard]] Duration take_held_up(RankId rank, RequestId id);
  [[nodiscard]] Tally tally(Lane& lane, Ids ids);
  void await(Lane& lane, const events::Event& event, Ids ids);
  void forget(Lane& lane, Ids ids);
  void conclude_all(Lane& lane, const events::Event& event, Ids ids, const Tally& tally, Outcome& out);
  void complete_all(Lane& lane, Ids ids, Outcome& out);
  void conclude_any(Lane& lane, const events::Event& event, Ids ids, const Tally& tally, Outcome& out);
  void conclude_some(Lane& lane, const events::Event& event, Ids ids, const Tally& tally, Outcome& out);

  Lanes& lanes_;
  Agenda& agenda_;
  Calls& calls_;
  Decisions& decisions_;
  std::vector<semantics::Completion> of_call_;  // that is being concluded
  /// Of requests whose transfer others have held up, until they are completed: by rank and number.
  std::unordered_map<std::uint64_t, Duration> held_up_;
};

/// A test or probe that finds nothing costs its lane some time.
void failed_poll(Lane& lane, Outcome& out);

}  // namespace nplus1::simnode::engine
