// One time that a hand-written operation was carried out: what a drawing shows and a replay leaves out. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "detector/transfer.hpp"

namespace nplus1::detector {

/// A message of an operation, by where its send stands in the sender's stream of events.
struct Message {
  std::int32_t source = 0;
  std::int32_t destination = 0;
  std::uint64_t bytes = 0;
  std::uint32_t send_ordinal = 0;
  std::uint32_t step = 0;  // the sender can send it that many steps after the first message
};

struct Occurrence {
  std::optional<std::int32_t> root;
  std::uint64_t bytes = 0;
  std::vector<Message> messages;  // in the order of sending
  std::uint32_t sent_at = 0;      // place of the first one
  CommId comm{};
  DatatypeId datatype{};
  std::uint32_t group = 0;  // whose ranks it was among: an index into Finding::groups
};

/// `transfers` in the order of sending. Steps are counted as if each message took one, and each rank sent one in a
/// step: after what it has sent and received before.
[[nodiscard]] std::vector<Message> messages_of(std::span<const Transfer* const> transfers);

}  // namespace nplus1::detector
