// Which call sites belong together: those that exchange messages, those through which one payload came to a rank
// and left it, and those of a communicator that only ever pass signals. Sets over (communicator, call site), kept by
// Boost.Graph's disjoint sets. What several analysers found out apart can be put together: the sets are the same
// whoever saw which message. One thread.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <boost/pending/disjoint_sets.hpp>

#include "detector/transfer.hpp"

namespace nplus1::detector {

class SiteGroups {
 public:
  using Key = std::uint64_t;  // a site of a communicator
  using Id = std::uint32_t;

  [[nodiscard]] static CallSiteId call_site(Key site) { return CallSiteId{static_cast<std::uint32_t>(site)}; }

  /// Joins the sites of both ends. Not of captured parts, which belong to nobody's exchange.
  void add(const Transfer& t);
  /// The group of a message that was added; it may change with every join.
  [[nodiscard]] Id group(const Transfer& t) { return root(id(key(t.comm, t.send_site))); }
  [[nodiscard]] Id group(Key site) { return root(id(site)); }
  [[nodiscard]] std::size_t count();
  /// The smallest site of each group, by group: the same number for everybody who knows the same.
  [[nodiscard]] std::unordered_map<Id, Key> names();

  /// Messages with the same content have to be among the same `transfers`; others may be seen elsewhere.
  void join_by_content(std::span<const Transfer> transfers);
  /// A vector and its pieces: what a rank sends with one tag from places that overlap without being the same. All
  /// messages of a rank have to be among the same `transfers`, in the order of sending.
  void join_by_place(std::span<const Transfer> transfers);
  /// The halves of a barrier share no content. After all other joins.
  void join_signals();

  /// All that is known, for another one's merge(): pairs of sites of one group, and who passes signals only.
  [[nodiscard]] std::vector<std::pair<Key, Key>> joined();
  [[nodiscard]] std::vector<std::pair<Key, std::uint64_t>> signals() const;
  void merge(std::span<const std::pair<Key, Key>> joined);
  void merge_signals(std::span<const std::pair<Key, std::uint64_t>> signals);

 private:
  static Key key(CommId comm, CallSiteId site) { return Key{comm.value} << 32U | site.value; }
  Id id(Key site);
  Id root(Id site) { return sets_.find_set(site); }

  boost::disjoint_sets_with_storage<> sets_{0};
  std::unordered_map<Key, Id> ids_;
  std::vector<Key> sites_;
  std::vector<bool> only_signals_;  // of each site
  Key last_key_ = 0;
  Id last_ = ~Id{0};
};

}  // namespace nplus1::detector
