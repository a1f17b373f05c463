#include "detector/verdict.hpp"

#include <algorithm>
#include <array>
#include <boost/pending/disjoint_sets.hpp>
#include <cmath>
#include <limits>

#include "detector/reductions.hpp"
#include "detector/ring_reduction.hpp"
#include "detector/signals.hpp"
#include "support/collective_names.hpp"

namespace nplus1::detector {
namespace {

bool is_connected(const Case& c) {
  boost::disjoint_sets_with_storage<> sets{c.members()};
  for (std::size_t i = 0; i < c.list.size(); ++i)
    sets.union_set(c.data.member(c.at(i).source), c.data.member(c.at(i).destination));
  for (std::size_t m = 1; m < c.members(); ++m)
    if (sets.find_set(m) != sets.find_set(std::size_t{0})) return false;
  return true;
}

/// Members that had all of the data of their own.
std::vector<std::size_t> owners_of_all(const Case& c) {
  std::vector<std::size_t> owners;
  for (std::size_t m = 0; m < c.members(); ++m)
    if (std::ranges::all_of(c.data.origins(), [&](const Origin& o) { return !o.sent || c.is_origin(m, o); }))
      owners.push_back(m);
  return owners;
}

std::uint64_t bytes_of_all(const Case& c) {
  std::uint64_t sum = 0;
  for (const Origin& o : c.data.origins()) sum += o.sent ? o.bytes : 0;
  return sum;
}

/// Whether most of what is sent is news to its receiver. The worst algorithm that anybody uses, scatter and ring, is
/// far above a half; where the same data go round again and again, for whatever reason, it is less.
bool brings_news(const Case& c, std::size_t owners) {
  std::uint64_t sent = 0;
  for (std::size_t i = 0; i < c.list.size(); ++i)
    if (!c.at(i).captured()) sent += c.at(i).content.bytes;
  return 2 * bytes_of_all(c) * (c.members() - owners) >= sent;
}

Judge broadcast(const Case& c) {
  constexpr std::size_t kMostOwners = 2;  // more have equal values by accident, as constants of a program are
  const auto owners = owners_of_all(c);
  if (owners.empty() || owners.size() > kMostOwners || !brings_news(c, owners.size())) return std::nullopt;
  // Where each message is explained by its sender's own copy, equal values were exchanged (a symmetric start).
  const bool forwarded = std::ranges::any_of(c.list, [&](TransferIndex i) {
    return std::ranges::find(owners, c.data.member(c.transfers.all[i].source)) == owners.end();
  });
  if (owners.size() > 1 && !forwarded) return std::nullopt;
  // Who made a part himself, as others did, and has not received it, was sent something else: the corners of a wavefront.
  for (std::size_t m = 0; m < c.members(); ++m)
    if (std::ranges::find(owners, m) == owners.end() && !c.has_all(m)) return std::nullopt;
  Verdict v = c.verdict(CollectiveKind::kBcast, bytes_of_all(c));
  for (const std::size_t m : owners) v.roots.push_back(c.data.ranks()[m]);
  v.evidence.emplace_back("the root had the data first, and all others have received all of it");
  if (std::ranges::all_of(c.list,
                          [&](TransferIndex i) { return c.transfers.all[i].content == c.at(0).content; }))
    v.proof = std::min(v.proof, most_proof_of_spread(c.members()));
  const bool returns =
      owners.size() == 1 && std::ranges::any_of(c.list, [&](TransferIndex i) {
        return c.transfers.all[i].destination == v.roots.front() && !c.transfers.all[i].captured();
      });
  if (returns && c.list.size() == c.members()) {
    v.by_order = true;  // what wanders among the ranks reaches all of few by accident
    v.evidence.emplace_back("the data come back to the root: one message is redundant");
    v.alternatives.emplace_back(
        "bcast with any other rank as the root, if the data were there from the start");
  }
  if (owners.size() > 1) {
    v.certainty = std::min(v.certainty, Certainty::kProbable);
    v.evidence.emplace_back("more than one rank had the data of its own: one message at least is redundant");
    for (std::size_t i = 1; i < v.roots.size(); ++i)
      v.alternatives.push_back("bcast with root " + std::to_string(v.roots[i]));
  }
  return v;
}

/// Buffers at one end of the transfers of `member`, by address; empty if some overlap.
std::vector<std::pair<std::uint64_t, std::uint64_t>> separate_buffers(const Case& c, std::size_t member,
                                                                      bool sends) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (std::size_t i = 0; i < c.list.size(); ++i) {
    const Transfer& t = c.at(i);
    if (t.captured() || c.data.member(sends ? t.source : t.destination) != member || t.content.bytes == 0)
      continue;
    ranges.emplace_back(sends ? t.source_buffer : t.destination_buffer, t.content.bytes);
  }
  std::ranges::sort(ranges);
  for (std::size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i - 1].first + ranges[i - 1].second > ranges[i].first) return {};
  return ranges;
}

struct Block {
  std::uint64_t begin;
  std::uint64_t bytes;
  std::size_t peer;
};

/// Where one member sends from (receives into), by address; empty if not one block for each other.
std::vector<Block> blocks_of(const Case& c, std::size_t member, bool sends) {
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < c.list.size(); ++i) {
    const Transfer& t = c.at(i);
    if (t.captured() || t.content.bytes == 0 || c.data.member(sends ? t.source : t.destination) != member)
      continue;
    blocks.push_back({sends ? t.source_buffer : t.destination_buffer, t.content.bytes,
                      c.data.member(sends ? t.destination : t.source)});
  }
  if (blocks.size() + 1 != c.members()) return {};
  std::ranges::sort(blocks, {}, &Block::begin);
  return blocks;
}

/// The room between blocks `i - 1` and `i`, which lie in this order.
std::uint64_t room_before(const std::vector<Block>& blocks, std::size_t i) {
  return blocks[i].begin - blocks[i - 1].begin - blocks[i - 1].bytes;
}

/// Whether a member that is neither the first nor the last leaves room for its own block between the others, in the order
/// of ranks, as a vector of all blocks does and buffers for partners, however sorted, do not.
bool leaves_room_for_its_own(const std::vector<Block>& blocks, std::size_t member) {
  if (blocks.empty() || !std::ranges::is_sorted(blocks, {}, &Block::peer)) return false;
  const auto gap = [&](std::size_t i) { return room_before(blocks, i); };
  std::uint64_t most = 0;  // of the other gaps
  for (std::size_t i = 1; i < blocks.size(); ++i)
    if (i != member) most = std::max(most, gap(i));
  const std::uint64_t block = blocks.front().bytes;
  if (std::ranges::all_of(blocks, [&](const Block& b) { return b.bytes == block; }))
    return gap(member) == block + 2 * most;
  return blocks.size() >= kFewestRanks && gap(member) > most;
}

/// Bits that the places of the blocks of `member` show, if they lie in the order of the other members, or of their
/// distance from it: a buffer for each partner can lie in any order.
double proof_of_order(const Case& c, std::size_t member, bool sends) {
  constexpr double kOwnPlace = 8;
  const std::size_t p = c.members();
  const auto blocks = blocks_of(c, member, sends);
  if (blocks.empty()) return 0;
  const auto distance = [&](const Block& b) { return (b.peer + p - member) % p; };
  const bool by_rank = std::ranges::is_sorted(blocks, {}, &Block::peer);
  if (!by_rank && !std::ranges::is_sorted(blocks, {}, distance)) return 0;
  const bool own = member > 0 && member + 1 < p && leaves_room_for_its_own(blocks, member);
  return log2_of_factorial(p - 1) - 1 + (own ? kOwnPlace : 0);
}

/// Whether the first and the last member, whose own blocks lie at an end, leave less room between the others' than those
/// between them do for their own: buffers that all lie apart are no vectors.
bool have_no_room_at_the_ends(const Case& c, bool sends) {
  const std::size_t p = c.members();
  std::uint64_t at_ends = 0;
  for (const std::size_t m : {std::size_t{0}, p - 1}) {
    const auto blocks = blocks_of(c, m, sends);
    for (std::size_t i = 1; i < blocks.size(); ++i) at_ends = std::max(at_ends, room_before(blocks, i));
  }
  for (std::size_t m = 1; m + 1 < p; ++m) {
    const auto blocks = blocks_of(c, m, sends);
    if (blocks.size() + 1 < p || room_before(blocks, m) <= at_ends) return false;
  }
  return true;
}

/// Of an exchange of all with all: that each has a vector of all blocks, its own among them. Partners that are sorted
/// by rank are no proof, neighbours are often sorted.
double proof_of_vectors(const Case& c) {
  constexpr double kOwnPlace = 8;
  const std::size_t p = c.members();
  double bits = 0;
  for (const bool sends : {true, false}) {
    std::size_t fitting = 0;
    for (std::size_t m = 1; m + 1 < p; ++m)
      fitting += leaves_room_for_its_own(blocks_of(c, m, sends), m) ? 1U : 0U;
    if (fitting + 2 == p && have_no_room_at_the_ends(c, sends))
      bits += static_cast<double>(fitting) * (kOwnPlace + log2_of_factorial(p - 1));
  }
  return bits;
}

/// That so many messages between random members all come from one (or go to one), and what repeats if it is always the
/// same one.
double proof_of_root(std::size_t members) {
  return static_cast<double>(members - 2) * std::log2(static_cast<double>(members));
}

/// That so many messages of one member go to each other one once: tasks go to whoever is free.
double proof_of_turns(std::size_t members) {
  const auto others = static_cast<double>(members - 1);
  return others * std::log2(others) - log2_of_factorial(members - 1);
}

/// Of data that were passed on by others than those that had them: what is equal by accident is not.
double proof_of_forwarding(const Case& c) {
  double bits = 0;
  for (std::size_t i = 0; i < c.list.size(); ++i)
    for (const Segment& s : c.data.segments(i)) {
      const Origin& origin = c.data.origins()[s.origin];
      if (!c.at(i).captured() && !c.is_origin(c.data.member(c.at(i).source), origin))
        bits += origin.content.information;
    }
  return bits;
}

/// What speaks for a scatter (a gather) beyond what its messages hold.
void add_proof_of_star(const Case& c, Verdict& v, std::size_t root, bool sends) {
  v.proof = std::min(v.proof, proof_of_forwarding(c));
  v.by_order = v.proof == 0;
  if (messages_of_others(c) + 1 == c.members() && std::ranges::all_of(c.list, [&](TransferIndex i) {
        const Transfer& t = c.transfers.all[i];
        return t.captured() || c.data.member(sends ? t.source : t.destination) == root;
      })) {
    v.proof_once = proof_of_root(c.members()) + proof_of_order(c, root, sends);
    v.proof += v.proof_once + proof_of_turns(c.members());
  }
}

/// Whether `member` takes part in more than one message at one end, and later ones replace what earlier ones brought:
/// tasks and results, of which nobody keeps a vector.
bool takes_one_after_the_other(const Case& c, std::size_t member, bool sends) {
  const auto count = std::ranges::count_if(c.list, [&](TransferIndex i) {
    const Transfer& t = c.transfers.all[i];
    return !t.captured() && t.content.bytes > 0 && c.data.member(sends ? t.source : t.destination) == member;
  });
  return count > 1 && separate_buffers(c, member, sends).empty();
}

Judge scatter(const Case& c) {
  const auto owners = owners_of_all(c);
  if (owners.size() != 1) return std::nullopt;
  const std::size_t root = owners.front();
  std::uint64_t sum = 0;
  std::uint64_t largest = 0;
  std::uint64_t smallest = ~std::uint64_t{0};
  for (std::size_t m = 0; m < c.members(); ++m) {
    if (m == root) continue;
    if (takes_one_after_the_other(c, m, false)) return std::nullopt;
    const std::uint64_t kept = c.data.kept(m);
    sum += kept;
    largest = std::max(largest, kept);
    smallest = std::min(smallest, kept);
  }
  if (smallest == 0 || sum != bytes_of_all(c)) return std::nullopt;
  Verdict v = c.verdict(smallest == largest ? CollectiveKind::kScatter : CollectiveKind::kScatterv, largest);
  v.roots = {c.data.ranks()[root]};
  v.evidence.emplace_back("the root's data ended in parts that do not overlap, one at each other rank");
  add_proof_of_star(c, v, root, true);
  const auto buffers = separate_buffers(c, root, true);
  if (buffers.empty() && v.by_order) {
    v.certainty = Certainty::kPossible;
    v.evidence.emplace_back(
        "the root sent all parts from the same place, so they may be tasks rather than a vector");
  } else if (std::ranges::any_of(
                 c.kept, [&](TransferIndex i) { return c.transfers.all[i].source == v.roots.front(); })) {
    v.evidence.emplace_back("the root kept the block between those that it sent");
  } else {
    v.certainty = std::min(v.certainty, Certainty::kProbable);
    v.evidence.emplace_back("the root's own part was not seen");
  }
  return v;
}

Judge gather(const Case& c) {
  std::vector<std::size_t> sinks;
  std::vector<std::size_t> origins_at(c.members());
  for (const Origin& o : c.data.origins())
    if (o.sent) ++origins_at[o.ranks.front()];
  for (std::size_t m = 0; m < c.members(); ++m) {
    if (origins_at[m] == 0 && c.has_all_of_others(m))
      sinks.push_back(m);
    else if (origins_at[m] == 0 || c.data.kept(m) != 0)
      return std::nullopt;
  }
  if (sinks.size() != 1) return std::nullopt;
  std::vector<std::uint64_t> blocks(c.members());
  for (const Origin& o : c.data.origins())
    if (o.sent) blocks[o.ranks.front()] += o.bytes;
  blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(sinks.front()));
  const auto [smallest, largest] = std::ranges::minmax(blocks);
  Verdict v = c.verdict(smallest == largest ? CollectiveKind::kGather : CollectiveKind::kGatherv, largest);
  v.roots = {c.data.ranks()[sinks.front()]};
  v.evidence.emplace_back("the root has received a part of its own from each other rank");
  add_proof_of_star(c, v, sinks.front(), false);
  if (separate_buffers(c, sinks.front(), false).empty()) {
    for (std::size_t m = 0; m < c.members(); ++m)
      if (m != sinks.front() && takes_one_after_the_other(c, m, true)) return std::nullopt;
    v.kind = CollectiveKind::kReduce;
    v.certainty = Certainty::kPossible;
    v.evidence.emplace_back(
        "the root received the parts one over the other, so it seems to combine them: whether it does, "
        "and how, cannot be told without its own part (nplus1_send_to_self)");
    v.alternatives.emplace_back("gather, if the root puts each part away before the next comes");
  } else {
    v.alternatives.emplace_back("reduce, if the root combines what it gets: messages do not show that");
    v.certainty = std::min(v.certainty, Certainty::kProbable);
    v.evidence.emplace_back("the root's own part was not seen");
  }
  return v;
}

Judge allgather(const Case& c) {
  const std::size_t p = c.members();
  std::vector<std::uint64_t> blocks(p);
  for (const Origin& o : c.data.origins()) {
    if (!o.sent) continue;
    if (o.ranks.size() != 1) return std::nullopt;
    blocks[o.ranks.front()] += o.bytes;
  }
  const auto [smallest, largest] = std::ranges::minmax(blocks);
  if (smallest == 0 || messages_of_others(c) > p * (p - 1)) return std::nullopt;
  // One may be late: the root of a gather that is followed by a broadcast.
  if (c.data.independent() + 1 < p) return std::nullopt;
  for (std::size_t m = 0; m < p; ++m)
    if (!c.has_all_of_others(m)) return std::nullopt;
  Verdict v =
      c.verdict(smallest == largest ? CollectiveKind::kAllgather : CollectiveKind::kAllgatherv, largest);
  v.evidence.emplace_back("each rank has received the parts of all others, and sent its own before");
  v.alternatives.push_back(std::to_string(p) + " broadcasts, one from each rank");
  return v;
}

/// Bytes from each member to each other, of one message for each pair.
using Sizes = std::vector<std::uint64_t>;

/// Faces, edges and corners of a small grid: both partners of a pair send as much, and not because each member has so
/// many rows and columns of a matrix.
bool are_of_a_grid(const Sizes& sizes, std::size_t p) {
  const auto at = [&](std::size_t i, std::size_t k) { return sizes[i * p + k]; };
  bool products = p > kFewestRanks;
  for (std::size_t i = 0; i < p; ++i)
    for (std::size_t k = 0; k < p; ++k) {
      if (at(i, k) != at(k, i)) return false;
      const std::size_t a = (std::max(i, k) + 1) % p;  // two others, if there are so many
      const std::size_t b = (a + 1) % p;
      if (i == k || a == i || a == k || b == i || b == k) continue;
      products = products && at(i, k) * at(a, b) == at(i, b) * at(a, k);
    }
  return !products;
}

Judge alltoall(const Case& c) {
  const std::size_t p = c.members();
  if (messages_of_others(c) != p * (p - 1) || c.data.independent() + 1 < p) return std::nullopt;
  std::vector<bool> pairs(p * p);
  Sizes sizes(p * p);
  std::uint64_t smallest = ~std::uint64_t{0};
  std::uint64_t largest = 0;
  for (std::size_t i = 0; i < c.list.size(); ++i) {
    const Transfer& t = c.at(i);
    if (t.captured()) continue;  // many send their own block, too
    const std::size_t pair = c.data.member(t.source) * p + c.data.member(t.destination);
    if (pairs[pair] || c.data.segments(i).size() != 1) return std::nullopt;
    pairs[pair] = true;
    sizes[pair] = t.content.bytes;
    smallest = std::min(smallest, t.content.bytes);
    largest = std::max(largest, t.content.bytes);
  }
  std::uint32_t sent = 0;
  for (const Origin& o : c.data.origins()) sent += o.sent && o.ranks.size() == 1 ? 1U : 0U;
  if (sent != p * (p - 1)) return std::nullopt;
  for (std::size_t m = 0; m < p; ++m)
    if (separate_buffers(c, m, true).empty()) return std::nullopt;
  Verdict v =
      c.verdict(smallest == largest ? CollectiveKind::kAlltoall : CollectiveKind::kAlltoallv, largest);
  v.evidence.emplace_back("each rank has sent a different part to each other rank");
  v.by_order = true;
  v.proof = v.proof_once = proof_of_vectors(c);
  v.alternatives.emplace_back("reduce_scatter, if what arrives is combined: messages do not show that");
  if (p == kFewestRanks) {
    v.certainty = Certainty::kProbable;
    v.alternatives.emplace_back("an exchange with two neighbours");
  } else if (smallest != largest && are_of_a_grid(sizes, p)) {
    v.kind = CollectiveKind::kNeighborAlltoall;
    v.certainty = Certainty::kPossible;
    v.evidence.emplace_back(
        "each two ranks send each other as much, other pairs other amounts: so do the faces, edges and "
        "corners of a grid so small that all are neighbours");
    v.alternatives.emplace_back("alltoallv");
  } else if (smallest != largest) {
    v.certainty = Certainty::kProbable;
    v.alternatives.emplace_back(
        "MPI_Neighbor_alltoallv, if each rank has only as many neighbours here by accident");
  }
  return v;
}

/// Bruck's algorithm: in round k each rank sends the blocks whose number has bit k to the rank 2^k further (or back).
Judge packed_alltoall(const Case& c) {
  const std::size_t p = c.members();
  const auto rounds = static_cast<std::size_t>(std::bit_width(p - 1));
  if (c.list.size() != p * rounds) return std::nullopt;
  std::vector<std::size_t> blocks(rounds);
  for (std::size_t i = 0; i < p; ++i)
    for (std::size_t k = 0; k < rounds; ++k) blocks[k] += (i >> k) & 1U;
  const std::uint64_t block = c.at(0).content.bytes / std::max<std::size_t>(1, blocks[0]);
  for (const bool forwards : {true, false}) {
    std::vector<bool> seen(p * rounds);
    bool fits = block > 0;
    for (std::size_t i = 0; i < c.list.size() && fits; ++i) {
      const Transfer& t = c.at(i);
      const std::size_t from = c.data.member(t.source);
      const std::size_t to = c.data.member(t.destination);
      const std::size_t distance = (forwards ? to + p - from : from + p - to) % p;
      const auto k = static_cast<std::size_t>(std::countr_zero(distance));
      fits = std::has_single_bit(distance) && t.content.bytes == blocks[k] * block &&
             !seen[from * rounds + k] && c.data.segments(i).size() == 1;
      if (fits) seen[from * rounds + k] = true;
    }
    if (!fits) continue;
    Verdict v = c.verdict(CollectiveKind::kAlltoall, block);
    v.certainty = Certainty::kPossible;
    v.evidence.emplace_back(
        "partners and lengths are those of Bruck's algorithm; which blocks the packed messages hold "
        "their hashes do not show");
    v.alternatives.emplace_back("any other exchange with the ranks at distances of powers of two");
    return v;
  }
  return std::nullopt;
}

bool all_constant(const Case& c) {
  for (std::size_t i = 0; i < c.list.size(); ++i)
    if (!c.at(i).content.is_constant()) return false;
  return true;
}

bool without_hashes(const Case& c) {
  for (std::size_t i = 0; i < c.list.size(); ++i)
    if (c.at(i).content.bytes > 0 && !c.at(i).content.hashed()) return true;
  return false;
}

}  // namespace

double most_proof_of_spread(std::size_t members) {
  return members > kFewestRanks ? std::numeric_limits<double>::infinity() : static_cast<double>(members - 1);
}

const char* name(Certainty certainty) {
  constexpr std::array kNames{"possible", "probable", "certain"};
  return kNames.at(static_cast<std::size_t>(certainty));
}

const char* name(CollectiveKind kind) {
  return kCollectiveNames.at(static_cast<std::size_t>(kind)).data();  // literals
}

namespace {

std::optional<Verdict> judge_all(const Transfers& transfers, std::span<const TransferIndex> list,
                                 std::span<const TransferIndex> kept, std::span<const TransferIndex> alike) {
  const Provenance data{transfers, list};
  const Case c{transfers, list, data, kept, alike};
  if (c.members() < kFewestRanks || list.size() + 1 < c.members() || !is_connected(c)) return std::nullopt;
  if (all_constant(c)) return signals(c);
  if (without_hashes(c)) return std::nullopt;
  for (const auto& single : {ring_reduction, reduction, extremum, broadcast, scatter, alltoall, gather,
                             allgather, packed_alltoall})
    if (Judge found = single(c)) return found;
  return std::nullopt;
}

}  // namespace

std::optional<Verdict> judge(const Transfers& transfers, std::span<const TransferIndex> list,
                             std::span<const TransferIndex> alike) {
  using events::OwnPart;
  if (std::ranges::none_of(list, [&](TransferIndex i) { return transfers.all[i].captured(); }))
    return judge_all(transfers, list, {}, alike);
  TransferList told;      // messages, and parts that the program told of
  TransferList inferred;  // parts that may be added to
  TransferList kept;
  for (const TransferIndex i : list) {
    const Transfer& t = transfers.all[i];
    (t.captured_as(OwnPart::kBetween)   ? kept
     : t.captured_as(OwnPart::kAddedTo) ? inferred
                                        : told)
        .push_back(i);
  }
  if (!inferred.empty()) {
    // They prove themselves, by the sums that come out, or were something else.
    TransferList all = told;
    all.insert(all.end(), inferred.begin(), inferred.end());
    if (auto found = judge_all(transfers, all, kept, alike); found && found->operation) return found;
  }
  return judge_all(transfers, told, kept, alike);
}

}  // namespace nplus1::detector
