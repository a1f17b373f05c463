#include "detector/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "detector/clusters.hpp"
#include "detector/composites.hpp"
#include "detector/neighbours.hpp"

namespace nplus1::detector {
namespace {

template <class T>
void add_new(std::vector<T>& to, const std::vector<T>& more) {
  for (const T& item : more)
    if (std::ranges::find(to, item) == to.end()) to.push_back(item);
}

/// What becomes one finding: the same operation on the same ranks of one cluster, and of all others that share a line
/// with it, whoever called it.
using Key = std::tuple<CollectiveKind, std::optional<Operation>, std::vector<std::int32_t>>;

struct Group {
  std::vector<std::string> lines;
  std::vector<Instance> instances;
};

class Report {
 public:
  Report(const Transfers& transfers, const events::DefinitionsCollector& definitions, Keep keep)
      : transfers_{transfers}, definitions_{definitions}, keep_{keep} {}

  void add(std::vector<Instance> found) {
    found = without_neighbours(transfers_, std::move(found));
    std::map<Key, Group> groups;
    for (Instance& i : found) {
      Group& group = groups[{i.verdict.kind, i.verdict.operation, i.verdict.ranks}];
      add_new(group.lines, lines_of(i));
      group.instances.push_back(std::move(i));
    }
    for (auto& [key, group] : groups) add_group(groups_[key], std::move(group));
  }
  std::vector<Finding> take() {
    std::vector<Finding> findings;
    for (auto& [key, groups] : groups_)
      for (Group& group : groups) {
        // In the order in which they were sent, whichever cluster they were found in.
        std::ranges::stable_sort(group.instances, {}, [](const Instance& i) { return i.transfers.front(); });
        std::ranges::sort(group.lines);
        findings.push_back(finding(group.instances, group.lines));
      }
    sort_findings(findings);
    return findings;
  }

 private:
  static void add_group(std::vector<Group>& known, Group group) {
    const auto shares_line = [&](const Group& other) {
      return std::ranges::find_first_of(other.lines, group.lines) != other.lines.end();
    };
    const auto same = std::ranges::find_if(known, shares_line);
    if (same == known.end()) {
      known.push_back(std::move(group));
      return;
    }
    add_new(same->lines, group.lines);
    std::ranges::move(group.instances, std::back_inserter(same->instances));
  }
  std::vector<std::string> lines_of(const Instance& instance) {
    std::set<CallSiteId> sites;
    const Transfer* before = nullptr;
    for (const TransferIndex i : instance.transfers) {
      const Transfer& t = transfers_.all[i];
      // Mostly the same two again: a set takes longer than all the rest of this.
      if (before == nullptr || before->send_site != t.send_site || before->receive_site != t.receive_site)
        sites.insert({t.send_site, t.receive_site});
      before = &t;
    }
    std::vector<std::string> lines;
    for (const CallSiteId site : sites) add_new(lines, {line(site)});
    std::ranges::sort(lines);
    return lines;
  }
  const std::string& line(CallSiteId site) {
    const auto [place, is_new] = lines_.try_emplace(site);
    if (is_new) place->second = line_of(site, definitions_);
    return place->second;
  }

  Finding finding(const std::vector<Instance>& instances, const std::vector<std::string>& lines) const {
    const Verdict& first = instances.front().verdict;
    Finding f;
    f.kind = first.kind;
    f.operation = first.operation;
    f.ranks = first.ranks;
    f.certainty = Certainty::kCertain;
    std::set<std::int32_t> roots;
    std::set<std::uint64_t> payloads;
    std::uint64_t segments = 0;
    f.lines = lines;
    for (const Instance& i : instances) {
      f.certainty = std::min(f.certainty, i.verdict.certainty);
      roots.insert(i.verdict.roots.begin(), i.verdict.roots.end());
      payloads.insert(i.verdict.payload);
      f.count += i.repetitions;
      segments = std::max(segments, i.segments);
      f.messages += i.transfers.size();
      f.bytes = std::max(f.bytes, i.verdict.bytes);
      add_new(f.evidence, i.verdict.evidence);
      add_new(f.alternatives, i.verdict.alternatives);
    }
    f.roots.assign(roots.begin(), roots.end());
    if (f.kind == CollectiveKind::kBcast && payloads.size() < f.count)
      f.evidence.push_back(fmt::format("{} different payloads in {} broadcasts: {} are redundant", payloads.size(),
                                       f.count, f.count - payloads.size()));
    if (segments > 1) f.evidence.push_back(fmt::format("sent in {} segments", segments));
    if (f.kind == CollectiveKind::kBcast && is_polled(instances))
      f.alternatives.emplace_back(
          "MPI_Ibcast, with MPI_Test where the receivers look for the message now (MPI_Iprobe): MPI_Bcast would lose what "
          "they compute in between");
    describe_replacement(f, transfers_.all[instances.front().transfers.front()]);
    for (const Instance& i : instances) {
      f.occurrences.push_back(occurrence(i));
      if (keep_ == Keep::kFirst) break;
    }
    return f;
  }

  Occurrence occurrence(const Instance& instance) const {
    Occurrence o;
    if (!instance.verdict.roots.empty()) o.root = instance.verdict.roots.front();
    o.bytes = instance.verdict.bytes;
    TransferList list = instance.transfers;
    std::ranges::sort(list);
    std::vector<const Transfer*> transfers;
    for (const TransferIndex i : list) transfers.push_back(&transfers_.all[i]);
    o.messages = messages_of(transfers);
    return o;
  }

  [[nodiscard]] bool is_polled(const std::vector<Instance>& instances) const {
    return std::ranges::any_of(instances, [&](const Instance& i) {
      return std::ranges::any_of(i.transfers, [&](TransferIndex t) { return transfers_.all[t].polled; });
    });
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
  Keep keep_;
  std::map<Key, std::vector<Group>> groups_;
  std::unordered_map<CallSiteId, std::string> lines_;
};

std::size_t explained(const std::vector<Instance>& found) {
  std::size_t sum = 0;
  for (const Instance& i : found)
    if (i.verdict.certainty > Certainty::kPossible) sum += i.transfers.size();
  return sum;
}

/// The cluster as a whole, or, where they explain more, its parts: what was joined may be several operations after all.
std::vector<std::vector<Instance>> best(const Transfers& transfers, const Cluster& cluster) {
  std::vector<std::vector<Instance>> whole;
  whole.push_back(find_instances(transfers, cluster));
  if (cluster.parts.empty() || explained(whole.front()) == cluster.transfers.size()) return whole;
  std::vector<std::vector<Instance>> parts;
  std::size_t by_parts = 0;
  for (const Cluster& part : cluster.parts)
    for (auto& found : best(transfers, part)) {
      by_parts += explained(found);
      parts.push_back(std::move(found));
    }
  return by_parts > explained(whole.front()) ? parts : whole;
}

}  // namespace

std::string line_of(CallSiteId site, const events::DefinitionsCollector& definitions) {
  const events::CallPath* path = definitions.call_path(site);
  if (path == nullptr || path->frames.empty()) return fmt::format("call path {}", site.value);
  for (const events::Frame& f : path->frames)
    if (f.line != 0) return fmt::format("{}:{}", f.file, f.line);
  return fmt::format("{}+0x{:x}", path->frames.front().module, path->frames.front().offset);
}

void sort_findings(std::vector<Finding>& findings) {
  std::ranges::sort(findings, [](const Finding& a, const Finding& b) {
    return std::tie(b.certainty, b.messages, a.kind, a.ranks, a.lines, a.roots, a.operation) <
           std::tie(a.certainty, a.messages, b.kind, b.ranks, b.lines, b.roots, b.operation);
  });
}

std::vector<Finding> find_collectives(const Transfers& transfers, const events::DefinitionsCollector& definitions,
                                      Keep keep) {
  Report report{transfers, definitions, keep};
  std::vector<std::vector<Instance>> all;
  for (const Cluster& cluster : make_clusters(transfers))
    std::ranges::move(best(transfers, cluster), std::back_inserter(all));
  join_composites(transfers, all);
  for (auto& found : all) report.add(std::move(found));
  return report.take();
}

std::string coverage_note(std::uint64_t messages, std::uint64_t without_hashes, std::uint64_t unmatched) {
  std::string note;
  if (without_hashes > 0)
    note = fmt::format(
        "{} of {} messages were recorded without hashes of their content: what moved data cannot be found among them, "
        "only barriers of empty messages. Run again with --record full --hash crc.",
        without_hashes, messages);
  if (unmatched > 0)
    note += fmt::format("{}{} messages are known at one end only (unfinished or not recorded) and were left out.",
                        note.empty() ? "" : "\n", unmatched);
  return note;
}

}  // namespace nplus1::detector
