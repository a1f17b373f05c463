#include "detector/instances.hpp"

#include <algorithm>
#include <array>
#include <boost/pending/disjoint_sets.hpp>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "detector/merging.hpp"
#include "detector/payload_order.hpp"
#include "detector/trees.hpp"

namespace nplus1::detector {
namespace {

/// Above this, only what payloads alone tell is looked for: the other ways take too long.
constexpr std::size_t kMostForLineage = 2'000'000;

/// With what its ranks had told of parts that they keep: the last before their last call in the list.
TransferList with_captures(const Transfers& transfers, const TransferList& captures,
                           const TransferList& list) {
  if (captures.empty()) return list;
  std::map<std::int32_t, std::uint32_t> last;
  for (const TransferIndex i : list) {
    const Transfer& t = transfers.all[i];
    last[t.source] = std::max(last[t.source], t.sent_at);
    last[t.destination] = std::max(last[t.destination], t.received_at);
  }
  std::map<std::pair<std::int32_t, std::uint64_t>, TransferIndex> latest;  // of each place
  for (const TransferIndex i : captures) {
    const Transfer& t = transfers.all[i];
    const auto found = last.find(t.source);
    if (found != last.end() && t.sent_at < found->second) latest[{t.source, t.source_buffer}] = i;
  }
  TransferList all = list;
  for (const auto& [place, i] : latest) all.push_back(i);
  return all;
}

/// Whether the first `n` messages come from other calls than all others, and to other calls.
bool stand_apart(const Transfers& transfers, std::span<const TransferIndex> list, std::size_t n) {
  return std::ranges::none_of(list.subspan(n), [&](TransferIndex i) {
    return std::ranges::any_of(list.first(n), [&](TransferIndex k) {
      const Transfer& a = transfers.all[i];
      const Transfer& b = transfers.all[k];
      return a.send_site == b.send_site || a.receive_site == b.receive_site;
    });
  });
}

/// A broadcast without what first came by other calls to who then spreads it: the largest value, from where it was to
/// the root of a reduction, whose result is broadcast. `as_one`: judges part of the list.
template <class AsOne>
std::optional<Instance> after_forerunners(const Transfers& transfers, std::span<const TransferIndex> list,
                                          const AsOne& as_one) {
  constexpr std::size_t kMost = 8;
  for (std::size_t n = 1; n < std::min(kMost, list.size() - 1); ++n) {
    if (!stand_apart(transfers, list, n)) continue;
    const auto rest = list.subspan(n);
    auto found = as_one(rest);
    if (found && found->verdict.kind == CollectiveKind::kBcast &&
        rest.size() + 1 == found->verdict.ranks.size())
      return found;
  }
  return std::nullopt;
}

/// The spread of one payload; scratch for all ranks is kept from one to the next.
class Spread {
 public:
  explicit Spread(const Transfers& transfers)
      : transfers_{transfers}, seen_(static_cast<std::size_t>(transfers.ranks)) {}

  /// A broadcast from the first sender, or the same one again and again, if each other sender had received before and
  /// no more messages are left over than one. `list` in order of sending.
  std::optional<Instance> broadcast(std::span<const TransferIndex> list) {
    auto all = as_one(list);
    if (all && list.size() == all->repetitions * (all->verdict.ranks.size() - 1)) return all;
    auto rest = after_forerunners(transfers_, list, [&](auto part) { return as_one(part); });
    return rest ? std::move(rest) : std::move(all);
  }

 private:
  std::optional<Instance> as_one(std::span<const TransferIndex> list) {
    ++epoch_;
    ranks_.clear();
    const Transfer& first = transfers_.all[list.front()];
    visit(first.source).received_at = 0;
    for (const TransferIndex i : list) {
      const Transfer& t = transfers_.all[i];
      if (visit(t.source).received_at > t.sent_at) return std::nullopt;
      Seen& to = visit(t.destination);
      to.received_at = std::min(to.received_at, t.received_at);
      ++to.receives;
    }
    if (ranks_.size() < kFewestRanks) return std::nullopt;
    const std::uint32_t times = repetitions(first.source);
    if (times == 0 && list.size() != ranks_.size()) return std::nullopt;
    Instance found = describe(list);
    found.repetitions = std::max(times, std::uint32_t{1});
    found.verdict.proof = std::min(
        found.verdict.proof, static_cast<double>(found.repetitions) * most_proof_of_spread(ranks_.size()));
    if (times == 0) found.verdict.certainty = Certainty::kProbable;
    // What wanders among the ranks reaches all of few by accident.
    found.verdict.by_order = times == 0 || seen_[static_cast<std::size_t>(first.source)].receives > 0;
    if (found.verdict.by_order)
      found.verdict.evidence.emplace_back(times == 0
                                              ? "a rank received the data twice: one message is redundant"
                                              : "the data come back to the root: one message is redundant");
    return found;
  }
  struct Seen {
    std::uint64_t epoch = 0;
    std::uint32_t received_at = 0;
    std::uint32_t receives = 0;
  };
  Seen& visit(std::int32_t rank) {
    Seen& s = seen_[static_cast<std::size_t>(rank)];
    if (s.epoch != epoch_) {
      s = {epoch_, ~std::uint32_t{0}, 0};
      ranks_.push_back(rank);
    }
    return s;
  }
  /// How often all others have received, and the root as often or never; 0: not equally often.
  [[nodiscard]] std::uint32_t repetitions(std::int32_t root) const {
    const auto receives = [&](std::int32_t r) { return seen_[static_cast<std::size_t>(r)].receives; };
    const std::uint32_t times = receives(ranks_.front() == root ? ranks_.back() : ranks_.front());
    const bool equal = std::ranges::all_of(
        ranks_, [&](std::int32_t r) { return receives(r) == times || (r == root && receives(r) == 0); });
    return equal ? times : 0;
  }
  Instance describe(std::span<const TransferIndex> list) {
    const Transfer& first = transfers_.all[list.front()];
    std::ranges::sort(ranks_);
    Instance instance;
    instance.verdict.kind = CollectiveKind::kBcast;
    instance.verdict.ranks = ranks_;
    instance.verdict.roots = {first.source};
    instance.verdict.bytes = first.content.bytes;
    instance.verdict.payload = first.content.key();
    instance.verdict.proof =
        static_cast<double>(first.content.information) * static_cast<double>(list.size() - 1);
    instance.verdict.evidence = {"the root had the data first, and all others have received all of it"};
    instance.transfers.assign(list.begin(), list.end());
    return instance;
  }

  const Transfers& transfers_;
  std::vector<Seen> seen_;
  std::vector<std::int32_t> ranks_;
  std::uint64_t epoch_ = 0;
};

using OriginSets = boost::disjoint_sets_with_storage<>;

/// Which origins belong to one operation although no message holds both.
class Neighbours {
 public:
  Neighbours(const Transfers& transfers, const TransferList& list, const Provenance& data)
      : transfers_{transfers},
        list_{list},
        data_{data},
        first_sent_(data.origins().size(), ~std::uint32_t{0}) {
    for (std::size_t i = 0; i < list.size(); ++i) note(transfers.all[list[i]], data.segments(i));
    for (auto& [member, places] : foreign_) std::ranges::sort(places);
  }
  /// What left its rank as one vector: neighbours in memory, sent in one go.
  void unite_where_sent(OriginSets& groups) {
    std::map<std::pair<std::size_t, std::uint64_t>, std::vector<std::uint32_t>> by_begin;
    for (std::uint32_t o = 0; o < data_.origins().size(); ++o)
      by_begin[{root(o), data_.origins()[o].buffer}].push_back(o);
    for (std::uint32_t o = 0; o < data_.origins().size(); ++o) {
      const Origin& origin = data_.origins()[o];
      const auto next = by_begin.find({root(o), origin.buffer + origin.bytes});
      if (next == by_begin.end()) continue;
      for (const std::uint32_t other : next->second)
        if (in_one_go(o, other)) groups.union_set(o, other);
    }
  }
  /// What came to lie side by side: pieces of something that is spread out in the root's memory.
  void unite_where_received(OriginSets& groups) {
    std::unordered_map<std::uint64_t, std::uint32_t> begins;
    std::unordered_map<std::uint64_t, std::uint32_t> ends;
    for (std::size_t i = 0; i < list_.size(); ++i) {
      const Transfer& t = transfers_.all[list_[i]];
      std::uint64_t at = t.destination_buffer;
      if (at == 0) continue;
      const auto key = [&](std::uint64_t address) {
        return address * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(t.destination);
      };
      for (const Segment& s : data_.segments(i)) {
        for (const auto* beside : {find(ends, key(at)), find(begins, key(at + s.length))})
          if (beside != nullptr && root(*beside) == root(s.origin) && in_one_go(*beside, s.origin))
            groups.union_set(*beside, s.origin);
        begins[key(at)] = s.origin;
        at += s.length;
        ends[key(at)] = s.origin;
      }
    }
  }

 private:
  static const std::uint32_t* find(const std::unordered_map<std::uint64_t, std::uint32_t>& in,
                                   std::uint64_t key) {
    const auto found = in.find(key);
    return found == in.end() ? nullptr : &found->second;
  }
  [[nodiscard]] std::size_t root(std::uint32_t origin) const { return data_.origins()[origin].ranks.front(); }
  void note(const Transfer& t, const std::vector<Segment>& segments) {
    const std::size_t from = data_.member(t.source);
    const std::size_t to = data_.member(t.destination);
    bool foreign = false;
    for (const Segment& s : segments) {
      if (from == root(s.origin)) first_sent_[s.origin] = std::min(first_sent_[s.origin], t.sent_at);
      foreign = foreign || to != root(s.origin);
    }
    if (foreign) foreign_[to].push_back(t.received_at);
  }
  /// Nothing of others' came in between.
  [[nodiscard]] bool in_one_go(std::uint32_t a, std::uint32_t b) {
    const auto [low, high] = std::minmax(first_sent_[a], first_sent_[b]);
    const auto& places = foreign_[root(a)];
    const auto between = std::ranges::lower_bound(places, low);
    return between == places.end() || *between > high;
  }

  const Transfers& transfers_;
  const TransferList& list_;
  const Provenance& data_;
  std::vector<std::uint32_t> first_sent_;
  std::unordered_map<std::size_t, std::vector<std::uint32_t>> foreign_;  // when members received others' data
};

/// Empty messages belong to what their sender does at that time: an empty piece among others.
void add_empty(const Transfers& transfers, const TransferList& list, const Provenance& data,
               std::map<std::size_t, TransferList>& parts, OriginSets& groups) {
  constexpr std::size_t kNone = ~std::size_t{0};
  std::unordered_map<std::int32_t, std::size_t> latest;
  std::vector<TransferIndex> waiting;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Transfer& t = transfers.all[list[i]];
    const bool empty = data.segments(i).empty();
    if (t.content.bytes > 0 && empty) continue;  // a constant: nobody's piece
    std::size_t group = kNone;
    if (!empty)
      group = groups.find_set(data.segments(i).front().origin);
    else if (const auto found = latest.find(t.source); found != latest.end())
      group = found->second;
    else if (const auto other = latest.find(t.destination); other != latest.end())
      group = other->second;
    if (group == kNone) {
      waiting.push_back(list[i]);
      continue;
    }
    if (empty) {
      parts[group].push_back(list[i]);
      continue;
    }
    latest[t.source] = latest[t.destination] = group;
    for (const TransferIndex w : waiting) parts[group].push_back(w);
    waiting.clear();
  }
  for (auto& [group, part] : parts)
    std::ranges::sort(part, {}, [&](TransferIndex i) { return transfers.all[i].sent_at; });
}

std::size_t transfers_of(const std::vector<Instance>& found) {
  std::size_t sum = 0;
  for (const Instance& i : found) sum += i.transfers.size();
  return sum;
}

/// More messages; or the same data with fewer operations.
bool says_more(const std::vector<Instance>& a, const std::vector<Instance>& b) {
  const auto worth = [](const std::vector<Instance>& found) {
    std::uint64_t bytes = 0;
    for (const Instance& i : found) bytes += i.verdict.bytes;
    return std::tuple{transfers_of(found), bytes, -static_cast<std::ptrdiff_t>(found.size())};
  };
  return worth(a) > worth(b);
}

/// Of the messages that a call sends.
struct Explained {
  std::size_t messages = 0;
  std::size_t all = 0;
};

/// Where more than a third of what an operation's calls send is unexplained, it may be accident.
void doubt(const Transfers& transfers, const TransferList& list, std::vector<Instance>& found) {
  if (3 * transfers_of(found) >= 2 * list.size()) return;
  std::unordered_map<CallSiteId, Explained> sites;
  for (const TransferIndex i : list) ++sites[transfers.all[i].send_site].all;
  for (const Instance& instance : found)
    for (const TransferIndex i : instance.transfers) ++sites[transfers.all[i].send_site].messages;
  for (Instance& instance : found) {
    std::set<CallSiteId> its;
    for (const TransferIndex i : instance.transfers) its.insert(transfers.all[i].send_site);
    Explained sum;
    for (const CallSiteId site : its) {
      sum.messages += sites.at(site).messages;
      sum.all += sites.at(site).all;
    }
    if (3 * sum.messages >= 2 * sum.all) continue;
    instance.verdict.certainty = Certainty::kPossible;
    instance.verdict.evidence.push_back("only " + std::to_string(sum.messages) + " of " +
                                        std::to_string(sum.all) +
                                        " messages of these lines belong to such operations");
  }
}

}  // namespace

bool is_empty(const Transfers& transfers, const TransferList& list) {
  return std::ranges::all_of(list, [&](TransferIndex i) { return transfers.all[i].content.bytes == 0; });
}

Instance without_elements(const Verdict& known, TransferList list) {
  Verdict v = known;
  v.bytes = v.payload = 0;
  v.proof = v.proof_once = 0;
  v.evidence = {"now and then there are no elements, and the same messages are empty"};
  return {std::move(v), std::move(list)};
}

void sort_by_time(const Transfers& transfers, std::vector<Instance>& found) {
  std::ranges::sort(found, {}, [&](const Instance& i) { return transfers.all[i.transfers.front()].sent_at; });
}

std::optional<Instance> instance_of(const Transfers& transfers, const TransferList& captures,
                                    TransferList list, std::span<const TransferIndex> alike) {
  const auto as_one = [&](std::span<const TransferIndex> part) -> std::optional<Instance> {
    TransferList messages{part.begin(), part.end()};
    auto verdict = judge(transfers, with_captures(transfers, captures, messages), alike);
    if (!verdict) return std::nullopt;
    return Instance{std::move(*verdict), std::move(messages)};
  };
  auto all = as_one(list);
  if (!all || all->verdict.kind != CollectiveKind::kBcast || all->verdict.roots.size() != 1 ||
      list.size() < all->verdict.ranks.size())
    return all;
  auto rest = after_forerunners(transfers, list, as_one);
  return rest ? std::move(rest) : std::move(all);
}

std::vector<Instance> by_payloads(const Transfers& transfers, const Cluster& cluster) {
  std::vector<KeyedTransfer> sorted;
  sorted.reserve(cluster.transfers.size());
  for (const TransferIndex i : cluster.transfers) {
    const Transfer& t = transfers.all[i];
    if (!t.content.hashed() || t.content.bytes == 0) continue;
    sorted.push_back({t.content.key(), i, 0});
  }
  sort_by_payload(sorted);
  std::vector<Instance> found;
  Spread spread{transfers};
  TransferList list;
  for (std::size_t i = 0; i < sorted.size();) {
    list.clear();
    const std::uint64_t key = sorted[i].key;
    for (; i < sorted.size() && sorted[i].key == key; ++i) list.push_back(sorted[i].transfer);
    if (list.size() < kFewestRanks - 1 || transfers.all[list.front()].content.is_constant()) continue;
    if (auto instance = spread.broadcast(list)) found.push_back(std::move(*instance));
  }
  sort_by_time(transfers, found);
  return found;
}

std::vector<Instance> by_lineage(const Transfers& transfers, const Cluster& cluster) {
  const TransferList& list = cluster.transfers;
  if (list.size() > kMostForLineage) return {};
  const Provenance data{transfers, list};
  OriginSets groups{data.origins().size()};
  for (std::size_t i = 0; i < list.size(); ++i)
    for (const Segment& s : data.segments(i)) groups.union_set(s.origin, data.segments(i).front().origin);
  Neighbours neighbours{transfers, list, data};
  neighbours.unite_where_sent(groups);
  neighbours.unite_where_received(groups);
  std::map<std::size_t, TransferList> parts;
  for (std::size_t i = 0; i < list.size(); ++i)
    if (!data.segments(i).empty()) parts[groups.find_set(data.segments(i).front().origin)].push_back(list[i]);
  add_empty(transfers, list, data, parts, groups);
  std::vector<Instance> found;
  for (auto& [group, part] : parts) {
    if (part.size() + 1 < kFewestRanks) continue;  // most of noise is that
    if (auto instance = instance_of(transfers, cluster.captures, std::move(part)))
      found.push_back(std::move(*instance));
  }
  sort_by_time(transfers, found);
  return found;
}

namespace {

/// The first element of what is sent may grow along the messages by accident, and what is only possible may be several
/// operations: payloads that explain all of them prove more.
bool is_any_possible(const std::vector<Instance>& found) {
  return std::ranges::any_of(found,
                             [](const Instance& i) { return i.verdict.certainty == Certainty::kPossible; });
}
bool may_be_accident(const std::vector<Instance>& found) {
  return is_any_possible(found) || std::ranges::any_of(found, [](const Instance& i) {
           return i.verdict.operation == Operation::kMax || i.verdict.operation == Operation::kMin;
         });
}

/// More messages than a scatter and a ring of its parts have: several operations from one root, or in one order.
bool of_too_many_messages(const std::vector<Instance>& found) {
  return std::ranges::any_of(found, [](const Instance& i) {
    const std::size_t p = i.verdict.ranks.size();
    return i.verdict.kind == CollectiveKind::kBcast && i.segments == 1 && i.transfers.size() > p * p - 1;
  });
}

}  // namespace

std::vector<Instance> find_instances(const Transfers& transfers, const Cluster& cluster) {
  auto rounds = by_rounds(transfers, cluster);
  if (of_too_many_messages(rounds)) rounds.clear();
  for (const auto& cut : {by_tags, by_trees}) {
    if (!rounds.empty() && !is_any_possible(rounds)) break;
    auto others = cut(transfers, cluster);
    if (!others.empty() && (rounds.empty() || !is_any_possible(others))) rounds = std::move(others);
  }
  if (!rounds.empty() && !may_be_accident(rounds)) return rounds;
  const std::size_t all = cluster.transfers.size();
  auto found = merged(transfers, by_payloads(transfers, cluster));
  if (!rounds.empty()) return transfers_of(found) == all ? found : rounds;
  // Where payloads explain most of it, parts of payloads are looked for only where that does not take long.
  const bool most = 3 * transfers_of(found) >= 2 * all;
  if (!most || (all < kMostForTheRest && (transfers_of(found) < all || has_parts(transfers, found)))) {
    auto others = merged(transfers, by_lineage(transfers, cluster));
    if (says_more(others, found)) found = std::move(others);
  }
  doubt(transfers, cluster.transfers, found);
  return found;
}

}  // namespace nplus1::detector
