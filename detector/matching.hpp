// Puts the two ends of each message together, from the steps of their ranks. Whose ranks' steps are applied is the
// caller's choice: what only one end is known of stays open, and can be settled with whoever has the other.
// One thread. Memory: a Transfer for each message, a hash table entry for each that is still under way.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "detector/causal_order.hpp"
#include "detector/steps.hpp"
#include "detector/transfer.hpp"

namespace nplus1::detector {

class Matching {
 public:
  using Index = CausalOrder::Message;

  /// `ends` is told of each end of a message, in the order of the steps. `expected` messages find room without
  /// moving the others; any other number of them is as right.
  explicit Matching(Ends& ends, std::size_t expected = 0) : ends_{ends} { all_.reserve(expected); }

  void apply(const Step& step);

  [[nodiscard]] std::vector<Transfer>& transfers() { return all_; }
  /// Messages of which one end is known, by a number that is the message's own.
  [[nodiscard]] const std::unordered_map<std::uint64_t, Index>& open() const { return under_way_; }
  /// The receiver's end of a message that is open here.
  void arrive(Index index, std::uint64_t bytes, std::uint64_t buffer, CallSiteId site);

 private:
  struct Posted {
    std::uint64_t buffer;
    CallSiteId site;
  };

  /// What a rank has looked for since its last blocking receive.
  struct Poll {
    std::int32_t source;
    std::int32_t tag;
  };

  Index meet(std::int32_t source, std::int32_t destination, std::uint64_t sequence);
  void sent(const Step& step);
  void received(const Step& step);
  void matched(const Step& step);
  void completed(const Step& step);
  void captured(const Step& step);

  Ends& ends_;
  std::vector<Transfer> all_;
  std::unordered_map<std::uint64_t, Index> under_way_;  // by message_key()
  std::unordered_map<std::uint64_t, Posted> posted_;    // by (rank, request)
  std::unordered_map<std::int32_t, Poll> polls_;        // by rank
  std::unordered_map<std::uint64_t, Index> arrived_;    // matched, not yet waited for
};

}  // namespace nplus1::detector
