// What the detector works on: the messages of a run, each with both its ends. Made once from a recording (or any
// other stream of events) by TransferCollector, in one pass; afterwards read only. One thread.
//
// Memory: kTransferBytes for each message that is kept, 12 bytes for each, and a hash table entry for each that is still
// under way. What never
// meets its other half (a damaged or killed recording) is counted and left out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "detector/causal_order.hpp"
#include "detector/matching.hpp"
#include "detector/steps.hpp"
#include "detector/transfer.hpp"

namespace nplus1::detector {

struct Transfers {
  std::int32_t ranks = 0;
  std::vector<Transfer> all;  // in the order of sending
  Unknown unknown;
  std::uint64_t unmatched = 0;  // halves left out
};

/// Room for the messages of a recording of so many bytes: seldom less than 16 bytes each, hardly ever less than 4.
/// Room that is not used is not touched either, but more than the machine has would be refused.
[[nodiscard]] constexpr std::size_t expected_messages(std::uint64_t bytes) {
  constexpr std::uint64_t kMostReserved = std::uint64_t{1} << 25U;
  return static_cast<std::size_t>(std::max(bytes / 16, std::min(bytes / 4, kMostReserved)));
}

/// Puts them into the order of sending, without a second copy.
void sort_by_sending(std::vector<Transfer>& all);

class TransferCollector : public StepReader {
 public:
  /// `expected`: messages, if that is known roughly. With a `share` only that is kept, with the places that its
  /// messages have among all.
  explicit TransferCollector(std::int32_t ranks, std::size_t expected = 0, Share share = {})
      : ranks_{ranks},
        share_{share},
        order_{static_cast<std::size_t>(ranks), expected},
        matching_{order_, expected, share} {}

  /// Everything that was kept, in causal order. Once, at the end.
  [[nodiscard]] Transfers take();

 private:
  void on_step(const Step& step) override { matching_.apply(step); }

  /// Whether nobody else counts a message of which one end is missing.
  [[nodiscard]] bool is_mine(Ends::Message number, bool sent) const {
    return number != Matching::kNobody && (sent || number % share_.parts == share_.part);
  }

  std::int32_t ranks_;
  Share share_;
  CausalOrder order_;
  Matching matching_;
};

}  // namespace nplus1::detector
