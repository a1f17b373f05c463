#include "detector/finding_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

namespace nplus1::detector {

void add_new(SourceLines& to, const SourceLines& more) {
  add_new(to.lines, more.lines);
  add_new(to.callers, more.callers);
}

void add_new(Finding& to, const SourceLines& more) {
  add_new(to.lines, more.lines);
  add_new(to.callers, more.callers);
  std::ranges::sort(to.lines);
  std::ranges::sort(to.callers);
}

SourceLines FindingParts::lines_of(const Instance& instance) {
  std::set<CallSiteId> sites;
  const Transfer* before = nullptr;
  for (const TransferIndex i : instance.transfers) {
    const Transfer& t = transfers_.all[i];
    // Mostly the same two again: a set takes longer than all the rest of this.
    if (before == nullptr || before->send_site != t.send_site || before->receive_site != t.receive_site)
      sites.insert({t.send_site, t.receive_site});
    before = &t;
  }
  SourceLines all;
  for (const CallSiteId site : sites) add_new(all, lines_of(site));
  return all;
}

const SourceLines& FindingParts::lines_of(CallSiteId site) {
  const auto [place, is_new] = lines_.try_emplace(site);
  if (is_new) {
    place->second.lines = {line_of(site, definitions_)};
    if (auto caller = caller_of(site, definitions_)) place->second.callers = {std::move(*caller)};
  }
  return place->second;
}

Occurrence FindingParts::occurrence(const Instance& instance) const {
  Occurrence o;
  if (!instance.verdict.roots.empty()) o.root = instance.verdict.roots.front();
  o.bytes = instance.verdict.bytes;
  const Transfer& sample = transfers_.all[instance.transfers.front()];
  o.comm = sample.comm;
  o.datatype = sample.datatype;
  TransferList list = instance.transfers;
  std::ranges::sort(list);
  o.sent_at = transfers_.all[list.front()].sent_at;
  std::vector<const Transfer*> transfers;
  for (const TransferIndex i : list) transfers.push_back(&transfers_.all[i]);
  o.messages = messages_of(transfers);
  return o;
}

bool FindingParts::is_polled(const std::vector<Instance>& instances) const {
  return std::ranges::any_of(instances, [&](const Instance& i) {
    return std::ranges::any_of(i.transfers, [&](TransferIndex t) { return transfers_.all[t].polled; });
  });
}

Finding FindingParts::part(const std::vector<Instance>& instances) const {
  const Verdict& first = instances.front().verdict;
  Finding f;
  f.kind = first.kind;
  f.operation = first.operation;
  f.ranks = first.ranks;
  f.groups = {first.ranks};
  f.certainty = Certainty::kCertain;
  f.polled = is_polled(instances);
  std::set<std::int32_t> roots;
  std::set<std::uint64_t> payloads;
  for (const Instance& i : instances) {
    f.certainty = std::min(f.certainty, i.verdict.certainty);
    roots.insert(i.verdict.roots.begin(), i.verdict.roots.end());
    payloads.insert(i.verdict.payload);
    f.count += i.repetitions;
    f.segments = std::max(f.segments, i.segments);
    f.messages += i.transfers.size();
    f.bytes = std::max(f.bytes, i.verdict.bytes);
    add_new(f.evidence, i.verdict.evidence);
    add_new(f.alternatives, i.verdict.alternatives);
    if (f.occurrences.empty() || keep_ == Keep::kAll) f.occurrences.push_back(occurrence(i));
  }
  f.payloads = payloads.size();
  f.roots.assign(roots.begin(), roots.end());
  return f;
}

namespace {

void join(Finding& into, const Finding& more) {
  std::vector<std::uint32_t> group_of;  // of its groups, among all
  for (const auto& ranks : more.groups) {
    const auto known = std::ranges::find(into.groups, ranks);
    group_of.push_back(static_cast<std::uint32_t>(known - into.groups.begin()));
    if (known == into.groups.end()) into.groups.push_back(ranks);
  }
  add_new(into.ranks, more.ranks);
  std::ranges::sort(into.ranks);
  into.count += more.count;
  into.messages += more.messages;
  into.payloads += more.payloads;
  into.bytes = std::max(into.bytes, more.bytes);
  into.segments = std::max(into.segments, more.segments);
  into.certainty = std::min(into.certainty, more.certainty);
  into.polled = into.polled || more.polled;
  add_new(into.roots, more.roots);
  std::ranges::sort(into.roots);
  add_new(into, SourceLines{more.lines, more.callers});
  add_new(into.evidence, more.evidence);
  add_new(into.alternatives, more.alternatives);
  for (const Occurrence& o : more.occurrences) {
    into.occurrences.push_back(o);
    into.occurrences.back().group = group_of.at(o.group);
  }
}

void conclude(Finding& f, const events::DefinitionsCollector& definitions, std::int32_t world) {
  const bool broadcast = f.kind == CollectiveKind::kBcast;
  if (broadcast && f.payloads < f.count)
    f.evidence.push_back(fmt::format("{} different payloads in {} broadcasts: {} are redundant", f.payloads,
                                     f.count, f.count - f.payloads));
  if (f.segments > 1) f.evidence.push_back(fmt::format("sent in {} segments", f.segments));
  if (broadcast && f.polled)
    f.alternatives.emplace_back(
        "MPI_Ibcast, with MPI_Test where the receivers look for the message now (MPI_Iprobe): MPI_Bcast "
        "would lose what "
        "they compute in between");
  const Occurrence& sample = f.occurrences.front();
  const events::Datatype* type = definitions.datatype(sample.datatype);
  const events::Communicator* comm = definitions.communicator(sample.comm);
  f.replacement = replacement_call(
      f, type == nullptr ? std::string_view{"datatype"} : std::string_view{type->name},
      static_cast<std::size_t>(world), comm != nullptr && comm->members.size() == f.groups.front().size());
}

}  // namespace

Finding whole(std::vector<Finding> parts, const events::DefinitionsCollector& definitions, std::int32_t world,
              Keep keep) {
  const auto begin = [](const Finding& f) { return f.occurrences.front().sent_at; };
  std::ranges::sort(parts, {}, begin);
  Finding all = std::move(parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i) join(all, parts[i]);
  std::ranges::stable_sort(all.occurrences, {}, &Occurrence::sent_at);
  if (keep == Keep::kFirst) all.occurrences.resize(1);
  conclude(all, definitions, world);
  return all;
}

}  // namespace nplus1::detector
