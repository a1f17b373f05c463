// What the detector works on: the messages of a run, each with both its ends. Made once from a recording (or any
// other stream of events) by TransferCollector, in one pass; afterwards read only. One thread.
//
// Memory: kTransferBytes for each message, and a hash table entry for each that is still under way. What never
// meets its other half (a damaged or killed recording) is counted and left out.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "detector/causal_order.hpp"
#include "detector/content.hpp"
#include "events/definitions_collector.hpp"

namespace nplus1::detector {

struct Transfer {
  Content content;
  std::uint64_t source_buffer = 0;       // addresses, as the application passed them
  std::uint64_t destination_buffer = 0;
  std::int32_t source = 0;
  std::int32_t destination = 0;          // equal: a captured part, see nplus1_send_to_self
  std::int32_t tag = 0;
  CommId comm{};
  CallSiteId send_site{};
  CallSiteId receive_site{};
  DatatypeId datatype{};
  bool polled = false;                   // the receiver had looked for it before (MPI_Iprobe)
  std::uint32_t send_ordinal = 0;        // place in the sender's stream of events
  std::uint32_t sent_at = 0;             // places in one causal order of all sends and completed receives
  std::uint32_t received_at = 0;

  /// `source_buffer`, if the data lie there as one piece; else 0.
  [[nodiscard]] std::uint64_t source_place() const {
    return (content.known & events::kScattered) != 0 ? 0 : source_buffer;
  }
  [[nodiscard]] bool captured() const { return source == destination; }
};
inline constexpr std::size_t kTransferBytes = sizeof(Transfer);

struct Transfers {
  std::int32_t ranks = 0;
  std::vector<Transfer> all;             // in the order of sending
  std::uint64_t without_hashes = 0;      // messages with payload whose content is unknown
  std::uint64_t unmatched = 0;           // halves left out
};

class TransferCollector : public events::DefinitionsCollector {
 public:
  explicit TransferCollector(std::int32_t ranks) : order_{static_cast<std::size_t>(ranks)}, ranks_{ranks}, polls_(static_cast<std::size_t>(ranks)) {}

  void on_event(const events::TimedEvent& event) override;
  void on_match(RankId receiver, const events::Answer& match) override;

  /// Everything that was collected, in causal order. Once, at the end.
  [[nodiscard]] Transfers take();

 private:
  using Index = CausalOrder::Message;
  struct Posted {
    std::uint64_t buffer;
    CallSiteId site;
  };

  void on_send(const events::TimedEvent& event);
  void on_receive(const events::TimedEvent& event);
  void on_completion(const events::TimedEvent& event);
  void on_capture(const events::TimedEvent& event);
  /// What a rank has looked for since its last receive.
  struct Poll {
    std::int32_t source = 0;
    std::int32_t tag = 0;
    bool open = false;
  };

  [[nodiscard]] std::uint8_t element_of(DatatypeId id) const;
  Index meet(std::int32_t source, std::int32_t destination, std::uint64_t sequence);
  void arrive(Index index, std::uint64_t bytes, std::uint64_t buffer, CallSiteId site);
  void complete(std::int32_t rank, std::uint32_t request);

  std::vector<Transfer> all_;
  CausalOrder order_;
  std::int32_t ranks_;
  std::unordered_map<std::uint64_t, Index> under_way_;     // by (source, destination, sequence)
  std::vector<Poll> polls_;                                // of each rank
  std::unordered_map<std::uint64_t, Posted> posted_;       // by (rank, request)
  std::unordered_map<std::uint64_t, Index> arrived_;       // matched, not yet waited for
};

}  // namespace nplus1::detector
