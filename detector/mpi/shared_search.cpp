#include "detector/mpi/shared_search.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "detector/mpi/shared_payloads.hpp"
#include "detector/paper_method.hpp"
#include "detector/site_groups.hpp"

namespace nplus1::detector {
namespace {

using Key = SiteGroups::Key;

/// Gives each message to the analyser that `owner` says, or to nobody; those that stay are not copied.
template <class Owner>
std::vector<Transfer> redistribute(const Peers& peers, std::vector<Transfer> mine, const Owner& owner) {
  std::vector<std::vector<Transfer>> out(peers.size());
  std::erase_if(mine, [&](const Transfer& t) {
    const std::size_t to = owner(t);
    if (to < out.size() && to != peers.rank()) out[to].push_back(t);
    return to != peers.rank();
  });
  for (const auto& list : peers.exchange(out)) mine.insert(mine.end(), list.begin(), list.end());
  return mine;
}

void merge_all(const Peers& peers, SiteGroups& sites) {
  sites.merge(peers.all(sites.joined()));
}

/// The first message of each from a place to another, that a rank sent with one tag: what join_by_place() needs.
std::vector<Transfer> first_from_each_place(const std::vector<Transfer>& mine) {
  std::set<std::tuple<std::int32_t, std::int32_t, CommId, CallSiteId, std::uint64_t, std::uint64_t>> seen;
  std::vector<Transfer> first;
  for (const Transfer& t : mine)
    if (!t.captured() &&
        seen.emplace(t.source, t.tag, t.comm, t.send_site, t.source_buffer, t.content.bytes).second)
      first.push_back(t);
  return first;
}

/// The groups of call sites of the whole run, by what everybody's messages say. Messages with one payload are all mine
/// or all somebody else's.
SiteGroups groups_of_run(const Peers& peers, const std::vector<Transfer>& mine, SiteGroups& by_messages) {
  SiteGroups sites;
  for (const Transfer& t : mine)
    if (!t.captured()) sites.add(t);
  sites.merge_signals(peers.all(sites.signals()));
  merge_all(peers, sites);
  by_messages = sites;
  if (sites.count() < 2) return sites;
  sites.join_by_content(mine);
  merge_all(peers, sites);
  sites.join_signals();
  auto places = redistribute(peers, first_from_each_place(mine), [&](const Transfer& t) {
    return static_cast<std::size_t>(t.source) % peers.size();
  });
  sort_by_sending(places);
  sites.join_by_place(places);
  merge_all(peers, sites);
  return sites;
}

/// Findings are put together by their lines, so groups that share a line stay together too.
void join_by_line(SiteGroups& sites, const events::DefinitionsCollector& definitions) {
  std::map<std::string, Key> first;
  std::vector<std::pair<Key, Key>> joined;
  for (const auto& [site, group] : sites.joined())
    joined.emplace_back(
        first.try_emplace(line_of(SiteGroups::call_site(site), definitions), site).first->second, site);
  sites.merge(joined);
}

struct Traffic {
  Key group;
  std::int64_t rank;
  std::uint64_t messages;  // of the group, that the rank sends
};

/// A gather or reduction and the broadcast of its result are one operation (composites.hpp): groups among the same
/// ranks, of which one has a multiple of the other's messages, stay together.
void join_by_ranks(const Peers& peers, const std::vector<Transfer>& mine, std::size_t ranks,
                   SiteGroups& sites) {
  const auto names = sites.names();
  // By rank: one more than the messages it sends, or nothing if it has no part in the group.
  std::unordered_map<SiteGroups::Id, std::vector<std::uint64_t>> counts;
  for (const Transfer& t : mine) {
    if (t.captured()) continue;
    auto& of = counts[sites.group(t)];
    of.resize(ranks);
    auto& receiver = of[static_cast<std::size_t>(t.destination)];
    auto& sender = of[static_cast<std::size_t>(t.source)];
    receiver = std::max(receiver, std::uint64_t{1});
    sender = std::max(sender, std::uint64_t{1}) + 1;
  }
  std::vector<Traffic> shares;
  for (const auto& [group, of] : counts)
    for (std::size_t r = 0; r < of.size(); ++r)
      if (of[r] > 0) shares.push_back({names.at(group), static_cast<std::int64_t>(r), of[r] - 1});
  std::map<Key, std::pair<std::set<std::int64_t>, std::uint64_t>> groups;
  for (const Traffic& s : peers.all(shares)) {
    groups[s.group].first.insert(s.rank);
    groups[s.group].second += s.messages;
  }
  std::map<std::set<std::int64_t>, std::vector<std::pair<std::uint64_t, Key>>> by_ranks;
  for (const auto& [group, of] : groups) by_ranks[of.first].emplace_back(of.second, group);
  std::vector<std::pair<Key, Key>> joined;
  for (const auto& [members, list] : by_ranks)
    for (std::size_t i = 0; i < list.size(); ++i)
      for (std::size_t k = 0; k < i; ++k)
        if (std::max(list[i].first, list[k].first) % std::min(list[i].first, list[k].first) == 0)
          joined.emplace_back(list[i].second, list[k].second);
  sites.merge(joined);
}

/// The analyser of each group: the largest first, to who has least.
std::map<Key, std::size_t> deal_out(const Peers& peers, const std::map<Key, TransferList>& mine) {
  std::map<Key, std::uint64_t> sizes;
  std::vector<std::pair<Key, std::uint64_t>> local;
  for (const auto& [group, list] : mine) local.emplace_back(group, list.size());
  for (const auto& [group, messages] : peers.all(local)) sizes[group] += messages;
  std::vector<std::pair<std::uint64_t, Key>> largest;
  for (const auto& [group, messages] : sizes) largest.emplace_back(messages, group);
  std::ranges::sort(largest, std::greater{});
  std::map<Key, std::size_t> analyser;
  std::vector<std::uint64_t> load(peers.size());
  for (const auto& [messages, group] : largest) {
    const auto least = static_cast<std::size_t>(std::ranges::min_element(load) - load.begin());
    analyser[group] = least;
    load[least] += messages;
  }
  return analyser;
}

/// Groups that messages alone hold together, by name: they are the same at all analysers.
std::set<Key> undivided(SiteGroups& by_messages, SiteGroups& sites) {
  std::map<Key, std::set<Key>> parts;
  const auto before = by_messages.names();
  const auto names = sites.names();
  for (const auto& [site, of] : sites.joined())
    parts[names.at(sites.group(site))].insert(before.at(by_messages.group(site)));
  std::set<Key> result;
  for (const auto& [group, its] : parts)
    if (its.size() == 1) result.insert(group);
  return result;
}

std::vector<Finding> search_groups(const Peers& peers, SharedReading& reading, Keep keep) {
  std::vector<Transfer>& all = reading.mine.all;
  SiteGroups by_messages;
  SiteGroups sites = groups_of_run(peers, all, by_messages);
  join_by_line(sites, reading.names);
  join_by_ranks(peers, all, static_cast<std::size_t>(reading.mine.ranks), sites);
  const auto names = sites.names();
  std::map<Key, TransferList> groups;
  for (const auto& [id, name] : names) groups[name];
  std::vector<Transfer> captures;
  for (TransferIndex i = 0; i < all.size(); ++i) {
    if (all[i].captured())
      captures.push_back(all[i]);
    else
      groups[names.at(sites.group(all[i]))].push_back(i);
  }
  std::vector<Finding> found;
  for (const Key group : undivided(by_messages, sites)) {
    auto shared = search_payloads_together(peers, reading.mine, groups.at(group), reading.names, keep);
    if (!shared.done) continue;
    std::ranges::move(shared.findings, std::back_inserter(found));
    groups.erase(group);
  }
  const auto analyser = deal_out(peers, groups);
  captures = peers.all(captures);
  all = redistribute(peers, std::move(all), [&](const Transfer& t) {
    const auto its = t.captured() ? analyser.end() : analyser.find(names.at(sites.group(t)));
    return its == analyser.end() ? peers.size() : its->second;
  });
  all.insert(all.end(), captures.begin(), captures.end());
  sort_by_sending(all);
  std::ranges::move(find_collectives(reading.mine, reading.names, keep), std::back_inserter(found));
  return found;
}

/// The paper's method; communicators as a whole only where Send_To_Self was called.
std::vector<Finding> search_payloads(const Peers& peers, SharedReading& reading) {
  const std::vector<Transfer> all = std::move(reading.mine.all);
  std::uint64_t captured = 0;
  for (const Transfer& t : all) captured += t.captured_as(events::OwnPart::kTold) ? 1U : 0U;
  reading.mine.all = redistribute(peers, all, [&](const Transfer& t) {
    return static_cast<std::size_t>(t.content.bytes == 0 ? t.comm.value : t.content.key()) % peers.size();
  });
  sort_by_sending(reading.mine.all);
  auto found = backward_replay(reading.mine.all, reading.mine.ranks, reading.names);
  if (std::ranges::max(peers.all(std::vector<std::uint64_t>{captured})) == 0) return found;
  reading.mine.all = redistribute(peers, all, [&](const Transfer& t) {
    return t.captured() ? peers.size() : static_cast<std::size_t>(t.comm.value) % peers.size();
  });
  std::vector<Transfer> captures;
  std::ranges::copy_if(all, std::back_inserter(captures), &Transfer::captured);
  captures = peers.all(captures);
  reading.mine.all.insert(reading.mine.all.end(), captures.begin(), captures.end());
  sort_by_sending(reading.mine.all);
  absorb(found, forward_replay(reading.mine, reading.names));
  return found;
}

}  // namespace

std::vector<Finding> search_together(const Peers& peers, SharedReading& reading, Method method, Keep keep) {
  return method == Method::kPaper ? search_payloads(peers, reading) : search_groups(peers, reading, keep);
}

}  // namespace nplus1::detector
