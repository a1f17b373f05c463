// The communicators of a run, and the traffic and time on each. Memory: eight bytes for each that ever was, each list of
// members once, and the counters of those that were used most lately or longest. Not thread-safe.
#pragma once

#include <map>
#include <vector>

#include "events/definitions.hpp"
#include "patterns/patterns.hpp"

namespace nplus1::patterns {

inline constexpr std::size_t kMostCommunicators = 1000;  // in the result
/// Counters that are kept; when they are as many, the half with the least time is given up.
inline constexpr std::size_t kMostCommunicatorsCounted = 16 * kMostCommunicators;

class Communicators {
 public:
  struct Use {
    CommId id;
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    std::uint64_t collective_calls = 0;
    Duration time{};
    Duration waiting{};
  };

  /// The world is defined from the start.
  explicit Communicators(std::size_t ranks);

  void define(const events::Communicator& communicator);
  /// Its members and first group (`id` is that of the first communicator with the same ones); null if it was never defined.
  [[nodiscard]] const events::Communicator* definition(CommId id) const;
  /// Its counters, until the next call; null if it was never defined.
  [[nodiscard]] Use* use(CommId id) {
    const std::uint32_t known = id.index() < places_.size() ? places_[id.index()].use : kNone;
    return known != kNone ? &uses_[known] : first_use(id);
  }
  [[nodiscard]] std::uint32_t size(CommId id) const;
  /// Those that were used: by number, or, where there are more than kMostCommunicators, those with the most time.
  [[nodiscard]] std::vector<CommunicatorUse> uses(std::uint64_t& left_out) const;

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  using Members = std::pair<std::vector<RankId>, std::size_t>;  // and the size of the first group
  struct Place {
    std::uint32_t definition = kNone;
    std::uint32_t use = kNone;
  };

  Use* first_use(CommId id);
  void give_up_half();

  std::vector<Place> places_;  // by CommId
  std::map<Members, std::uint32_t> known_;
  std::vector<events::Communicator> definitions_;
  std::vector<Use> uses_;
  std::uint64_t given_up_ = 0;
};

/// "0-3,8,12-15", in the given order.
[[nodiscard]] std::string rank_list(const std::vector<RankId>& ranks);

}  // namespace nplus1::patterns
