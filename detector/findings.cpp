#include "detector/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "detector/clusters.hpp"
#include "detector/composites.hpp"
#include "detector/doubts.hpp"
#include "detector/finding_parts.hpp"
#include "detector/neighbours.hpp"

namespace nplus1::detector {
namespace {

/// What becomes one finding: the same operation on the same ranks of one cluster, and of all others that share a line
/// with it, whoever called it. What is only possible stands apart, and does not make the rest so.
using Key = std::tuple<CollectiveKind, std::optional<Operation>, std::vector<std::int32_t>, bool>;

Key key_of(const Verdict& v) {
  return {v.kind, v.operation, v.ranks, v.certainty == Certainty::kPossible};
}

struct Listed {
  SourceLines source;
  std::vector<Instance> instances;
};

class Report {
 public:
  Report(const Transfers& transfers, const events::DefinitionsCollector& definitions, Keep keep)
      : transfers_{transfers}, definitions_{definitions}, keep_{keep}, parts_{transfers, definitions, keep} {}

  void add(std::vector<Instance> found) {
    found = without_neighbours(transfers_, std::move(found));
    std::map<Key, Listed> groups;
    for (Instance& i : found) {
      Listed& group = groups[key_of(i.verdict)];
      add_new(group.source, parts_.lines_of(i));
      group.instances.push_back(std::move(i));
    }
    for (auto& [key, group] : groups) add_group(groups_[key], std::move(group));
  }
  std::vector<Finding> take() {
    std::vector<Finding> findings;
    std::map<Alike, std::vector<std::vector<Finding>>> alike;  // of each kind, parts of one finding each
    for (auto& [key, groups] : groups_)
      for (Listed& group : groups) {
        // In the order in which they were sent, whichever cluster they were found in.
        std::ranges::stable_sort(group.instances, {}, [](const Instance& i) { return i.transfers.front(); });
        Finding f = parts_.part(group.instances);
        add_new(f, group.source);
        const auto& [kind, operation, ranks, possible] = key;
        add_part(alike[{kind, operation, possible}], std::move(f));
      }
    for (auto& [key, all] : alike)
      for (auto& parts : all)
        findings.push_back(whole(std::move(parts), definitions_, transfers_.ranks, keep_));
    sort_findings(findings);
    return findings;
  }

 private:
  static void add_group(std::vector<Listed>& known, Listed group) {
    const auto shares_line = [&](const Listed& other) {
      return std::ranges::find_first_of(other.source.lines, group.source.lines) != other.source.lines.end();
    };
    const auto same = std::ranges::find_if(known, shares_line);
    if (same == known.end()) {
      known.push_back(std::move(group));
      return;
    }
    add_new(same->source, group.source);
    std::ranges::move(group.instances, std::back_inserter(same->instances));
  }
  /// Without its ranks: the same lines on groups of ranks that have none in common are one finding.
  using Alike = std::tuple<CollectiveKind, std::optional<Operation>, bool>;

  static void add_part(std::vector<std::vector<Finding>>& known, Finding part) {
    const auto goes_with = [&](const Finding& other) {
      return std::ranges::find_first_of(other.ranks, part.ranks) == other.ranks.end();
    };
    const auto shares_line = [&](const Finding& other) {
      return std::ranges::find_first_of(other.lines, part.lines) != other.lines.end();
    };
    for (auto& parts : known)
      if (std::ranges::any_of(parts, shares_line) && std::ranges::all_of(parts, goes_with)) {
        parts.push_back(std::move(part));
        return;
      }
    known.push_back({});
    known.back().push_back(std::move(part));
  }

  const Transfers& transfers_;
  const events::DefinitionsCollector& definitions_;
  Keep keep_;
  FindingParts parts_;
  std::map<Key, std::vector<Listed>> groups_;
};

std::size_t credibly_explained(const std::vector<Instance>& found) {
  std::size_t sum = 0;
  for (const Instance& i : found)
    if (i.verdict.certainty > Certainty::kPossible) sum += i.transfers.size();
  return sum;
}

/// The cluster as a whole, or, where they explain more, its parts: what was joined may be several operations after all.
std::vector<std::vector<Instance>> best(const Transfers& transfers, const Cluster& cluster) {
  std::vector<std::vector<Instance>> whole;
  whole.push_back(find_instances(transfers, cluster));
  if (cluster.parts.empty() || credibly_explained(whole.front()) == cluster.transfers.size()) return whole;
  std::vector<std::vector<Instance>> parts;
  std::size_t by_parts = 0;
  for (const Cluster& part : cluster.parts)
    for (auto& found : best(transfers, part)) {
      by_parts += credibly_explained(found);
      parts.push_back(std::move(found));
    }
  return by_parts > credibly_explained(whole.front()) ? parts : whole;
}

/// What the clusters gave, with pairs joined that are one operation, and doubted. A pair stays two where it is only possible
/// as one, and a part of it is more by itself: a broadcast that is certain would be lost in an allreduce that nobody is shown.
void join_and_doubt(const Transfers& transfers, const events::DefinitionsCollector& definitions,
                    std::vector<std::vector<Instance>>& all) {
  std::vector<Joined> joined = join_composites(transfers, all);
  std::vector<std::vector<Instance>> apart;
  if (!joined.empty()) apart = all;
  doubt_exceptions(transfers, definitions, all);
  bool differs = false;
  for (Joined& pair : joined) {
    if (credibly_explained(all[pair.at]) > 0) continue;
    apart[pair.at] = std::move(pair.first);
    apart[pair.second_at] = std::move(pair.second);
    differs = true;
  }
  if (!differs) return;
  doubt_exceptions(transfers, definitions, apart);
  const auto credible = [](const std::vector<std::vector<Instance>>& lists) {
    std::size_t sum = 0;
    for (const auto& list : lists) sum += credibly_explained(list);
    return sum;
  };
  if (credible(apart) > credible(all)) all = std::move(apart);
}

bool has_line(const events::Frame& f) {
  return f.line != 0;
}

}  // namespace

std::string text_of(const events::Frame& f) {
  return has_line(f) ? fmt::format("{}:{}", f.file, f.line) : fmt::format("{}+0x{:x}", f.module, f.offset);
}

std::string line_of(CallSiteId site, const events::DefinitionsCollector& definitions) {
  const events::CallPath* path = definitions.call_path(site);
  if (path == nullptr || path->frames.empty()) return fmt::format("call path {}", site.value);
  const auto known = std::ranges::find_if(path->frames, has_line);
  return text_of(known != path->frames.end() ? *known : path->frames.front());
}

std::optional<std::string> caller_of(CallSiteId site, const events::DefinitionsCollector& definitions) {
  const events::CallPath* path = definitions.call_path(site);
  if (path == nullptr) return std::nullopt;
  const auto call = std::ranges::find_if(path->frames, has_line);
  if (call == path->frames.end()) return std::nullopt;
  const auto caller = std::find_if(call + 1, path->frames.end(), has_line);
  return caller == path->frames.end() ? std::nullopt : std::optional{text_of(*caller)};
}

void sort_findings(std::vector<Finding>& findings) {
  std::ranges::sort(findings, [](const Finding& a, const Finding& b) {
    return std::tie(b.certainty, b.messages, a.kind, a.ranks, a.lines, a.roots, a.operation) <
           std::tie(a.certainty, a.messages, b.kind, b.ranks, b.lines, b.roots, b.operation);
  });
}

std::vector<Finding> find_collectives(const Transfers& transfers,
                                      const events::DefinitionsCollector& definitions, Keep keep) {
  Report report{transfers, definitions, keep};
  std::vector<std::vector<Instance>> all;
  for (const Cluster& cluster : make_clusters(transfers))
    std::ranges::move(best(transfers, cluster), std::back_inserter(all));
  join_and_doubt(transfers, definitions, all);
  for (auto& found : all) report.add(std::move(found));
  return report.take();
}

std::string coverage_note(std::uint64_t messages, const Unknown& unknown, std::uint64_t unmatched) {
  std::string note;
  const auto say = [&](std::uint64_t count, const std::string& what) {
    if (count > 0) note += (note.empty() ? "" : "\n") + what;
  };
  say(unknown.hashes,
      fmt::format(
          "{} of {} messages come without hashes of their content: what moved data cannot be found among "
          "them, "
          "only barriers of empty messages. Run the program again with nplus1 run --record full --hash crc.",
          unknown.hashes, messages));
  say(unknown.sums, fmt::format("Of {} messages only a CRC-32 was recorded: no sum can be found among them, "
                                "and in large runs equal "
                                "hashes need not mean equal data. Run again with --hash crc.",
                                unknown.sums));
  say(unknown.crc,
      fmt::format(
          "Of {} messages no CRC-32 was recorded: among them no sum of floating-point numbers and no "
          "exclusive or "
          "can be found, and data that travels in pieces only by addresses. Run again with --hash crc.",
          unknown.crc));
  say(unmatched,
      fmt::format("{} messages are known at one end only (unfinished or not recorded) and were left out.",
                  unmatched));
  return note;
}

}  // namespace nplus1::detector
