#include "overlap/plan.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "overlap/one_wait.hpp"

namespace nplus1::overlap {
namespace {

/// What keeps its order: posts with the same peer, communicator and direction.
using Order = std::tuple<std::int32_t, std::uint32_t, bool>;

Order order_of(const MessageEnd& end) {
  return {end.event.peer, end.event.comm.value, end.receives()};
}

/// What is started with the chain in front and is waited for in its own chain is one move: posted where the first says,
/// waited for where the second does.
void unite(std::vector<Move>& moves) {
  std::size_t kept = 0;
  for (const Move& move : moves) {
    if (kept == 0 || moves[kept - 1].end != move.end) {
      moves[kept++] = move;
      continue;
    }
    Move& one = moves[kept - 1];
    if (move.post < one.post) {
      one.post = move.post;
      one.before_waits = move.before_waits;
    }
    one.wait = std::max(one.wait, move.wait);
  }
  moves.resize(kept);
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

bool changes(const SurveyedRank& rank, const Move& move) {
  const MessageEnd& end = rank.ends[move.end];
  const Moment* own = rank.moment(end.ordinal);
  if (move.post != place_of(*own)) return true;
  // Both halves of an MPI_Sendrecv are calls of their own now.
  return move.wait > Position{end.completed + 1, 0} || (end.blocks() && end.completed != end.ordinal);
}

/// The blocking calls become non-blocking where they are, and are waited for at `wait`.
void defer_calls(const SurveyedRank& rank, const std::vector<Bounds>& bounds, const ChainInstance& instance,
                 const Position& wait, std::vector<Move>& moves) {
  for (const std::uint32_t i : instance.members) {
    const MessageEnd& end = rank.ends[i];
    if (bounds[i].deferrable && end.blocks() && !end.to_nobody())
      moves.push_back({i, place_of(*rank.moment(end.ordinal)), wait});
  }
}

void add_grouped(const SurveyedRank& rank, const std::vector<Bounds>& bounds, const ChainInstance& instance,
                 bool merged, std::vector<Move>& moves) {
  const Moment* ends = rank.moment(instance.end);
  if (ends == nullptr) return;
  defer_calls(rank, bounds, instance, place_of(*ends), moves);
  if (!merged || instance.merged.empty()) return;
  // Started in front of the receive that ends the chain, waited for where they were.
  for (const std::uint32_t i : instance.merged) {
    const MessageEnd& end = rank.ends[i];
    const Moment* done = rank.moment(end.completed);
    moves.push_back({i, {instance.end, ends->compute_ps}, {done->ordinal + 1, 0}, true});
  }
}

/// Each chain with its parts is a change of the source; parts of another that is changed are none of their own.
void add_one_wait(const Survey& survey, const Analysis& analysis, const std::vector<std::size_t>& chains,
                  Plan& plan) {
  std::vector<std::vector<std::size_t>> groups;
  for (const std::size_t c : chains) groups.push_back(with_parts(analysis, c));
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
  std::set<std::size_t> changed;
  for (auto& group : groups) {
    if (changed.contains(group.front())) continue;
    std::erase_if(group, [&changed](std::size_t c) { return changed.contains(c); });
    changed.insert(group.begin(), group.end());
    const OneWaitPlaces places{survey, analysis, group};
    const auto rounds = rounds_of(analysis, plan.size(), group);
    for (std::size_t r = 0; r < plan.size(); ++r)
      for (std::size_t i = 0; i < rounds[r].size(); ++i)
        if (survey.ranks()[r].moment(rounds[r][i]->end) != nullptr)
          defer_calls(survey.ranks()[r], analysis.bounds[r], *rounds[r][i], places.of(*rounds[r][i], i),
                      plan[r]);
  }
}

}  // namespace

Plan plan_of(const Survey& survey, const Analysis& analysis, const std::vector<std::size_t>& chains,
             Variant variant) {
  Plan plan(survey.ranks().size());
  if (variant == Variant::kOneWait) add_one_wait(survey, analysis, chains, plan);
  for (const std::size_t c : variant == Variant::kOneWait ? std::vector<std::size_t>{} : chains)
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
    unite(plan[r]);
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
