#include "simnode/engine/agenda.hpp"

#include <algorithm>

namespace nplus1::simnode::engine {

void Agenda::touch(RankId rank) {
  Rank& r = lanes_.rank_of(rank);
  const bool matters = r.mailbox.has_undecided() || r.candidate || r.probing != 0;
  if (r.dirty || !matters) return;
  r.dirty = true;
  touched_.push_back(rank);
}

bool Agenda::safe(const Item& item) {
  if (lanes_.running_bound() == kNever) return true;
  if (lanes_.may_act_until(item.time)) return false;
  // The rank's own threads post receives and probe without any latency: they must have come this far.
  const Rank& rank = lanes_.rank_of(rank_of(item));
  return std::all_of(rank.lanes.begin(), rank.lanes.end(), [&](std::uint32_t i) {
    if (i == kNoLane || lanes_[i].run != Run::kRunning || rank.withdrawn) return true;
    return std::max(lanes_[i].clock, lanes_[i].bound) >= item.time;
  });
}

RankId Agenda::rank_of(const Item& item) const {
  if (is_match(item)) return RankId{static_cast<std::int32_t>(item.item)};
  return lanes_[item.item - static_cast<std::uint32_t>(lanes_.ranks())].rank;
}

}  // namespace nplus1::simnode::engine
