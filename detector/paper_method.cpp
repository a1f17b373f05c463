#include "detector/paper_method.hpp"

#include <algorithm>
#include <boost/dynamic_bitset.hpp>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace nplus1::detector {
namespace {

using Set = boost::dynamic_bitset<>;

/// The processes of a communicator; all, if it is not known.
std::vector<std::int32_t> members_of(CommId comm, std::int32_t ranks,
                                     const events::DefinitionsCollector& names) {
  std::vector<std::int32_t> members;
  if (const events::Communicator* c = names.communicator(comm))
    for (const RankId r : c->members) members.push_back(r.value);
  if (members.empty()) {
    members.resize(static_cast<std::size_t>(ranks));
    std::iota(members.begin(), members.end(), 0);
  }
  std::ranges::sort(members);
  return members;
}

/// One payload in one communicator.
struct Payload {
  std::vector<const Transfer*> messages;  // in the order of sending
  std::vector<std::int32_t> members;

  [[nodiscard]] std::size_t member(std::int32_t rank) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(members, rank) - members.begin());
  }
};

/// Of each process, who has the payload from it, directly or not: figure 4b of the paper.
std::vector<Set> receivers(const Payload& payload) {
  struct End {
    std::uint32_t place;
    std::uint32_t message;
    bool receives;
  };
  std::vector<End> ends;
  for (std::uint32_t i = 0; i < payload.messages.size(); ++i) {
    ends.push_back({payload.messages[i]->sent_at, i, false});
    ends.push_back({payload.messages[i]->received_at, i, true});
  }
  std::ranges::sort(ends, std::greater{}, &End::place);
  std::vector<Set> sets(payload.members.size(), Set{payload.members.size()});
  std::vector<Set> sent_back(payload.messages.size());
  for (const End& end : ends) {
    const Transfer& t = *payload.messages[end.message];
    if (end.receives) {
      Set& set = sets[payload.member(t.destination)];
      set.set(payload.member(t.destination));
      sent_back[end.message] = set;
    } else {
      sets[payload.member(t.source)] |= sent_back[end.message];
      sent_back[end.message].clear();
    }
  }
  return sets;
}

/// From whom all others have it. Whoever has it back as well is a root only if there is no better one.
std::vector<std::int32_t> roots(const Payload& payload) {
  const auto sets = receivers(payload);
  std::vector<std::int32_t> strict;
  std::vector<std::int32_t> round;
  for (std::size_t m = 0; m < sets.size(); ++m) {
    const std::size_t others = sets[m].count() - (sets[m].test(m) ? 1 : 0);
    if (others + 1 < sets.size()) continue;
    (sets[m].test(m) ? round : strict).push_back(payload.members[m]);
  }
  return strict.empty() ? round : strict;
}

std::vector<std::string> lines_of(const Payload& payload, const events::DefinitionsCollector& names) {
  std::set<CallSiteId> sites;
  for (const Transfer* t : payload.messages) sites.insert({t->send_site, t->receive_site});
  std::set<std::string> lines;
  for (const CallSiteId site : sites) lines.insert(line_of(site, names));
  return {lines.begin(), lines.end()};
}

std::string call_for(Finding& f, const Payload& payload, const events::DefinitionsCollector& names) {
  const events::Datatype* type = names.datatype(payload.messages.front()->datatype);
  return replacement_call(f, type == nullptr ? std::string_view{"datatype"} : std::string_view{type->name},
                          f.ranks.size(), true);
}

std::optional<Finding> broadcast(const Payload& payload, const events::DefinitionsCollector& names) {
  const std::size_t p = payload.members.size();
  if (p < kFewestRanks || payload.messages.size() + 1 < p) return std::nullopt;
  Finding f;
  f.roots = roots(payload);
  if (f.roots.empty()) return std::nullopt;
  f.ranks = payload.members;
  f.groups = {f.ranks};
  f.bytes = payload.messages.front()->content.bytes;
  f.kind = f.bytes == 0 && f.roots.size() == p ? CollectiveKind::kBarrier : CollectiveKind::kBcast;
  if (f.bytes == 0 && f.kind == CollectiveKind::kBcast) return std::nullopt;
  f.certainty = f.roots.size() > 1 ? Certainty::kProbable : Certainty::kCertain;
  f.count = 1;
  f.messages = payload.messages.size();
  f.lines = lines_of(payload, names);
  f.evidence = {f.bytes == 0 ? "all empty messages together reach everybody from everybody"
                             : "backward replay: all other processes have the payload from the root"};
  if (f.kind == CollectiveKind::kBarrier) f.roots.clear();
  if (f.roots.size() > 1) f.alternatives = {"each of the roots can be the only one"};
  Occurrence o{f.roots.empty() ? std::nullopt : std::optional{f.roots.front()},
               f.bytes,
               messages_of(payload.messages),
               payload.messages.front()->sent_at,
               payload.messages.front()->comm,
               payload.messages.front()->datatype};
  f.occurrences.push_back(std::move(o));
  f.replacement = call_for(f, payload, names);
  return f;
}

auto key_of(const Finding& f) {
  return std::tie(f.kind, f.operation, f.ranks, f.lines);
}

/// The earlier one in its sender's stream, so that it does not matter who was first to find it.
bool before(const Occurrence& a, const Occurrence& b) {
  const Message& x = a.messages.front();
  const Message& y = b.messages.front();
  return std::tie(x.send_ordinal, x.source) < std::tie(y.send_ordinal, y.source);
}

void add(Finding& into, Finding&& more) {
  into.count += more.count;
  into.messages += more.messages;
  into.bytes = std::max(into.bytes, more.bytes);
  into.certainty = std::min(into.certainty, more.certainty);
  std::vector<std::int32_t> all;
  std::ranges::set_union(into.roots, more.roots, std::back_inserter(all));
  into.roots = std::move(all);
  std::set<std::string> alternatives(into.alternatives.begin(), into.alternatives.end());
  alternatives.insert(more.alternatives.begin(), more.alternatives.end());
  into.alternatives.assign(alternatives.begin(), alternatives.end());
  if (!more.occurrences.empty() && before(more.occurrences.front(), into.occurrences.front())) {
    into.occurrences = std::move(more.occurrences);
    into.replacement = std::move(more.replacement);
  }
}

}  // namespace

std::vector<Finding> backward_replay(std::span<const Transfer> transfers, std::int32_t ranks,
                                     const events::DefinitionsCollector& definitions) {
  std::map<std::pair<CommId, std::uint64_t>, Payload> payloads;
  for (const Transfer& t : transfers)
    if (!t.captured() && (t.content.hashed() || t.content.bytes == 0))
      payloads[{t.comm, t.content.bytes == 0 ? 0 : t.content.key()}].messages.push_back(&t);
  std::map<CommId, std::vector<std::int32_t>> members;
  std::vector<Finding> found;
  for (auto& [key, payload] : payloads) {
    auto& group = members[key.first];
    if (group.empty()) group = members_of(key.first, ranks, definitions);
    if (payload.messages.size() + 1 < group.size()) continue;
    payload.members = group;
    if (auto finding = broadcast(payload, definitions)) {
      std::vector<Finding> one;
      one.push_back(std::move(*finding));
      absorb(found, std::move(one));
    }
  }
  return found;
}

std::vector<Finding> forward_replay(const Transfers& transfers,
                                    const events::DefinitionsCollector& definitions) {
  std::map<CommId, std::vector<TransferIndex>> communicators;
  std::vector<TransferIndex> captures;
  for (TransferIndex i = 0; i < transfers.all.size(); ++i) {
    if (transfers.all[i].captured_as(events::OwnPart::kTold))
      captures.push_back(i);
    else if (!transfers.all[i].captured())
      communicators[transfers.all[i].comm].push_back(i);
  }
  std::vector<Finding> found;
  if (captures.empty()) return found;  // the paper's detector needs Send_To_Self for these
  for (auto& [comm, list] : communicators) {
    Payload payload;
    for (const TransferIndex i : list) payload.messages.push_back(&transfers.all[i]);
    list.insert(list.end(), captures.begin(), captures.end());
    const auto verdict = judge(transfers, list);
    if (!verdict) continue;
    const bool spreads = verdict->kind == CollectiveKind::kBcast || verdict->kind == CollectiveKind::kBarrier;
    if (spreads || verdict->ranks != members_of(comm, transfers.ranks, definitions)) continue;
    Finding f;
    f.kind = verdict->kind;
    f.operation = verdict->operation;
    f.certainty = verdict->certainty;
    f.ranks = verdict->ranks;
    f.groups = {f.ranks};
    f.roots = verdict->roots;
    f.count = 1;
    f.bytes = verdict->bytes;
    f.messages = payload.messages.size();
    f.lines = lines_of(payload, definitions);
    f.evidence = {"forward replay of all messages of the communicator, with Send_To_Self"};
    f.alternatives = verdict->alternatives;
    f.replacement = call_for(f, payload, definitions);
    found.push_back(std::move(f));
  }
  return found;
}

void absorb(std::vector<Finding>& into, std::vector<Finding> from) {
  for (Finding& f : from) {
    const auto same = std::ranges::find_if(into, [&](const Finding& g) { return key_of(f) == key_of(g); });
    if (same == into.end())
      into.push_back(std::move(f));
    else
      add(*same, std::move(f));
  }
}

void compose(std::vector<Finding>& findings) {
  for (Finding& f : findings) {
    const std::size_t p = f.ranks.size();
    if (f.kind == CollectiveKind::kBcast && f.roots.size() > 1)
      f.replacement = replacement_call(f, "datatype", p, true);
    if (f.kind != CollectiveKind::kBcast || f.roots != f.ranks || f.count % p != 0) continue;
    f.kind = CollectiveKind::kAllgather;
    f.count /= p;
    f.roots.clear();
    f.alternatives = {std::to_string(p) + " broadcasts, one from each process"};
    f.evidence.emplace_back("broadcasts from each process: all have the data of all");
    f.replacement = replacement_call(f, "datatype", p, true);
  }
}

std::vector<Finding> find_as_in_paper(const Transfers& transfers,
                                      const events::DefinitionsCollector& definitions) {
  auto found = backward_replay(transfers.all, transfers.ranks, definitions);
  absorb(found, forward_replay(transfers, definitions));
  compose(found);
  sort_findings(found);
  return found;
}

}  // namespace nplus1::detector
