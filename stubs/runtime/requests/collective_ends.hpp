// When collectives end that nobody leaves before all have entered, without the simulator: each member says in shared memory
// when it entered, and who finds that all have computes everybody's end, with the engine's own code, before it lets MPI's
// form go on. So each knows its end when MPI's form has ended. On contention-free networks, where stamps go from rank to
// rank, too (docs/architecture.md, "Off the critical path"). With the runtime's lock held.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "netmodel/collectives/selection.hpp"
#include "netmodel/network_model.hpp"
#include "semantics/schedule_lanes.hpp"
#include "stubs/transport/segment.hpp"
#include "support/ids.hpp"
#include "support/units.hpp"

namespace nplus1::stubs {

class CollectiveEnds {
 public:
  void begin(const netmodel::NetworkModel& network, netmodel::Selection selection, RankId me,
             const transport::Segment& segment);
  /// Whether begin() was called.
  [[nodiscard]] bool are_known() const { return network_ != nullptr; }

  /// I enter the `number`-th such call on the communicator of this `key`; `members`: world ranks, in its order. `call` is the same
  /// at all members but for `me` and `members`, which are filled in.
  void enter(std::uint64_t key, std::uint64_t number, std::span<const std::int32_t> members,
             netmodel::CollectiveCall call, Time entry);
  /// When the call entered last ends for me; nothing if somebody has not entered it here: then only the simulator knows.
  [[nodiscard]] std::optional<Time> exit() const;

 private:
  [[nodiscard]] transport::CollectiveSlot& slot(std::int32_t rank) const {
    return segment_.rank(rank).collective;
  }
  [[nodiscard]] bool all_have_entered(std::span<const std::int32_t> members) const;
  void tell_all(std::span<const std::int32_t> members, netmodel::CollectiveCall call);

  const netmodel::NetworkModel* network_ = nullptr;
  netmodel::Selection selection_;
  RankId me_{};
  transport::Segment segment_;
  std::uint64_t call_ = ~std::uint64_t{0};  // the one entered last; at first none
  Time entry_{};
  // Of the call that is computed:
  std::vector<RankId> ranks_;
  std::vector<semantics::ScheduleLane> lanes_;
  semantics::Transfers transfers_;
  std::vector<std::int32_t> runnable_;
};

}  // namespace nplus1::stubs
