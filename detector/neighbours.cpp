#include "detector/neighbours.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace nplus1::detector {
namespace {

using Group = std::vector<std::int32_t>;

/// At least so many small groups that overlap without being equal are neighbours' exchanges.
constexpr std::size_t kOverlappingGroups = 3;
/// More groups than this are not compared one by one.
constexpr std::size_t kMostGroups = 2000;

struct Use {
  std::set<std::int32_t> roots;
  std::uint64_t instances = 0;
  bool overlaps = false;
  bool answered = false;  // members spread to its root, too
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
  for (auto& [group, use] : uses) {
    use.overlaps =
        std::ranges::any_of(uses, [&](const auto& other) { return overlap_partly(group, other.first); });
    use.answered = !use.roots.empty() && is_answered(group, use, uses);
  }
  return uses;
}

bool is_neighbourhood(const Use& use) {
  return use.overlaps && use.roots.size() == 1 && (use.answered || use.instances == 1 || use.by_direction);
}

}  // namespace

std::vector<Instance> without_neighbours(const Transfers& transfers, std::vector<Instance> found) {
  const std::map<Group, Use> uses = uses_of(transfers, found);
  const auto groups =
      std::ranges::count_if(uses, [](const auto& use) { return is_neighbourhood(use.second); });
  if (groups < static_cast<std::ptrdiff_t>(kOverlappingGroups)) return found;
  // Of these the largest number of groups says nothing that one does not: one finding on all their ranks.
  std::vector<Instance> kept;
  Instance all;
  std::set<std::int32_t> ranks;
  for (Instance& i : found) {
    if (!is_neighbourhood(uses.at(i.verdict.ranks))) {
      kept.push_back(std::move(i));
      continue;
    }
    ranks.insert(i.verdict.ranks.begin(), i.verdict.ranks.end());
    all.transfers.insert(all.transfers.end(), i.transfers.begin(), i.transfers.end());
    all.verdict.bytes = std::max(all.verdict.bytes, i.verdict.bytes);
  }
  all.verdict.kind = CollectiveKind::kNeighborAllgather;
  all.verdict.certainty = Certainty::kPossible;
  all.verdict.ranks.assign(ranks.begin(), ranks.end());
  all.verdict.evidence = {
      std::to_string(groups) +
      " overlapping groups spread data from the same lines: neighbours that exchange the same with "
      "several others"};
  kept.push_back(std::move(all));
  return kept;
}

}  // namespace nplus1::detector
