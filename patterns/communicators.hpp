// The communicators of a run, and the traffic and time on each. Memory: their members, and a few counters
// each. Not thread-safe.
#pragma once

#include <vector>

#include "events/definitions.hpp"
#include "patterns/patterns.hpp"

namespace nplus1::patterns {

inline constexpr std::size_t kMostCommunicators = 1000;  // in the result

class Communicators {
 public:
  struct Entry {
    events::Communicator definition;  // no members: not defined
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    std::uint64_t collective_calls = 0;
    std::uint64_t calls = 0;
    Duration time{};
    Duration waiting{};
  };

  /// The world is defined from the start.
  explicit Communicators(std::size_t ranks);

  void define(const events::Communicator& communicator);
  /// Null if it was never defined.
  [[nodiscard]] Entry* find(CommId id) {
    return id.index() < entries_.size() && !entries_[id.index()].definition.members.empty()
               ? &entries_[id.index()]
               : nullptr;
  }
  [[nodiscard]] std::uint32_t size(CommId id) const;
  /// Those that were used: by number, or, where there are more than kMostCommunicators, those with the most
  /// time.
  [[nodiscard]] std::vector<CommunicatorUse> uses(std::uint64_t& left_out) const;

 private:
  std::vector<Entry> entries_;  // by CommId
};

/// "0-3,8,12-15", in the given order.
[[nodiscard]] std::string rank_list(const std::vector<RankId>& ranks);

}  // namespace nplus1::patterns
