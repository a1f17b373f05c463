#include "detector/site_groups.hpp"

#include <algorithm>

#include "detector/payload_order.hpp"

namespace nplus1::detector {
namespace {

bool is_signal(const Transfer& t) {
  constexpr std::uint64_t kLongestSignal = 8;
  return t.content.bytes <= kLongestSignal && t.content.is_constant();
}

}  // namespace

SiteGroups::Id SiteGroups::id(Key site) {
  if (site == last_key_ && last_ < sites_.size()) return last_;
  const auto [place, first] = ids_.try_emplace(site, static_cast<Id>(sites_.size()));
  if (first) {
    sites_.push_back(site);
    only_signals_.push_back(true);
    sets_.link(place->second, place->second);  // makes room for it
  }
  last_key_ = site;
  return last_ = place->second;
}

void SiteGroups::add(const Transfer& t) {
  // A receive's site and a send's are the same number only if they are the same call.
  const Id receive = id(key(t.comm, t.receive_site));
  const Id send = id(key(t.comm, t.send_site));
  if (root(send) != root(receive)) sets_.union_set(send, receive);
  if (only_signals_[send] && !is_signal(t)) only_signals_[send] = false;
}

std::size_t SiteGroups::count() {
  std::size_t groups = 0;
  for (Id i = 0; i < sites_.size(); ++i) groups += root(i) == i ? 1U : 0U;
  return groups;
}

std::unordered_map<SiteGroups::Id, SiteGroups::Key> SiteGroups::names() {
  std::unordered_map<Id, Key> result;
  for (Id i = 0; i < sites_.size(); ++i) {
    const auto [place, first] = result.try_emplace(root(i), sites_[i]);
    place->second = std::min(place->second, sites_[i]);
  }
  return result;
}

void SiteGroups::join_by_content(std::span<const Transfer> transfers) {
  std::vector<KeyedTransfer> sorted;
  for (std::uint32_t i = 0; i < transfers.size(); ++i) {
    const Transfer& t = transfers[i];
    if (!t.captured() && t.content.hashed() && t.content.bytes > 0)
      sorted.push_back({t.content.key(), i, group(t)});
  }
  sort_by_payload(sorted);
  std::unordered_map<std::int32_t, Id> received;  // at which rank, through which site
  std::unordered_map<std::int32_t, Id> sent;      // by which rank, through which site
  for (std::size_t i = 0, end = 0; i < sorted.size(); i = end) {
    // What other payloads have joined meanwhile may be joined once more.
    bool several = false;
    for (end = i; end < sorted.size() && sorted[end].key == sorted[i].key; ++end)
      several = several || sorted[end].group != sorted[i].group;
    if (!several || transfers[sorted[i].transfer].content.is_constant()) continue;
    received.clear();
    sent.clear();
    for (std::size_t k = i; k < end; ++k) {
      const Transfer& t = transfers[sorted[k].transfer];
      const Id site = id(key(t.comm, t.send_site));
      received.emplace(t.destination, site);
      sets_.union_set(site, sent.emplace(t.source, site).first->second);
    }
    for (std::size_t k = i; k < end; ++k) {
      const Transfer& t = transfers[sorted[k].transfer];
      if (const auto r = received.find(t.source); r != received.end())
        sets_.union_set(id(key(t.comm, t.send_site)), r->second);
    }
  }
}

void SiteGroups::join_by_place(std::span<const Transfer> transfers) {
  struct Place {
    std::uint64_t begin, end;
    Id site;
  };
  constexpr std::size_t kMostPlaces = 16;
  std::unordered_map<std::uint64_t, std::vector<Place>> sent;  // by rank, communicator, tag
  for (const Transfer& t : transfers) {
    if (t.captured() || t.source_buffer == 0 || t.content.bytes == 0) continue;
    const std::uint64_t key = (std::uint64_t{t.comm.value} << 40U) ^
                              (static_cast<std::uint64_t>(t.source) << 20U) ^
                              (static_cast<std::uint64_t>(t.tag) * 0x9e3779b97f4a7c15U);
    auto& places = sent[key];
    const Place place{t.source_buffer, t.source_buffer + t.content.bytes,
                      id(SiteGroups::key(t.comm, t.send_site))};
    bool known = false;
    for (const Place& other : places) {
      const bool same = other.begin == place.begin && other.end == place.end;
      known = known || (same && other.site == place.site);
      if (!same && other.begin < place.end && place.begin < other.end)
        sets_.union_set(other.site, place.site);
    }
    if (!known && places.size() < kMostPlaces) places.push_back(place);
  }
}

void SiteGroups::join_signals() {
  std::vector<bool> whole(sites_.size(), true);
  for (Id i = 0; i < sites_.size(); ++i)
    if (!only_signals_[i]) whole[root(i)] = false;
  std::vector<Id> passing;
  for (Id i = 0; i < sites_.size(); ++i)
    if (whole[root(i)]) passing.push_back(i);
  std::unordered_map<std::uint64_t, Id> first;  // by communicator
  for (const Id i : passing) sets_.union_set(i, first.try_emplace(sites_[i] >> 32U, i).first->second);
}

std::vector<std::pair<SiteGroups::Key, SiteGroups::Key>> SiteGroups::joined() {
  std::vector<std::pair<Key, Key>> pairs;
  for (Id i = 0; i < sites_.size(); ++i) pairs.emplace_back(sites_[i], sites_[root(i)]);
  return pairs;
}

std::vector<std::pair<SiteGroups::Key, std::uint64_t>> SiteGroups::signals() const {
  std::vector<std::pair<Key, std::uint64_t>> result;
  for (Id i = 0; i < sites_.size(); ++i) result.emplace_back(sites_[i], only_signals_[i] ? 1U : 0U);
  return result;
}

void SiteGroups::merge(std::span<const std::pair<Key, Key>> joined) {
  for (const auto& [a, b] : joined) {
    const Id first = id(a);
    sets_.union_set(first, id(b));
  }
}

void SiteGroups::merge_signals(std::span<const std::pair<Key, std::uint64_t>> signals) {
  for (const auto& [site, only] : signals) {
    const Id i = id(site);
    if (only == 0) only_signals_[i] = false;
  }
}

}  // namespace nplus1::detector
