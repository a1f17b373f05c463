#include "patterns/wire.hpp"

#include <algorithm>
#include <stdexcept>

#include "patterns/layers.hpp"
#include "semantics/collective_call.hpp"

namespace nplus1::patterns {
namespace {

/// -1 if `rank` is not a member.
std::int32_t index_in(const std::vector<RankId>& members, RankId rank) {
  if (rank.index() < members.size() && members[rank.index()] == rank) return rank.value;
  const auto at = std::find(members.begin(), members.end(), rank);
  return at == members.end() ? -1 : static_cast<std::int32_t>(at - members.begin());
}

}  // namespace

void Wire::count(const events::TimedEvent& call, const events::Communicator& communicator) {
  const std::vector<RankId>& members = communicator.members;
  const std::int32_t me = index_in(members, call.rank);
  if (selection_ == nullptr || me < 0) return;
  steps_.clear();
  edge_sizes_.clear();
  try {
    const semantics::Membership who{static_cast<std::int32_t>(members.size()), me,
                                    static_cast<std::int32_t>(communicator.first_group)};
    netmodel::append_steps(semantics::collective_call(call.event, call.extension, who, edge_sizes_),
                           *selection_, steps_);
  } catch (const std::invalid_argument&) {
    return;
  }
  any_ = true;
  for (const netmodel::Step& step : steps_) {
    if (step.send_to == netmodel::kNoMember || step.transport == netmodel::Transport::kSignal) continue;
    const auto to = static_cast<std::size_t>(step.send_to);
    if (to >= members.size()) continue;
    pairs_.add(call.rank, members[to], nplus1::count(step.size));
    sizes_.add(nplus1::count(step.size));
  }
}

std::optional<Layer> Wire::with(const Layer& point_to_point) const {
  if (!any_) return std::nullopt;
  Layer layer = point_to_point;
  Layer of_collectives;
  of_collectives.rows = pairs_.rows();
  of_collectives.sizes = sizes_.sizes();
  add_up(of_collectives);
  add(layer, of_collectives);
  layer.name = kWire;
  layer.elements.reset();
  return layer;
}

std::string Wire::collectives() const {
  return selection_ == nullptr ? "" : selection_->describe();
}

}  // namespace nplus1::patterns
