// Private to Mailbox: what finds a message or a receive among many without looking at each. A channel gets its
// `Sorted` when a search has passed kFew entries, and loses it when it is empty; receives and probes from any source
// get a `Choice` for each (communicator, tag) that they ask for.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "semantics/mailbox.hpp"

namespace nplus1::semantics {

/// A search that has passed so many entries of a channel sorts them: fewer are faster to walk.
inline constexpr int kFew = 16;

/// One channel's entries by tag. Sequence numbers and orders of posting only grow, so the first of a tag is the
/// earliest.
struct Mailbox::Sorted {
  using ByTag = std::map<std::pair<std::int32_t, std::uint64_t>, Node>;

  ByTag messages;                                       // (tag, sequence)
  std::unordered_map<std::uint64_t, Node> by_sequence;  // messages
  ByTag receives;                                       // (tag, order of posting)
  bool sorts_messages = false;
  bool sorts_receives = false;

  [[nodiscard]] static Node first(const ByTag& all, std::int32_t tag) {
    const auto found = all.lower_bound({tag, 0});
    return found == all.end() || found->first.first != tag ? kNil : found->second;
  }
};

inline bool Mailbox::sorts_messages(const Channel& c) const {
  return c.sorted != kNil && sorted_[c.sorted]->sorts_messages;
}
inline bool Mailbox::sorts_receives(const Channel& c) const {
  return c.sorted != kNil && sorted_[c.sorted]->sorts_receives;
}

/// All receives from any source with one communicator and tag, and of each source the first message that they could
/// take: who is served next is at the front of both.
struct Mailbox::Choice {
  struct Key {
    Time at;  // when it is visible
    RankId source;
    std::uint64_t sequence;
    Node node;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  /// When the front receive could meet the first message, if nobody else wants it.
  using Ready = std::pair<Time, std::uint64_t>;  // and the receive's order of posting

  Choice(std::uint64_t comm_, std::int32_t tag_, std::pmr::memory_resource& pool)
      : comm{comm_}, tag{tag_}, receives{&pool}, firsts{&pool}, of_source{&pool}, held{&pool} {}

  [[nodiscard]] bool holds_back(std::uint64_t order) const {
    return !receives.empty() && receives.begin()->first < order;
  }

  std::uint64_t comm;
  std::int32_t tag;
  std::pmr::map<std::uint64_t, Receive> receives;  // by order of posting
  std::pmr::set<Key> firsts;
  std::pmr::unordered_map<std::int32_t, Key> of_source;
  /// Named receives that have a message but must wait for a receive of this choice: their order, and their source.
  std::pmr::set<std::pair<std::uint64_t, std::int32_t>> held;
  std::optional<Ready> ready;
};

struct Mailbox::Index {
  struct Hash {
    std::size_t operator()(const std::pair<std::uint64_t, std::int32_t>& key) const {
      return static_cast<std::size_t>(
          (key.first * 0x9e3779b97f4a7c15U + static_cast<std::uint32_t>(key.second)) * 0xd6e8feb86659fd93U >>
          20U);
    }
  };

  [[nodiscard]] Choice* find(std::uint64_t comm, std::int32_t tag) {
    const auto found = choices.find({comm, tag});
    return found == choices.end() ? nullptr : &found->second;
  }

  std::pmr::unsynchronized_pool_resource pool;  // keeps freed nodes: no allocation per message
  std::pmr::unordered_map<std::pair<std::uint64_t, std::int32_t>, Choice, Hash> choices{&pool};
  std::pmr::map<std::uint64_t, Choice*> fronts{&pool};  // choices with receives, by their first one's order
  std::pmr::set<std::pair<Choice::Ready, Choice*>> ready{&pool};
  std::pmr::unordered_map<std::uint64_t, std::pair<Choice*, std::uint64_t>> by_id{
      &pool};  // receives from any source
};

}  // namespace nplus1::semantics
