// Which receive of a GOAL program gets which message: the first that fits, in the order of posting and of arrival. An operation's
// work grows with the logarithm of what is outstanding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

namespace nplus1::hypothesis {

/// Of whom, and which tag; of a receive either may be events::goal::kAnybody.
struct GoalEnvelope {
  std::int32_t source;
  std::int32_t tag;
};

/// A posted receive; or a message that nobody has asked for yet, with its sender's operation.
struct GoalEntry {
  GoalEnvelope envelope;
  std::uint32_t operation;
};

/// Entries by source, tag and the order in which they came.
using GoalEntries = std::map<std::tuple<std::int32_t, std::int32_t, std::uint64_t>, GoalEntry>;

/// Receives that wait for messages.
class PostedReceives {
 public:
  void push(const GoalEntry& receive);
  /// The first that takes a message of this source with this tag: it is removed.
  std::optional<GoalEntry> take(GoalEnvelope message);

 private:
  GoalEntries receives_;
  std::uint64_t posted_ = 0;
};

/// Messages that wait for receives.
class UnexpectedMessages {
 public:
  void push(const GoalEntry& message);
  /// The first that a receive with this envelope takes: it is removed.
  std::optional<GoalEntry> take(GoalEnvelope receive);
  [[nodiscard]] std::size_t size() const { return waiting_; }

 private:
  GoalEntries messages_;  // each by all that a receive can ask for
  std::uint64_t arrived_ = 0;
  std::size_t waiting_ = 0;
};

}  // namespace nplus1::hypothesis
