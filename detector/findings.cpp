#include "detector/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "detector/clusters.hpp"

namespace nplus1::detector {
namespace {

std::string line_of(CallSiteId site, const events::DefinitionsCollector& definitions) {
  const events::CallPath* path = definitions.call_path(site);
  if (path == nullptr || path->frames.empty()) return fmt::format("call path {}", site.value);
  for (const events::Frame& f : path->frames)
    if (f.line != 0) return fmt::format("{}:{}", f.file, f.line);
  return fmt::format("{}+0x{:x}", path->frames.front().module, path->frames.front().offset);
}

template <class T>
void add_new(std::vector<T>& to, const std::vector<T>& more) {
  for (const T& item : more)
    if (std::ranges::find(to, item) == to.end()) to.push_back(item);
}

/// What becomes one finding: the same operation on the same ranks.
using Key = std::tuple<CollectiveKind, std::optional<Operation>, std::vector<std::int32_t>>;

/// At least so many small groups that overlap without being equal are neighbours' exchanges.
constexpr std::size_t kOverlappingGroups = 3;

bool overlap_partly(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
  std::vector<std::int32_t> both;
  std::ranges::set_intersection(a, b, std::back_inserter(both));
  return !both.empty() && a != b;
}

class Report {
 public:
  Report(const Transfers& transfers, const events::DefinitionsCollector& definitions)
      : transfers_{transfers}, definitions_{definitions} {}

  void add(std::vector<Instance> found) {
    suppress_neighbours(found);
    std::map<Key, std::vector<const Instance*>> groups;
    for (const Instance& i : found) groups[{i.verdict.kind, i.verdict.operation, i.verdict.ranks}].push_back(&i);
    for (const auto& [key, instances] : groups) findings_.push_back(finding(instances));
  }
  std::vector<Finding> take() {
    std::ranges::stable_sort(findings_, [](const Finding& a, const Finding& b) {
      return std::tie(b.certainty, b.messages) < std::tie(a.certainty, a.messages);
    });
    return std::move(findings_);
  }

 private:
  /// Many small spreads over overlapping groups from the same lines: a halo, not broadcasts.
  static void suppress_neighbours(std::vector<Instance>& found) {
    std::set<std::vector<std::int32_t>> groups;
    for (const Instance& i : found)
      if (groups.size() < 100) groups.insert(i.verdict.ranks);
    std::size_t overlapping = 0;
    for (const auto& a : groups)
      overlapping += std::ranges::any_of(groups, [&](const auto& b) { return overlap_partly(a, b); }) ? 1U : 0U;
    if (overlapping < kOverlappingGroups) return;
    // Of these the largest number of groups says nothing that one does not: one finding on all their ranks.
    Instance all;
    std::set<std::int32_t> ranks;
    for (const Instance& i : found) {
      ranks.insert(i.verdict.ranks.begin(), i.verdict.ranks.end());
      all.transfers.insert(all.transfers.end(), i.transfers.begin(), i.transfers.end());
      all.verdict.bytes = std::max(all.verdict.bytes, i.verdict.bytes);
    }
    all.verdict.kind = CollectiveKind::kNeighborAllgather;
    all.verdict.certainty = Certainty::kPossible;
    all.verdict.ranks.assign(ranks.begin(), ranks.end());
    all.verdict.evidence = {fmt::format("{} overlapping groups spread data from the same lines: neighbours that "
                                        "exchange the same with several others",
                                        groups.size())};
    found = {std::move(all)};
  }

  Finding finding(const std::vector<const Instance*>& instances) const {
    const Verdict& first = instances.front()->verdict;
    Finding f;
    f.kind = first.kind;
    f.operation = first.operation;
    f.ranks = first.ranks;
    f.certainty = Certainty::kCertain;
    std::set<std::int32_t> roots;
    std::set<std::uint64_t> payloads;
    std::uint64_t segments = 0;
    std::set<CallSiteId> sites;
    for (const Instance* i : instances) {
      f.certainty = std::min(f.certainty, i->verdict.certainty);
      roots.insert(i->verdict.roots.begin(), i->verdict.roots.end());
      payloads.insert(i->verdict.payload);
      f.count += i->repetitions;
      segments = std::max(segments, i->segments);
      f.messages += i->transfers.size();
      f.bytes = std::max(f.bytes, i->verdict.bytes);
      add_new(f.evidence, i->verdict.evidence);
      add_new(f.alternatives, i->verdict.alternatives);
      for (const TransferIndex t : i->transfers) {
        sites.insert(transfers_.all[t].send_site);
        sites.insert(transfers_.all[t].receive_site);
      }
    }
    f.roots.assign(roots.begin(), roots.end());
    for (const CallSiteId site : sites) add_new(f.lines, {line_of(site, definitions_)});
    if (f.kind == CollectiveKind::kBcast && payloads.size() < f.count)
      f.evidence.push_back(fmt::format("{} different payloads in {} broadcasts: {} are redundant", payloads.size(),
                                       f.count, f.count - payloads.size()));
    if (segments > 1) f.evidence.push_back(fmt::format("sent in {} segments", segments));
    describe_replacement(f, transfers_.all[instances.front()->transfers.front()]);
    return f;
  }

  void describe_replacement(Finding& f, const Transfer& sample) const {
    const events::Datatype* type = definitions_.datatype(sample.datatype);
    const events::Communicator* comm = definitions_.communicator(sample.comm);
    const bool whole = comm != nullptr && comm->members.size() == f.ranks.size();
    f.replacement = replacement_call(f, type == nullptr ? std::string_view{"datatype"} : std::string_view{type->name},
                                     static_cast<std::size_t>(transfers_.ranks), whole);
  }

  const Transfers& transfers_;
  const events::DefinitionsCollector& definitions_;
  std::vector<Finding> findings_;
};

std::size_t explained(const std::vector<Instance>& found) {
  std::size_t sum = 0;
  for (const Instance& i : found)
    if (i.verdict.certainty > Certainty::kPossible) sum += i.transfers.size();
  return sum;
}

}  // namespace

std::vector<Finding> find_collectives(const Transfers& transfers, const events::DefinitionsCollector& definitions) {
  Report report{transfers, definitions};
  const Clusters clusters = make_clusters(transfers);
  for (std::size_t i = 0; i < clusters.joined.size(); ++i) {
    auto whole = find_instances(transfers, clusters.joined[i]);
    // What was joined by content may be several operations after all.
    std::vector<std::vector<Instance>> parts;
    std::size_t by_parts = 0;
    if (explained(whole) < clusters.joined[i].transfers.size())
      for (const Cluster& part : clusters.parts[i]) {
        parts.push_back(find_instances(transfers, part));
        by_parts += explained(parts.back());
      }
    if (by_parts <= explained(whole)) parts = {std::move(whole)};
    for (auto& found : parts) report.add(std::move(found));
  }
  return report.take();
}

std::string coverage_note(const Transfers& transfers) {
  std::string note;
  if (transfers.without_hashes > 0)
    note = fmt::format(
        "{} of {} messages were recorded without hashes of their content: what moved data cannot be found among them, "
        "only barriers of empty messages. Run again with --record full --hash crc.",
        transfers.without_hashes, transfers.all.size());
  if (transfers.unmatched > 0)
    note += fmt::format("{}{} messages are known at one end only (unfinished or not recorded) and were left out.",
                        note.empty() ? "" : "\n", transfers.unmatched);
  return note;
}

}  // namespace nplus1::detector
