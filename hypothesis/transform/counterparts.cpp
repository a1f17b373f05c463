#include "hypothesis/transform/counterparts.hpp"

#include <algorithm>
#include <boost/pending/disjoint_sets.hpp>
#include <numeric>

namespace nplus1::hypothesis::transform {
namespace {

using Ranks = std::vector<std::vector<ComputedInterval>>;
using Kinds = std::map<IntervalKind, std::uint32_t>;
using Places = std::vector<std::optional<std::size_t>>;  // by kind

enum class Role : std::uint8_t {
  kNone,  // of the least, or there is none
  kOnce,  // the first one, or the last: it has a call path at one side in common with others
  kMain,
};

/// By kind.
std::vector<Role> roles(const std::vector<ComputedInterval>& intervals, std::size_t kinds) {
  std::vector<double> time(kinds);
  std::vector<std::size_t> often(kinds);
  for (const ComputedInterval& interval : intervals) {
    time[interval.kind] += interval.compute;
    ++often[interval.kind];
  }
  std::vector<std::size_t> order(kinds);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return time[a] < time[b]; });
  const double little = kInPassing * std::accumulate(time.begin(), time.end(), 0.0);
  std::vector<Role> role(kinds);
  double sum = 0;
  for (const std::size_t kind : order) {
    sum += time[kind];
    role[kind] = often[kind] == 1 ? Role::kOnce : sum > little ? Role::kMain : Role::kNone;
  }
  return role;
}

/// The place of each kind: main ones that have a call path at one side in common are at one, others where their one known call
/// path says.
Places places(const std::vector<std::vector<Role>>& roles, const Kinds& kinds) {
  boost::disjoint_sets_with_storage<> sets{kinds.size()};
  std::map<std::uint32_t, std::size_t> behind, before;  // a main kind with this call path there
  std::vector<bool> is_main(kinds.size());
  for (const auto& of_rank : roles)
    for (std::size_t kind = 0; kind < kinds.size(); ++kind)
      if (of_rank[kind] == Role::kMain) is_main[kind] = true;
  for (const auto& [paths, number] : kinds) {
    const std::size_t kind = number;
    if (!is_main[kind]) continue;
    sets.union_set(behind.emplace(paths.first, kind).first->second, kind);
    sets.union_set(before.emplace(paths.second, kind).first->second, kind);
  }
  Places place(kinds.size());
  for (const auto& [paths, kind] : kinds) {
    const auto first = behind.find(paths.first), second = before.find(paths.second);
    if ((first == behind.end()) != (second == before.end()) || is_main[kind])
      place[kind] = sets.find_set(first != behind.end() ? first->second : second->second);
  }
  return place;
}

/// How often a rank is at a place: by its main kinds alone, and with what happens once.
struct Visits {
  std::size_t rank, main = 0, all = 0;
};

/// By place, of the ranks that have a main kind there.
std::map<std::size_t, std::vector<Visits>> visits_of(const Ranks& ranks,
                                                     const std::vector<std::vector<Role>>& roles,
                                                     const Places& place) {
  std::map<std::size_t, std::vector<Visits>> all;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    std::map<std::size_t, Visits> of_rank;
    for (const ComputedInterval& interval : ranks[r]) {
      const Role role = roles[r][interval.kind];
      if (role == Role::kNone || !place[interval.kind]) continue;
      Visits& there = of_rank.try_emplace(*place[interval.kind], Visits{r}).first->second;
      ++there.all;
      if (role == Role::kMain) ++there.main;
    }
    for (const auto& [where, there] : of_rank)
      if (there.main > 0) all[where].push_back(there);
  }
  return all;
}

/// Takes out the most of those that can be at a place equally often, and says how often; nobody where that would be a single one.
std::pair<std::vector<Visits>, std::size_t> take_most(std::vector<Visits>& left) {
  std::map<std::size_t, std::size_t> votes;
  for (const Visits& visits : left) {
    ++votes[visits.main];
    if (visits.all != visits.main) ++votes[visits.all];
  }
  const auto most = std::max_element(votes.begin(), votes.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == votes.end() || most->second < 2) return {};
  const std::size_t often = most->first;
  const auto taken = std::stable_partition(left.begin(), left.end(), [&](const Visits& visits) {
    return visits.main != often && visits.all != often;
  });
  std::vector<Visits> members(taken, left.end());
  left.erase(taken, left.end());
  return {std::move(members), often};
}

}  // namespace

Counterparts::Counterparts(const Ranks& ranks, const Kinds& kinds)
    : kinds_{kinds}, group_of_(ranks.size(), std::vector<std::optional<std::size_t>>(kinds.size())) {
  std::vector<std::vector<Role>> roles_of;
  for (const auto& intervals : ranks) roles_of.push_back(roles(intervals, kinds.size()));
  const Places place = places(roles_of, kinds);
  std::map<std::size_t, std::vector<std::size_t>> kinds_at;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind)
    if (place[kind]) kinds_at[*place[kind]].push_back(kind);

  for (auto& [where, left] : visits_of(ranks, roles_of, place))
    for (auto taken = take_most(left); !taken.first.empty(); taken = take_most(left)) {
      Group& group = groups_.emplace_back();
      group.sums.resize(taken.second);
      for (const Visits& visits : taken.first) {
        group.ranks.push_back(visits.rank);
        const Role least = visits.main == taken.second ? Role::kMain : Role::kOnce;
        for (const std::size_t kind : kinds_at[where])
          if (roles_of[visits.rank][kind] >= least) group_of_[visits.rank][kind] = groups_.size() - 1;
      }
    }

  for (std::size_t r = 0; r < ranks.size(); ++r) {
    std::vector<std::size_t> so_far(groups_.size());
    for (const ComputedInterval& interval : ranks[r])
      if (const auto group = group_of_[r][interval.kind])
        groups_[*group].sums[so_far[*group]++] += interval.compute;
  }
}

std::optional<std::size_t> Counterparts::group(RankId rank, const IntervalKind& kind) const {
  const auto number = kinds_.find(kind);
  if (number == kinds_.end() || rank.index() >= group_of_.size()) return std::nullopt;
  return group_of_[rank.index()][number->second];
}

}  // namespace nplus1::hypothesis::transform
