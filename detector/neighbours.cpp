#include "detector/neighbours.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace nplus1::detector {
namespace {

/// At least so many small groups that overlap without being equal are neighbours' exchanges.
constexpr std::size_t kOverlappingGroups = 3;
/// More groups than this are not compared one by one.
constexpr std::size_t kMostGroups = 2000;

struct Use {
  std::set<std::int32_t> roots;
  std::uint64_t instances = 0;
  bool overlaps = false;
  bool answered = false;     // members spread to its root, too
  bool by_direction = true;  // the root alone sends, each message from another call
};

bool is_by_direction(const Transfers& transfers, const Instance& instance) {
  std::set<CallSiteId> sites;
  std::set<std::int32_t> destinations;
  for (const TransferIndex i : instance.transfers) {
    const Transfer& t = transfers.all[i];
    if (t.source != transfers.all[instance.transfers.front()].source) return false;
    sites.insert(t.send_site);
    destinations.insert(t.destination);
  }
  return sites.size() > 1 && sites.size() == destinations.size();
}

bool overlap_partly(const Group& a, const Group& b) {
  Group both;
  std::ranges::set_intersection(a, b, std::back_inserter(both));
  return !both.empty() && a != b;
}

bool has(const Group& group, std::int32_t rank) {
  return std::ranges::binary_search(group, rank);
}

/// Whether a member of `group` has a group of its own with the root in it.
bool is_answered(const Group& group, const Use& use, const std::map<Group, Use>& all) {
  const std::int32_t root = *use.roots.begin();
  return std::ranges::any_of(all, [&](const auto& other) {
    return other.first != group && has(other.first, root) &&
           std::ranges::any_of(other.second.roots,
                               [&](std::int32_t r) { return r != root && has(group, r); });
  });
}

std::map<Group, Use> uses_of(const Transfers& transfers, const std::vector<Instance>& found) {
  std::map<Group, Use> uses;
  for (const Instance& i : found) {
    Use& use = uses[i.verdict.ranks];
    use.roots.insert(i.verdict.roots.begin(), i.verdict.roots.end());
    use.instances += i.repetitions;
    use.by_direction = use.by_direction && is_by_direction(transfers, i);
  }
  if (uses.size() > kMostGroups) return uses;
  for (auto& of_group : uses) {
    const Group& group = of_group.first;
    Use& use = of_group.second;
    use.overlaps =
        std::ranges::any_of(uses, [&](const auto& other) { return overlap_partly(group, other.first); });
    use.answered = !use.roots.empty() && is_answered(group, use, uses);
  }
  return uses;
}

bool is_neighbourhood(const Use& use) {
  return use.overlaps && use.roots.size() == 1 && (use.answered || use.instances == 1 || use.by_direction);
}

bool is_scatter(const Instance& i) {
  return i.verdict.kind == CollectiveKind::kScatter || i.verdict.kind == CollectiveKind::kScatterv;
}

/// Whether the later one's root sends before it has its part of the earlier one: they do not follow each other.
bool is_at_once(const Transfers& transfers, const Instance& earlier, const Instance& later) {
  const std::int32_t root = later.verdict.roots.front();
  const std::uint32_t begin = transfers.all[later.transfers.front()].sent_at;
  return std::ranges::any_of(earlier.transfers, [&](TransferIndex i) {
    return transfers.all[i].destination == root && transfers.all[i].received_at > begin;
  });
}

/// Scatters of several roots at the same time: everybody sends something else to each of its neighbours.
std::vector<bool> scattered_at_once(const Transfers& transfers, const std::vector<Instance>& found) {
  std::vector<bool> result(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!is_scatter(found[i])) continue;
    const std::size_t members = found[i].verdict.ranks.size();
    for (std::size_t k = i + 1; k < std::min(found.size(), i + members); ++k)
      if (is_scatter(found[k]) && is_at_once(transfers, found[i], found[k])) result[i] = result[k] = true;
  }
  return result;
}

/// One finding of all that `belongs` to it, which is taken out of `found`.
Instance one_exchange(std::vector<Instance>& found, const std::vector<bool>& belongs, CollectiveKind kind,
                      std::string evidence) {
  Instance all;
  std::vector<Instance> kept;
  std::set<std::int32_t> ranks;
  for (std::size_t i = 0; i < found.size(); ++i) {
    Instance& instance = found[i];
    if (!belongs[i]) {
      kept.push_back(std::move(instance));
      continue;
    }
    ranks.insert(instance.verdict.ranks.begin(), instance.verdict.ranks.end());
    all.transfers.insert(all.transfers.end(), instance.transfers.begin(), instance.transfers.end());
    all.verdict.bytes = std::max(all.verdict.bytes, instance.verdict.bytes);
  }
  found = std::move(kept);
  all.verdict.kind = kind;
  all.verdict.certainty = Certainty::kPossible;
  all.verdict.ranks.assign(ranks.begin(), ranks.end());
  all.verdict.evidence = {std::move(evidence)};
  return all;
}

}  // namespace

std::vector<Instance> without_neighbours(const Transfers& transfers, std::vector<Instance> found) {
  if (const auto at_once = scattered_at_once(transfers, found); std::ranges::count(at_once, true) > 0) {
    Instance exchange =
        one_exchange(found, at_once, CollectiveKind::kNeighborAlltoall,
                     "several ranks at the same time send something else to each of several others");
    found.push_back(std::move(exchange));
  }
  const std::map<Group, Use> uses = uses_of(transfers, found);
  const auto groups =
      std::ranges::count_if(uses, [](const auto& use) { return is_neighbourhood(use.second); });
  if (groups < static_cast<std::ptrdiff_t>(kOverlappingGroups)) return found;
  // Of these the largest number of groups says nothing that one does not: one finding on all their ranks.
  std::vector<bool> belongs;
  for (const Instance& i : found) belongs.push_back(is_neighbourhood(uses.at(i.verdict.ranks)));
  Instance exchange =
      one_exchange(found, belongs, CollectiveKind::kNeighborAllgather,
                   std::to_string(groups) +
                       " overlapping groups spread data from the same lines: neighbours that exchange the "
                       "same with several others");
  found.push_back(std::move(exchange));
  return found;
}

}  // namespace nplus1::detector
