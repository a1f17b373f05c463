// A message with both its ends: what the detector works on.
#pragma once

#include <cstdint>

#include "detector/content.hpp"
#include "support/ids.hpp"

namespace nplus1::detector {

struct Transfer {
  Content content;
  std::uint64_t source_buffer = 0;  // addresses, as the application passed them
  std::uint64_t destination_buffer = 0;
  std::int32_t source = 0;
  std::int32_t destination = 0;  // equal: a captured part, see nplus1_send_to_self
  std::int32_t tag = 0;          // of a captured part: events::OwnPart
  CommId comm{};
  CallSiteId send_site{};
  CallSiteId receive_site{};
  DatatypeId datatype{};
  bool polled = false;             // the receiver had looked for it before (MPI_Iprobe)
  std::uint32_t send_ordinal = 0;  // place in the sender's stream of events
  std::uint32_t sent_at = 0;       // places in one causal order of all sends and completed receives
  std::uint32_t received_at = 0;

  /// `source_buffer`, if the data lie there as one piece; else 0.
  [[nodiscard]] std::uint64_t source_place() const {
    return (content.known & events::kScattered) != 0 ? 0 : source_buffer;
  }
  [[nodiscard]] bool captured() const { return source == destination; }
  [[nodiscard]] bool captured_as(events::OwnPart how) const {
    return captured() && tag == static_cast<std::int32_t>(how);
  }
};
inline constexpr std::size_t kTransferBytes = sizeof(Transfer);

}  // namespace nplus1::detector
