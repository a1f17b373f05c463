#include "detector/reductions.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

namespace nplus1::detector {
namespace {

bool is_full(const Members& m) {
  return std::ranges::all_of(m, [](bool b) { return b; });
}

/// No algorithm that moves whole values needs more messages: a tree up and down, recursive doubling, shifts of 1, 2, 4
/// ..., or all to all. More are several operations, or a row of a grid whose values shrink.
bool are_too_many_messages(const Case& c, CollectiveKind kind) {
  const std::size_t p = c.members();
  const std::size_t n = messages_of_others(c);
  const auto rounds = static_cast<std::size_t>(std::bit_width(p - 1));
  if (kind == CollectiveKind::kReduce) return n > p - 1;
  return n > std::max(p * rounds, 2 * (p - 1)) && n != p * (p - 1);
}

/// {0..m} (inclusive) or {0..m-1} for every member m.
bool are_prefixes(const std::vector<Members>& sets, bool inclusive) {
  for (std::size_t m = 0; m < sets.size(); ++m)
    for (std::size_t i = 0; i < sets.size(); ++i)
      if (sets[m][i] != (inclusive ? i <= m : i < m)) return false;
  return true;
}

/// What operation leaves members with values of `sets`; nothing if none does.
std::optional<CollectiveKind> kind_of(const std::vector<Members>& sets, std::vector<std::size_t>& complete) {
  for (std::size_t m = 0; m < sets.size(); ++m)
    if (is_full(sets[m])) complete.push_back(m);
  if (complete.size() == sets.size()) return CollectiveKind::kAllreduce;
  if (are_prefixes(sets, true)) return CollectiveKind::kScan;
  if (complete.size() == 1) return CollectiveKind::kReduce;
  return std::nullopt;
}

/// Whether no member's value ever had its own part in it, of those whose sums were seen.
bool leaves_own_out(const Case& c, std::vector<Members>& sets) {
  bool seen = false;
  for (std::size_t m = 0; m < c.members(); ++m) {
    if (c.data.includes_own(m) == Provenance::Own::kIncluded) return false;
    seen = seen || c.data.includes_own(m) == Provenance::Own::kLeftOut;
    sets[m][m] = false;
  }
  return seen && are_prefixes(sets, false);
}

/// Reduced in pieces that each came together somewhere, then spread: reduce_scatter and allgather are one
/// allreduce.
Judge reduction_in_pieces(const Case& c, Operation operation) {
  std::uint64_t bytes = 0;
  std::size_t pieces = 0;
  for (std::uint32_t o = 0; o < c.data.origins().size(); ++o) {
    const Origin& origin = c.data.origins()[o];
    if (origin.operations == 0 || !is_full(c.data.contributors(origin))) continue;
    ++pieces;
    bytes += origin.bytes;
    for (std::size_t m = 0; m < c.members(); ++m)
      if (!c.is_origin(m, origin) && !c.has(m, o)) return std::nullopt;
  }
  if (pieces < c.members()) return std::nullopt;
  Verdict v = c.verdict(CollectiveKind::kAllreduce, bytes);
  v.operation = operation;
  v.evidence.push_back("hashes prove that " + std::to_string(pieces) +
                       " pieces were combined, each rank's once, and spread to all");
  return v;
}

/// Bytes that each member sends.
std::vector<std::uint64_t> sent_by(const Case& c) {
  std::vector<std::uint64_t> sent(c.members());
  for (std::size_t i = 0; i < c.list.size(); ++i)
    if (!c.at(i).captured()) sent[c.data.member(c.at(i).source)] += c.at(i).content.bytes;
  return sent;
}

/// Each member ends with a block of its own, to which all have contributed, and sends what it has for the blocks of all
/// others: by recursive doubling, which makes one value of all, it sends less.
Judge reduce_scatter(const Case& c, Operation operation) {
  const std::vector<std::uint64_t> sent = sent_by(c);
  std::uint64_t largest = 0;
  std::uint64_t smallest = ~std::uint64_t{0};
  for (std::size_t m = 0; m < c.members(); ++m) {
    const auto bytes = c.data.completed_block(m);
    if (!bytes || sent[m] < *bytes * (c.members() - 1)) return std::nullopt;
    largest = std::max(largest, *bytes);
    smallest = std::min(smallest, *bytes);
  }
  Verdict v = c.verdict(
      smallest == largest ? CollectiveKind::kReduceScatterBlock : CollectiveKind::kReduceScatter, largest);
  v.operation = operation;
  v.certainty = Certainty::kProbable;
  v.evidence.push_back(std::string{"hashes prove that values were combined ("} + name(operation) +
                       "); the last combination at each rank was not seen");
  return v;
}

}  // namespace

Judge reduction(const Case& c) {
  const auto operation = c.data.operation();
  if (!operation) return std::nullopt;
  if (Judge found = reduction_in_pieces(c, *operation)) return found;
  if (Judge found = reduce_scatter(c, *operation)) return found;
  std::vector<Members> sets;
  for (std::size_t m = 0; m < c.members(); ++m) {
    auto set = c.data.combined(m);
    if (!set) return std::nullopt;
    sets.push_back(std::move(*set));
  }
  std::vector<std::size_t> complete;
  auto kind = kind_of(sets, complete);
  Verdict v = c.verdict(kind.value_or(CollectiveKind::kExscan), longest_message(c));
  v.operation = operation;
  v.evidence.push_back(std::string{"hashes prove that values were combined ("} + name(*operation) +
                       "), each rank's once");
  const bool exclusive = leaves_own_out(c, sets);
  if (are_too_many_messages(c, exclusive ? CollectiveKind::kExscan : kind.value_or(CollectiveKind::kExscan)))
    return std::nullopt;
  if (exclusive) {
    v.kind = CollectiveKind::kExscan;
    v.certainty = Certainty::kProbable;
    v.evidence.emplace_back("no rank's own value is in what it passed on");
    return v;
  }
  if (!kind) return std::nullopt;
  if (kind == CollectiveKind::kScan) {
    v.alternatives.push_back("reduce to rank " + std::to_string(c.data.ranks().back()));
    v.alternatives.emplace_back("exscan, if the ranks do not use their own values");
    v.certainty = Certainty::kProbable;
  }
  if (kind == CollectiveKind::kReduce) {
    v.roots = {c.data.ranks()[complete.front()]};
    v.certainty = Certainty::kProbable;
    v.evidence.emplace_back("the root's last combination was not seen");
  }
  return v;
}

namespace {

/// Some elements of a payload, all at the same places.
using Elements = std::vector<long double>;

/// Which of the elements differ from each other in the order of their values from message to message: those of a vector
/// that grows and shrinks as a whole are one witness, not five.
std::vector<std::size_t> independent_elements(const std::vector<Elements>& values) {
  std::set<std::vector<int>> seen;
  std::vector<std::size_t> result;
  for (std::size_t e = 0; e < values.front().size(); ++e) {
    std::vector<int> changes;
    for (std::size_t i = 1; i < values.size(); ++i)
      changes.push_back((values[i][e] > values[i - 1][e] ? 1 : 0) -
                        (values[i][e] < values[i - 1][e] ? 1 : 0));
    if (seen.insert(std::move(changes)).second) result.push_back(e);
  }
  return result;
}

/// So simple that it proves nothing: anything is as large as nothing.
bool is_simple(long double number) {
  constexpr unsigned kOfSmallNumber = 8;
  return significant_bits(static_cast<double>(number)) <= kOfSmallNumber;
}

/// Replays them as if each rank kept the largest (`sign` 1) or smallest (-1) that it knows of.
struct Extremes {
  std::vector<Elements> known;
  std::vector<Members> heard;
  std::size_t checked = 0;
  /// Bits that unrelated values of the same kind would not show: the one below which n others lie is the largest of them
  /// once in n + 1. And how many elements were passed on as they came: growing ones never are, sums only if 0 was added.
  double of_size = 0;
  std::size_t equal = 0;
  /// Elements of what was sent by those that had received nothing, and how many of them are simple.
  std::size_t operands = 0;
  std::size_t simple = 0;

  /// False if a rank sends something else. `witnesses`: elements to judge by.
  bool replay(const Case& c, long double sign, std::span<const std::size_t> witnesses) {
    known.assign(c.members(), {});
    heard.assign(c.members(), Members(c.members()));
    for (std::size_t m = 0; m < c.members(); ++m) heard[m][m] = true;
    std::vector<Members> under_way(c.list.size());
    std::vector<std::size_t> arrived(c.members());    // since it last sent
    std::vector<std::size_t> below(c.members(), 0);   // values of a tree: each is passed on only once
    std::vector<std::size_t> in_tree(c.list.size());  // of which this is the largest; 0: of no tree
    std::vector<bool> has_sent(c.members());
    std::set<Elements> whole;  // what has been sent
    for (const auto& [place, half] : halves_of(c)) {
      const Transfer& t = c.at(half / 2);
      if (t.captured()) continue;
      const Elements value = scaled(some_elements(t.content), sign);
      const std::size_t m = c.data.member(half % 2 == 0 ? t.source : t.destination);
      if (half % 2 == 0) {
        if (!known[m].empty() && largest(known[m], value) != value) return false;
        const bool first = !has_sent[m];
        in_tree[half / 2] = first && below[m] != kNoTree ? below[m] + 1 : 0;
        has_sent[m] = true;
        if (known[m].empty()) count_operands(value);
        // What is known to all is only spread, whatever it is.
        if (arrived[m] > 0 && !(is_full(heard[m]) && whole.contains(value)))
          weigh(known[m], value, in_tree[half / 2] > 0 ? below[m] : arrived[m], witnesses);
        whole.insert(value);
        arrived[m] = 0;
        under_way[half / 2] = heard[m];
      } else {
        ++arrived[m];
        if (in_tree[half / 2] == 0)
          below[m] = kNoTree;
        else if (below[m] != kNoTree)
          below[m] += in_tree[half / 2];
        unite(heard[m], under_way[half / 2]);
      }
      known[m] = largest(known[m], value);
    }
    return true;
  }
  /// `below`: how many values the one that was sent is said not to be smaller than.
  void weigh(const Elements& before, const Elements& sent, std::size_t below,
             std::span<const std::size_t> witnesses) {
    ++checked;
    for (const std::size_t e : witnesses) {
      if (is_simple(before[e])) continue;
      of_size += std::log2(1.0 + static_cast<double>(below));
      if (sent[e] == before[e]) ++equal;
    }
  }
  void count_operands(const Elements& value) {
    operands += value.size();
    simple += static_cast<std::size_t>(std::ranges::count_if(value, is_simple));
  }
  /// Where 0 is often a part of it, a sum stays as often: with as many simple ones as there are among the operands that
  /// show (one more, and one that is none, as nothing more is known of them).
  [[nodiscard]] double of_equality() const {
    const double share = static_cast<double>(simple + 1) / static_cast<double>(operands + 2);
    return 2 * simple > operands ? 0 : static_cast<double>(equal) * -std::log2(share);
  }

  static constexpr std::size_t kNoTree = ~std::size_t{0};

  static Elements scaled(Elements values, long double sign) {
    for (long double& v : values) v *= sign;
    return values;
  }
  static Elements largest(const Elements& a, Elements b) {
    for (std::size_t i = 0; i < a.size(); ++i) b[i] = std::max(a[i], b[i]);
    return b;
  }
};

/// Elements of the messages of the same lines that have as many: more than those of the case show which vary by
/// themselves.
std::vector<Elements> elements_alike(const Case& c, std::vector<Elements> sent) {
  if (c.alike.size() <= c.list.size()) return sent;
  std::vector<Elements> all;
  for (const TransferIndex i : c.alike) {
    auto value = some_elements(c.transfers.all[i].content);
    if (value.size() == sent.front().size()) all.push_back(std::move(value));
  }
  return all.size() > sent.size() ? all : sent;
}

}  // namespace

// Judged by the first element of each message, and by samples where there are.
Judge extremum(const Case& c) {
  // Of the values not all reach everybody; payloads of broadcasts do.
  std::size_t everywhere = 0;
  for (std::uint32_t o = 0; o < c.data.origins().size(); ++o) {
    const Origin& origin = c.data.origins()[o];
    bool all = true;
    for (std::size_t m = 0; m < c.members() && all; ++m) all = c.is_origin(m, origin) || c.has(m, o);
    everywhere += all ? 1U : 0U;
  }
  if (everywhere == c.data.origins().size()) return std::nullopt;
  std::set<Elements> values;
  std::vector<Elements> sent;
  for (std::size_t i = 0; i < c.list.size(); ++i) {
    if (c.at(i).captured()) continue;
    auto value = some_elements(c.at(i).content);
    if (value.empty() || c.at(i).content.bytes != c.at(0).content.bytes ||
        (!values.empty() && value.size() != values.begin()->size()))
      return std::nullopt;
    values.insert(value);
    sent.push_back(std::move(value));
  }
  if (values.size() < 2) return std::nullopt;
  const auto witnesses = independent_elements(elements_alike(c, std::move(sent)));
  for (const auto operation : {Operation::kMax, Operation::kMin}) {
    const long double sign = operation == Operation::kMax ? 1 : -1;
    Extremes replayed;
    if (!replayed.replay(c, sign, witnesses)) continue;
    std::vector<std::size_t> complete;
    const auto kind = kind_of(replayed.heard, complete);
    if (!kind || replayed.checked == 0) continue;
    if (are_too_many_messages(c, *kind)) continue;
    Elements result;
    for (const Elements& v : values) result = Extremes::largest(result, Extremes::scaled(v, sign));
    if (std::ranges::any_of(complete, [&](std::size_t m) { return replayed.known[m] != result; })) continue;
    Verdict v = c.verdict(*kind, longest_message(c));
    v.operation = operation;
    v.certainty = Certainty::kProbable;
    v.proof = std::min(replayed.of_size, replayed.of_equality());
    if (kind == CollectiveKind::kReduce) v.roots = {c.data.ranks()[complete.front()]};
    v.evidence.push_back(std::string{"each rank passed on the "} + (sign > 0 ? "largest" : "smallest") +
                         " of what it had received, or its own, " + std::to_string(replayed.checked) +
                         " times, in " + std::to_string(result.size()) +
                         (result.size() == 1 ? " element" : " elements") + " of each message");
    v.alternatives.emplace_back("values that grow or shrink along the messages for another reason");
    return v;
  }
  return std::nullopt;
}

}  // namespace nplus1::detector
