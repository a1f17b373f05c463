// What the detector works on: the messages of a run, each with both its ends. Made once from a recording (or any
// other stream of events) by TransferCollector, in one pass; afterwards read only. One thread.
//
// Memory: kTransferBytes for each message, and a hash table entry for each that is still under way. What never
// meets its other half (a damaged or killed recording) is counted and left out.
#pragma once

#include <cstdint>
#include <vector>

#include "detector/causal_order.hpp"
#include "detector/matching.hpp"
#include "detector/steps.hpp"
#include "detector/transfer.hpp"

namespace nplus1::detector {

struct Transfers {
  std::int32_t ranks = 0;
  std::vector<Transfer> all;             // in the order of sending
  std::uint64_t without_hashes = 0;      // messages with payload whose content is unknown
  std::uint64_t unmatched = 0;           // halves left out
};

/// Of messages `all` with the places they got; those without a place at both ends are unmatched. Sorted if
/// `places` says how.
[[nodiscard]] Transfers transfers_of(std::int32_t ranks, std::vector<Transfer>&& all, CausalOrder::Places places);

/// Puts them into the order of sending, without a second copy.
void sort_by_sending(std::vector<Transfer>& all);

class TransferCollector : public StepReader {
 public:
  /// `expected`: messages, if that is known roughly.
  explicit TransferCollector(std::int32_t ranks, std::size_t expected = 0)
      : ranks_{ranks}, order_{static_cast<std::size_t>(ranks), expected}, matching_{order_, expected} {}

  /// Everything that was collected, in causal order. Once, at the end.
  [[nodiscard]] Transfers take();

 private:
  void on_step(const Step& step) override { matching_.apply(step); }

  std::int32_t ranks_;
  CausalOrder order_;
  Matching matching_;
};

}  // namespace nplus1::detector
