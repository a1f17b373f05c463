#include "detector/doubts.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <boost/pending/disjoint_sets.hpp>

#include "detector/finding_parts.hpp"

namespace nplus1::detector {
namespace {

using LineId = std::size_t;

/// The lines that messages are sent from, numbered; of each message its line, so that nobody need look at it again.
class Lines {
 public:
  Lines(const Transfers& transfers, const events::DefinitionsCollector& definitions)
      : definitions_{definitions} {
    of_message_.reserve(transfers.all.size());
    for (const Transfer& t : transfers.all) {
      const LineId line = of(t.send_site);
      if (line >= messages_.size()) messages_.resize(line + 1);
      messages_[line] += t.captured() ? 0U : 1U;
      of_message_.push_back(static_cast<std::uint32_t>(line));
    }
  }
  [[nodiscard]] std::size_t count() const { return ids_.size(); }
  /// How many messages of a line are none of MPI's own.
  [[nodiscard]] std::size_t messages(LineId line) const { return messages_[line]; }
  [[nodiscard]] LineId of(TransferIndex message) const { return of_message_[message]; }
  [[nodiscard]] std::set<LineId> of(const Instance& instance) const {
    std::set<LineId> lines;
    LineId before = ids_.size();
    for (const TransferIndex i : instance.transfers) {
      const LineId line = of(i);
      if (line != before) lines.insert(line);  // mostly the same again: a set takes longer
      before = line;
    }
    return lines;
  }

 private:
  LineId of(CallSiteId site) {
    if (site == last_site_) return last_;
    const auto [place, is_new] = of_site_.try_emplace(site, 0);
    if (is_new) place->second = ids_.try_emplace(text(site), ids_.size()).first->second;
    last_site_ = site;
    return last_ = place->second;
  }
  [[nodiscard]] std::string text(CallSiteId site) const {
    const events::CallPath* path = definitions_.call_path(site);
    if (path == nullptr || path->frames.empty()) return fmt::format("{}", site.value);
    return text_of(path->frames.front()) + (path->frames.size() > 1 ? text_of(path->frames[1]) : "");
  }
  const events::DefinitionsCollector& definitions_;
  std::unordered_map<CallSiteId, LineId> of_site_;
  std::map<std::string, LineId> ids_;
  std::vector<std::uint32_t> of_message_;
  std::vector<std::size_t> messages_;
  CallSiteId last_site_{~std::uint32_t{0}};
  LineId last_ = 0;
};

struct Tally {
  std::size_t explained = 0;  // messages of operations that are more than possible
  std::size_t all = 0;
  std::size_t leading_out = 0;    // unexplained, between ranks of different groups
  std::size_t constants_out = 0;  // of these, constants: nobody's data, but they may be a part of a vector
};

void doubt(Instance& instance, std::string why) {
  instance.verdict.certainty = Certainty::kPossible;
  add_new(instance.verdict.evidence, {std::move(why)});
}

/// Of each rank, which of the groups of operations that are more than possible it is in: the last, if they overlap.
std::vector<std::size_t> groups_of_ranks(std::int32_t ranks, std::span<const std::vector<Instance>> found) {
  std::vector<std::size_t> group(static_cast<std::size_t>(ranks));
  std::map<Group, std::size_t> ids;
  for (const auto& list : found)
    for (const Instance& i : list) {
      if (i.verdict.certainty == Certainty::kPossible) continue;
      const auto [place, first] = ids.try_emplace(i.verdict.ranks, ids.size() + 1);
      if (!first) continue;
      for (const std::int32_t r : i.verdict.ranks) group[static_cast<std::size_t>(r)] = place->second;
    }
  return group;
}

/// Of each line. Constants neither prove nor disprove anything. To see that they are takes longer than all the rest:
/// only where it may matter.
std::vector<Tally> tallies_of(const Transfers& transfers, const Lines& lines,
                              std::span<const std::vector<Instance>> found) {
  std::vector<Tally> tallies(lines.count());
  for (LineId line = 0; line < lines.count(); ++line) tallies[line].all = lines.messages(line);
  std::vector<bool> explained(transfers.all.size());
  for (const auto& list : found)
    for (const Instance& instance : list)
      if (instance.verdict.certainty > Certainty::kPossible)
        for (const TransferIndex i : instance.transfers) {
          ++tallies[lines.of(i)].explained;
          explained[i] = true;
        }
  const auto group = groups_of_ranks(transfers.ranks, found);
  for (TransferIndex i = 0; i < transfers.all.size(); ++i) {
    Tally& its = tallies[lines.of(i)];
    if (explained[i] || its.explained == 0) continue;
    const Transfer& t = transfers.all[i];
    if (t.captured() || t.content.bytes == 0) continue;
    const bool out =
        group[static_cast<std::size_t>(t.source)] != group[static_cast<std::size_t>(t.destination)];
    if (t.content.is_constant()) {
      --its.all;
      its.constants_out += out ? 1U : 0U;
    } else if (out) {
      ++its.leading_out;
    }
  }
  return tallies;
}

/// Whether other ranks get (or give) other data: constants, too.
bool is_of_parts(CollectiveKind kind) {
  return kind == CollectiveKind::kScatter || kind == CollectiveKind::kScatterv ||
         kind == CollectiveKind::kGather || kind == CollectiveKind::kGatherv;
}

void doubt_rare_ones(const Lines& lines, const std::vector<Tally>& tallies,
                     const std::set<Group>& communicators, std::span<std::vector<Instance>> found) {
  for (auto& list : found)
    for (Instance& instance : list) {
      if (instance.verdict.certainty == Certainty::kPossible) continue;
      Tally sum;
      for (const LineId line : lines.of(instance)) {
        sum.explained += tallies[line].explained;
        sum.all += tallies[line].all;
        sum.leading_out += tallies[line].leading_out;
        if (is_of_parts(instance.verdict.kind)) sum.leading_out += tallies[line].constants_out;
      }
      // What only the order of messages shows is shown only where there are no others.
      const bool rare =
          instance.verdict.by_order ? 20 * sum.explained < 19 * sum.all : 3 * sum.explained < 2 * sum.all;
      if (rare)
        doubt(instance, fmt::format("only {} of {} messages of these lines belong to such operations",
                                    sum.explained, sum.all));
      else if (sum.leading_out > 0 && !communicators.contains(instance.verdict.ranks))
        doubt(instance,
              fmt::format("{} messages of these lines go to or come from other ranks", sum.leading_out));
    }
}

/// A barrier's messages say nothing. Where they say now this, now that, they are flags.
void doubt_flags(std::span<Instance* const> found) {
  std::set<std::uint64_t> contents;
  for (const Instance* i : found)
    if (i->verdict.kind == CollectiveKind::kBarrier) contents.insert(i->verdict.payload);
  if (contents.size() < 2) return;
  for (Instance* i : found)
    if (i->verdict.kind == CollectiveKind::kBarrier && i->verdict.payload != 0)
      doubt(*i, "what the messages say is not the same each time: they may be flags");
}

/// Operations of the same lines speak for each other, but for as many places as there are to look for one.
void doubt_weak_ones(std::span<Instance* const> found, std::size_t messages) {
  std::map<std::pair<CollectiveKind, std::optional<Operation>>, std::vector<Instance*>> alike;
  for (Instance* i : found) alike[{i->verdict.kind, i->verdict.operation}].push_back(i);
  for (const auto& [kind, list] : alike) {
    double bits = 0;
    double places = 0;
    const auto before = [](const Instance* a, const Instance* b) {  // roots are few, and differ more often
      return std::tie(a->verdict.roots, a->verdict.ranks) < std::tie(b->verdict.roots, b->verdict.ranks);
    };
    std::set<const Instance*, decltype(before)> known{before};
    for (const Instance* i : list) {
      const bool again = !known.insert(i).second;
      bits += i->verdict.proof - (again ? i->verdict.proof_once : 0);
      places += static_cast<double>(messages) / static_cast<double>(i->transfers.size());
    }
    const auto n = static_cast<double>(list.size());
    bits -= n * std::log2(std::max(1.0, places / n / n));
    for (Instance* i : list) {
      Certainty& certainty = i->verdict.certainty;
      if (certainty > Certainty::kPossible && bits < kProbableProof)
        doubt(*i,
              i->verdict.by_order || i->verdict.kind == CollectiveKind::kBarrier
                  ? "too few messages for a proof: so many others may look the same"
                  : "too few and too simple numbers for a proof: other exchanges of such numbers may look "
                    "the same");
      else if (bits < kCertainProof)
        certainty = std::min(certainty, Certainty::kProbable);
    }
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
  for (const auto& own : messages) {
    const Group& group = own.first;
    if (!communicators.contains(group) && std::ranges::any_of(messages, [&](const auto& other) {
          return other.first.size() > group.size() && other.second > kFarMore * own.second &&
                 std::ranges::includes(other.first, group);
        }))
      doubtful.insert(group);
  }
  for (Instance* i : found)
    if (doubtful.contains(i->verdict.ranks)) doubt(*i, "these lines mostly do that among more ranks");
}

/// Groups of ranks that overlap without being the same: everybody has partners of its own. A root may have several.
void doubt_overlapping(const std::set<Group>& communicators, std::span<Instance* const> found) {
  constexpr std::size_t kMostGroups = 2000;  // are compared in pairs
  constexpr std::size_t kFarMore = 16;
  std::map<Group, std::pair<std::size_t, std::set<std::int32_t>>> groups;  // messages, and roots
  for (const Instance* i : found) {
    auto& [messages, roots] = groups[i->verdict.ranks];
    messages += i->transfers.size();
    roots.insert(i->verdict.roots.begin(), i->verdict.roots.end());
  }
  if (groups.size() < 2 || groups.size() > kMostGroups) return;
  std::set<Group> doubtful;
  for (const auto& [group, of] : groups)
    for (const auto& [other, its] : groups) {
      Group both;
      std::ranges::set_intersection(group, other, std::back_inserter(both));
      const bool same_root = both.size() == 1 && of.second == its.second && of.second.size() == 1;
      if (!both.empty() && group != other && !same_root && !communicators.contains(group) &&
          of.first <= kFarMore * its.first)
        doubtful.insert(group);
    }
  for (Instance* i : found)
    if (doubtful.contains(i->verdict.ranks))
      doubt(*i, "the same lines do that among ranks of which only some are these");
}

}  // namespace

void doubt_exceptions(const Transfers& transfers, const events::DefinitionsCollector& definitions,
                      std::span<std::vector<Instance>> found) {
  const Lines lines{transfers, definitions};
  const std::vector<Tally> tallies = tallies_of(transfers, lines, found);
  const std::set<Group> communicators = communicators_of(definitions);
  doubt_rare_ones(lines, tallies, communicators, found);
  boost::disjoint_sets_with_storage<> together{lines.count() + found.size()};
  for (std::size_t list = 0; list < found.size(); ++list)
    for (const Instance& instance : found[list])
      for (const LineId line : lines.of(instance)) together.union_set(line, lines.count() + list);
  std::map<std::size_t, std::vector<Instance*>> groups;
  for (std::size_t list = 0; list < found.size(); ++list)
    for (Instance& instance : found[list])
      groups[together.find_set(lines.count() + list)].push_back(&instance);
  std::map<std::size_t, std::size_t> messages;
  for (std::size_t line = 0; line < tallies.size(); ++line)
    messages[together.find_set(line)] += tallies[line].all;
  for (const auto& [id, instances] : groups) {
    doubt_minorities(communicators, instances);
    doubt_overlapping(communicators, instances);
    doubt_flags(instances);
    doubt_weak_ones(instances, messages[id]);
  }
  // What is left may be rare now.
  doubt_rare_ones(lines, tallies_of(transfers, lines, found), communicators, found);
}

}  // namespace nplus1::detector
