// One-sided communication in virtual time. Equations, their sources and what is assumed of the hardware:
// docs/one_sided.md. Private to the engine.
//
// What depends on who is first (locks, MPI_Win_test) is decided as wildcards are: earliest first, once nobody can act
// before. So are the ends of flushes and unlocks, although they are known earlier: an origin that looks at a target's
// memory again and again would else run ahead of those whose transfers it waits for.
#pragma once

#include <cstdint>
#include <vector>

#include "events/event.hpp"
#include "simnode/engine/call.hpp"
#include "simnode/engine/lane.hpp"
#include "simnode/engine/parts.hpp"
#include "simnode/engine/windows.hpp"
#include "support/ids.hpp"
#include "support/units.hpp"

namespace nplus1::simnode::engine {

class OneSided {
 public:
  explicit OneSided(const Parts& parts)
      : network_{parts.network},
        contention_{parts.contention},
        lanes_{parts.lanes},
        calls_{parts.calls},
        completions_{parts.completions},
        collectives_{parts.collectives} {}

  /// Calls; false: the lane is blocked in it, or its end has been told.
  bool transfer(Lane& lane, const events::Event& event, Outcome& out);
  bool synchronise(Lane& lane, const events::Event& event, const events::Extension& extension, Outcome& out);

  /// The flow of a leg, by its place, has ended.
  void landed(std::uint32_t place, Time at, Duration held_up) {
    landed(windows_.take_leg(place), at, held_up);
  }
  /// When the next thing is decided; kNever if there is none.
  [[nodiscard]] Time next() const { return windows_.next_due(); }
  /// What comes first in virtual time stands.
  void decide_next();
  /// Whom a blocked call waits for.
  [[nodiscard]] std::vector<RankId> awaited(const Lane& lane);
  void forget(CommId window) { windows_.forget(window); }

 private:
  void has_started(const WindowLeg& leg, Time exit);
  bool post(Lane& lane, const events::Event& event, const events::Extension& extension, Outcome& out);
  void look_at_syncs(RankId rank, CommId window);
  void go_on_in_sync(Lane& lane);
  void wait_for_notices(Lane& lane, WindowLeg::What what);
  void take_notices(Lane& lane, WindowLeg::What what);
  void end_test(Lane& lane, bool succeeds);
  void end_transfers(Lane& lane);
  [[nodiscard]] Time interface_after(const Lane& lane, const std::vector<RankId>& told, Time at) const;
  void return_from_sync(Lane& lane);
  [[nodiscard]] std::vector<RankId> told_by(const Lane& lane);
  [[nodiscard]] bool holds_lock(CommId window, RankId origin, RankId target);
  void ask_for_locks(Lane& lane);
  void granted(const WindowLeg& leg, Time at);
  void grant_lock(CommId window, RankId target, Time at);
  void released(const WindowLeg& leg, Time at);
  Time send_leg(Lane& lane, WindowLeg leg, Time at);
  void answer_leg(const WindowLeg& leg, Time at);
  void start_leg(const WindowLeg& leg, Time at);
  void landed(const WindowLeg& leg, Time at, Duration held_up = {});
  void transfer_landed(const WindowLeg& leg, Time at, Duration held_up);

  const netmodel::NetworkModel& network_;
  Contention* const contention_;
  Lanes& lanes_;
  Calls& calls_;
  Completions& completions_;
  CollectiveCalls& collectives_;
  Windows windows_;
};

}  // namespace nplus1::simnode::engine
