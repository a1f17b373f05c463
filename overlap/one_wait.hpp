// Where a change of the source waits for a chain: at one place of the program, for all of its ranks and all of its
// times, while each instance alone could wait until its own data are used. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "overlap/chains.hpp"

namespace nplus1::overlap {

enum class WaitsAt : std::uint8_t {
  kBeforeLine,  // before the line of the calls' function that comes first of all that end an instance
  kAfterCalls,  // straight after the calls: what ends an instance is not in their function, or its line is not known
  kEndOfBlock,  // nothing but the end of the program ends an instance
};
[[nodiscard]] const char* name(WaitsAt where);

struct OneWait {
  WaitsAt where{};
  events::Frame line;             // kBeforeLine: in the function of the calls
  std::set<std::uint32_t> sites;  // kBeforeLine: what ends instances there
};

/// `group`: places in `analysis.chains`, the chain's first (with_parts()). A line above the calls is reached around a
/// loop, so it comes later than those below.
[[nodiscard]] OneWait one_wait_of(const Survey& survey, const Analysis& analysis,
                                  const std::vector<std::size_t>& group);

/// Where the instances of a group are when the program comes to that place, never behind their own ends. An instance
/// that ends there says itself where it is. One that goes by without using its data is there after as many calls and
/// as much computing as the first of those that end there the same time round, in whatever rank.
class OneWaitPlaces {
 public:
  OneWaitPlaces(const Survey& survey, const Analysis& analysis, const std::vector<std::size_t>& group);

  [[nodiscard]] const OneWait& wait() const { return wait_; }
  /// `round`: how many instances of the group its rank has seen before it. The instance must have a recorded end.
  [[nodiscard]] Position of(const ChainInstance& instance, std::size_t round) const;

 private:
  /// From a chain's last call: so many calls of its thread, and then so much computing.
  struct Distance {
    std::size_t calls = 0;
    std::int64_t computed_ps = 0;
    friend auto operator<=>(const Distance&, const Distance&) = default;
  };
  [[nodiscard]] Distance to_its_end(const ChainInstance& instance) const;
  [[nodiscard]] bool ends_there(const ChainInstance& instance) const;
  [[nodiscard]] const Distance& distance(std::size_t round) const;

  const Survey& survey_;
  const Analysis& analysis_;
  OneWait wait_;
  std::map<std::size_t, Distance> by_round_;
};

/// All instances of the group, each rank's in the order of their calls.
[[nodiscard]] std::vector<std::vector<const ChainInstance*>> rounds_of(const Analysis& analysis,
                                                                       std::size_t ranks,
                                                                       const std::vector<std::size_t>& group);

}  // namespace nplus1::overlap
