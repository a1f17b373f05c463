#include "overlap/plan.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace nplus1::overlap {
namespace {

/// What keeps its order: posts with the same peer, communicator and direction.
using Order = std::tuple<std::int32_t, std::uint32_t, bool>;

Order order_of(const MessageEnd& end) {
  return {end.event.peer, end.event.comm.value, end.receives()};
}

/// Moves each post behind the one before it, of all that are made in that order.
void keep_order(const SurveyedRank& rank, std::vector<Move>& moves) {
  std::map<Order, Position> last;
  std::size_t next = 0;
  for (std::uint32_t i = 0; i < rank.ends.size() && next < moves.size(); ++i) {
    const std::uint64_t ordinal = rank.ends[i].ordinal;
    Position& before = last[order_of(rank.ends[i])];
    const Position behind{ordinal + 1, 0};  // what stays is posted by its call, not in front of it
    if (moves[next].end != i) {
      before = behind;
      continue;
    }
    Position& post = moves[next++].post;
    post = std::max(post, before);
    before = post == place_of(*rank.moment(ordinal)) ? behind : post;
  }
}

/// Whether the thread is in MPI there.
bool is_call(const Moment& m) {
  return m.kind != events::EventKind::kLocal && m.kind != events::EventKind::kRegionBegin &&
         m.kind != events::EventKind::kRegionEnd;
}

bool changes(const SurveyedRank& rank, const Move& move) {
  const MessageEnd& end = rank.ends[move.end];
  const Moment* own = rank.moment(end.ordinal);
  if (move.post != place_of(*own)) return true;
  // Both halves of an MPI_Sendrecv are calls of their own now.
  return move.wait > Position{end.completed + 1, 0} || (end.blocks() && end.completed != end.ordinal);
}

void add_grouped(const SurveyedRank& rank, const std::vector<Bounds>& bounds, const ChainInstance& instance,
                 bool merged, std::vector<Move>& moves) {
  const Moment* ends = rank.moment(instance.end);
  if (ends == nullptr) return;
  for (const std::uint32_t i : instance.members) {
    const MessageEnd& end = rank.ends[i];
    if (bounds[i].deferrable && end.blocks() && !end.to_nobody())
      moves.push_back({i, place_of(*rank.moment(end.ordinal)), place_of(*ends)});
  }
  if (!merged || instance.merged.empty()) return;
  // Started in front of the receive that ends the chain, waited for where they were.
  for (const std::uint32_t i : instance.merged) {
    const MessageEnd& end = rank.ends[i];
    const Moment* done = rank.moment(end.completed);
    moves.push_back({i, {instance.end, ends->compute_ps}, {done->ordinal + 1, 0}, true});
  }
}

}  // namespace

Plan plan_of(const Survey& survey, const Analysis& analysis, const std::vector<std::size_t>& chains,
             Variant variant) {
  Plan plan(survey.ranks().size());
  for (const std::size_t c : chains)
    for (const ChainInstance& instance : analysis.chains[c].instances) {
      const auto r = static_cast<std::size_t>(instance.rank);
      const SurveyedRank& rank = survey.ranks()[r];
      const std::vector<Bounds>& bounds = analysis.bounds[r];
      if (variant != Variant::kPerRequest) {
        add_grouped(rank, bounds, instance, variant == Variant::kMerged, plan[r]);
        continue;
      }
      for (const std::uint32_t i : instance.members)
        if (bounds[i].deferrable && !rank.ends[i].to_nobody())
          plan[r].push_back({i, bounds[i].earliest, bounds[i].latest});
    }
  bool any = false;
  for (std::size_t r = 0; r < plan.size(); ++r) {
    std::sort(plan[r].begin(), plan[r].end(), [](const Move& a, const Move& b) { return a.end < b.end; });
    keep_order(survey.ranks()[r], plan[r]);
    any = any || std::any_of(plan[r].begin(), plan[r].end(),
                             [&](const Move& m) { return changes(survey.ranks()[r], m); });
  }
  return any ? plan : Plan{};
}

Plan waited_at_once(const Survey& survey) {
  Plan plan(survey.ranks().size());
  bool any = false;
  for (std::size_t r = 0; r < plan.size(); ++r) {
    const SurveyedRank& rank = survey.ranks()[r];
    // Per thread and wait: behind the last call in front of it.
    for (std::uint32_t i = 0; i < rank.ends.size(); ++i) {
      const MessageEnd& end = rank.ends[i];
      if (end.waited != Waited::kAll || end.to_nobody()) continue;
      const Moment* wait = rank.moment(end.completed);
      const auto& lane = rank.of_thread[wait->thread.index()];
      auto at =
          std::lower_bound(lane.begin(), lane.end(), wait->ordinal,
                           [&](std::uint32_t m, std::uint64_t o) { return rank.moments[m].ordinal < o; });
      while (at != lane.begin() && !is_call(rank.moments[*(at - 1)])) --at;
      plan[r].push_back({i, place_of(*rank.moment(end.ordinal)), {rank.moments[*at].ordinal, 0}});
      any = true;
    }
  }
  return any ? plan : Plan{};
}

}  // namespace nplus1::overlap
