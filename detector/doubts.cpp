#include "detector/doubts.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <boost/pending/disjoint_sets.hpp>

#include "detector/finding_parts.hpp"

namespace nplus1::detector {
namespace {

using LineId = std::size_t;
using Group = std::vector<std::int32_t>;

/// Numbers the lines that messages are sent from.
class Lines {
 public:
  explicit Lines(const events::DefinitionsCollector& definitions) : definitions_{definitions} {}
  [[nodiscard]] std::size_t count() const { return ids_.size(); }
  LineId of(CallSiteId site) {
    if (site == last_site_) return last_;
    const auto [place, is_new] = of_site_.try_emplace(site, 0);
    if (is_new) place->second = ids_.try_emplace(text(site), ids_.size()).first->second;
    last_site_ = site;
    return last_ = place->second;
  }
  std::set<LineId> of(const Transfers& transfers, const Instance& instance) {
    std::set<LineId> lines;
    CallSiteId before{~std::uint32_t{0}};
    for (const TransferIndex i : instance.transfers) {
      const CallSiteId site = transfers.all[i].send_site;
      if (site != before) lines.insert(of(site));  // mostly the same again: a set takes longer
      before = site;
    }
    return lines;
  }

 private:
  [[nodiscard]] std::string text(CallSiteId site) const {
    const events::CallPath* path = definitions_.call_path(site);
    if (path == nullptr || path->frames.empty()) return fmt::format("{}", site.value);
    return text_of(path->frames.front()) + (path->frames.size() > 1 ? text_of(path->frames[1]) : "");
  }
  const events::DefinitionsCollector& definitions_;
  std::unordered_map<CallSiteId, LineId> of_site_;
  std::map<std::string, LineId> ids_;
  CallSiteId last_site_{~std::uint32_t{0}};
  LineId last_ = 0;
};

struct Tally {
  std::size_t explained = 0;  // messages of operations that are more than possible
  std::size_t all = 0;
};

void doubt(Instance& instance, std::string why) {
  instance.verdict.certainty = Certainty::kPossible;
  add_new(instance.verdict.evidence, {std::move(why)});
}

void doubt_rare_ones(const Transfers& transfers, Lines& lines, std::span<std::vector<Instance>> found) {
  std::vector<Tally> tallies;
  const auto tally = [&](TransferIndex i) -> Tally& {
    const LineId line = lines.of(transfers.all[i].send_site);
    if (line >= tallies.size()) tallies.resize(line + 1);
    return tallies[line];
  };
  for (TransferIndex i = 0; i < transfers.all.size(); ++i)
    tally(i).all += transfers.all[i].captured() ? 0U : 1U;
  for (const auto& list : found)
    for (const Instance& instance : list)
      if (instance.verdict.certainty > Certainty::kPossible)
        for (const TransferIndex i : instance.transfers) ++tally(i).explained;
  // Constants neither prove nor disprove anything. To see that they are takes longer than all the rest: only where it
  // may matter.
  std::vector<bool> matters;
  for (const Tally& t : tallies) matters.push_back(t.explained > 0 && 3 * t.explained < 2 * t.all);
  for (TransferIndex i = 0; i < transfers.all.size(); ++i) {
    const Transfer& t = transfers.all[i];
    if (!t.captured() && t.content.bytes > 0 && matters[lines.of(t.send_site)] && t.content.is_constant())
      --tally(i).all;
  }
  for (auto& list : found)
    for (Instance& instance : list) {
      Tally sum;
      for (const LineId line : lines.of(transfers, instance)) {
        sum.explained += tallies[line].explained;
        sum.all += tallies[line].all;
      }
      if (instance.verdict.certainty > Certainty::kPossible && 3 * sum.explained < 2 * sum.all)
        doubt(instance, fmt::format("only {} of {} messages of these lines belong to such operations",
                                    sum.explained, sum.all));
    }
}

std::set<Group> communicators_of(const events::DefinitionsCollector& definitions) {
  std::set<Group> groups;
  for (const auto& [id, comm] : definitions.communicators()) {
    Group members;
    for (const RankId r : comm.members) members.push_back(r.value);
    std::ranges::sort(members);
    groups.insert(std::move(members));
  }
  return groups;
}

/// Of instances that have to do with each other.
void doubt_minorities(const std::set<Group>& communicators, std::span<Instance* const> found) {
  constexpr std::size_t kFarMore = 4;
  constexpr std::size_t kMostGroups = 2000;  // are compared in pairs
  std::map<Group, std::size_t> messages;
  for (const Instance* i : found) messages[i->verdict.ranks] += i->transfers.size();
  if (messages.size() < 2 || messages.size() > kMostGroups) return;
  std::set<Group> doubtful;
  for (const auto& [group, n] : messages)
    if (!communicators.contains(group) && std::ranges::any_of(messages, [&](const auto& other) {
          return other.first.size() > group.size() && other.second > kFarMore * n &&
                 std::ranges::includes(other.first, group);
        }))
      doubtful.insert(group);
  for (Instance* i : found)
    if (doubtful.contains(i->verdict.ranks)) doubt(*i, "these lines mostly do that among more ranks");
}

}  // namespace

void doubt_exceptions(const Transfers& transfers, const events::DefinitionsCollector& definitions,
                      std::span<std::vector<Instance>> found) {
  Lines lines{definitions};
  doubt_rare_ones(transfers, lines, found);
  boost::disjoint_sets_with_storage<> together{lines.count() + found.size()};
  for (std::size_t list = 0; list < found.size(); ++list)
    for (const Instance& instance : found[list])
      for (const LineId line : lines.of(transfers, instance)) together.union_set(line, lines.count() + list);
  std::map<std::size_t, std::vector<Instance*>> groups;
  for (std::size_t list = 0; list < found.size(); ++list)
    for (Instance& instance : found[list])
      groups[together.find_set(lines.count() + list)].push_back(&instance);
  const std::set<Group> communicators = communicators_of(definitions);
  for (const auto& [id, instances] : groups) doubt_minorities(communicators, instances);
}

}  // namespace nplus1::detector
