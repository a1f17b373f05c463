#include "detector/mpi/shared_payloads.hpp"

#include <algorithm>
#include <boost/pending/disjoint_sets.hpp>
#include <functional>
#include <set>
#include <stdexcept>
#include <utility>

#include "detector/analysis.hpp"

namespace nplus1::detector {
namespace {

/// Whether the ranks of the group hang together, and their calls, however divided, make rounds too long to be judged.
bool has_no_rounds(const Peers& peers, const Transfers& transfers, const TransferList& list,
                   std::uint64_t all) {
  const auto ranks = static_cast<std::size_t>(transfers.ranks);
  std::vector<std::uint64_t> calls(ranks);
  boost::disjoint_sets_with_storage<> connected{ranks};
  for (const TransferIndex i : list) {
    const auto source = static_cast<std::size_t>(transfers.all[i].source);
    const auto destination = static_cast<std::size_t>(transfers.all[i].destination);
    ++calls[source];
    ++calls[destination];
    connected.union_set(source, destination);
  }
  calls = peers.sum(calls);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> links;
  for (std::size_t r = 0; r < ranks; ++r) links.emplace_back(r, connected.find_set(r));
  for (const auto& [a, b] : peers.all(links)) connected.union_set(a, b);
  std::set<std::size_t> groups;
  std::uint64_t divisor = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    divisor = std::gcd(divisor, calls[r]);
    if (calls[r] > 0) groups.insert(connected.find_set(r));
  }
  return groups.size() == 1 && all / divisor > kMostInOneRound;
}

/// Whether there is nothing to be told apart by tags (by_tags()).
bool has_one_tag(const Peers& peers, const Transfers& transfers, const TransferList& list) {
  std::vector<std::uint64_t> tags;
  for (const TransferIndex i : list) {
    const Transfer& t = transfers.all[i];
    const std::uint64_t tag = std::uint64_t{t.comm.value} << 32U | static_cast<std::uint32_t>(t.tag);
    if (tags.empty() || tags.back() != tag) tags.push_back(tag);
    if (tags.size() > 1) break;
  }
  tags = peers.all(tags);
  return std::ranges::adjacent_find(tags, std::not_equal_to{}) == tags.end();
}

/// A broadcast, as far as others need to know it.
struct Outline {
  std::uint64_t begin, end;                   // where the root had the data
  std::uint32_t sent_at, received_at;         // its first send, its last receive
  std::uint32_t first_ordinal, last_ordinal;  // of the root's sends
  std::int32_t root;
};

Outline outline_of(const Transfers& transfers, const Instance& instance) {
  const Transfer& first = transfers.all[instance.transfers.front()];
  Outline o{
      first.source_buffer, first.source_buffer + first.content.bytes, first.sent_at, 0, first.send_ordinal, 0,
      first.source};
  for (const TransferIndex i : instance.transfers) {
    const Transfer& t = transfers.all[i];
    o.received_at = std::max(o.received_at, t.received_at);
    if (t.source == o.root) o.last_ordinal = std::max(o.last_ordinal, t.send_ordinal);
  }
  return o;
}

/// Whether merged() may put some together (merging.hpp): the same root's next bytes, or broadcasts at the same time.
bool may_be_pieces(const std::vector<Outline>& all) {
  constexpr std::uint32_t kFewCalls = 2;
  std::uint32_t end = 0;  // of those in a row that have one root
  for (std::size_t i = 1; i < all.size(); ++i) {
    const Outline& before = all[i - 1];
    end = std::max(end, before.received_at);
    if (before.root != all[i].root)
      end = 0;
    else if (all[i].sent_at < end)
      return true;
    else if (all[i].begin == before.end && all[i].first_ordinal - before.last_ordinal <= kFewCalls)
      return true;
  }
  return false;
}

/// Whether as many in a row as there are ranks, from different roots, may be an allgather: all roots but one would
/// send before they have received another's.
bool may_be_allgather(std::span<const Outline> all) {
  std::set<std::int32_t> roots;
  std::uint32_t end = all.front().received_at;
  std::size_t later = 0;
  for (const Outline& o : all) {
    if (!roots.insert(o.root).second) return false;
    end = std::min(end, o.received_at);
  }
  for (const Outline& o : all) later += o.sent_at > end ? 1U : 0U;
  return later < 2;
}

bool may_be_merged(const std::vector<Outline>& all, std::size_t ranks) {
  if (may_be_pieces(all)) return true;
  for (std::size_t i = 0; i + ranks <= all.size(); ++i)
    if (may_be_allgather(std::span{all}.subspan(i, ranks))) return true;
  return false;
}

/// The ranks of all broadcasts of everybody; empty if they differ.
std::vector<std::int32_t> ranks_of_all(const Peers& peers, const std::vector<Instance>& found) {
  std::vector<std::int32_t> ranks;
  bool same = true;
  if (!found.empty()) ranks = found.front().verdict.ranks;
  for (const Instance& i : found) same = same && i.verdict.ranks == ranks;
  const auto sizes = peers.all(std::vector<std::uint64_t>{same ? ranks.size() : 0});
  if (!same) ranks.clear();
  const auto everybodys = peers.all(ranks);
  std::size_t at = 0;
  for (const std::uint64_t n : sizes) {
    const std::vector<std::int32_t> its(everybodys.begin() + static_cast<std::ptrdiff_t>(at),
                                        everybodys.begin() + static_cast<std::ptrdiff_t>(at + n));
    at += n;
    if (at == n) ranks = its;
    if (its.empty() || its != ranks) return {};
  }
  return ranks;
}

}  // namespace

std::vector<std::vector<Finding>> at_first(const Peers& peers, std::vector<Finding> mine) {
  Analysis analysis;
  analysis.findings = std::move(mine);
  const std::string bytes = to_bytes(analysis);
  const auto sizes = peers.first(std::vector<std::uint64_t>{bytes.size()});
  const auto together = peers.first(std::vector<char>(bytes.begin(), bytes.end()));
  std::vector<std::vector<Finding>> parts;
  std::size_t at = 0;
  for (const std::uint64_t size : sizes) {
    auto part = from_bytes({together.data() + at, static_cast<std::size_t>(size)});
    if (!part) throw std::logic_error{part.error().what};
    parts.push_back(std::move(part).value().findings);
    at += static_cast<std::size_t>(size);
  }
  return parts;
}

SharedGroup search_payloads_together(const Peers& peers, const Transfers& mine, TransferList list,
                                     const events::DefinitionsCollector& names, Keep keep) {
  const std::uint64_t all = peers.sum(std::vector<std::uint64_t>{list.size()}).front();
  if (all < kMostForTheRest || !has_no_rounds(peers, mine, list, all) || !has_one_tag(peers, mine, list))
    return {};
  Cluster cluster;
  cluster.transfers = std::move(list);
  const std::vector<Instance> found = by_payloads(mine, cluster);
  std::vector<std::uint64_t> explained{0};
  for (const Instance& i : found) explained.front() += i.transfers.size();
  if (3 * peers.sum(explained).front() < 2 * all) return {};
  const auto ranks = ranks_of_all(peers, found);
  std::vector<Outline> outlines;
  for (const Instance& i : found) outlines.push_back(outline_of(mine, i));
  outlines = peers.all(outlines);
  std::ranges::sort(outlines, {}, &Outline::sent_at);
  if (ranks.empty() || may_be_merged(outlines, ranks.size())) return {};

  FindingParts parts{mine, names, keep};
  Finding part = parts.part(found);
  for (const Instance& i : found) add_new(part, parts.lines_of(i));
  std::vector<Finding> mine_alone;
  mine_alone.push_back(std::move(part));
  SharedGroup result;
  result.done = true;
  std::vector<Finding> everybodys;
  for (auto& its : at_first(peers, std::move(mine_alone))) everybodys.push_back(std::move(its.front()));
  if (!everybodys.empty()) result.findings.push_back(whole(std::move(everybodys), names, mine.ranks, keep));
  return result;
}

}  // namespace nplus1::detector
