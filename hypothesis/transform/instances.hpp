// Cuts a set of messages that the user named into instances of one collective operation: which ranks form a
// group, who is the root, which messages belong to the same call. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hypothesis/transform/message_survey.hpp"
#include "hypothesis/transform/replace.hpp"
#include "support/result.hpp"

namespace nplus1::hypothesis::transform {

/// What the messages of an operation must have sent, as far as the recording knows it.
enum class Contents : std::uint8_t { kAny, kSame, kDifferent };

struct InstanceRule {
  CollectiveKind kind{};
  std::optional<std::int32_t> root;        // nothing: who does not receive (send) in an instance
  std::optional<std::uint64_t> instances;  // of each group; nothing: by rule
  std::optional<std::int64_t> bytes;       // nothing: from the messages
  std::size_t fewest = 2;                  // members; a group of fewer is an error
  Contents contents{};                     // of each instance; kDifferent: of one instance at least
  bool prompt = false;  // members that pass something on do no more than combine it in between
};

/// Groups are the parts of the graph of messages that hang together. In a broadcast or scatter, each member's
/// k-th receive is of instance k; in a gather or reduce, its k-th send; in others, the messages of each pair
/// of ranks are cut into `instances` equal parts (if all pairs have equally many: as many as these). Errors:
/// messages that do not come out even; of operations with a root, members that send before they have received.
[[nodiscard]] Result<std::vector<CollectiveInstance>> cut_into_instances(
    const std::vector<MessageCalls>& messages, const InstanceRule& rule);

[[nodiscard]] bool spreads(CollectiveKind kind);   // from the root to all
[[nodiscard]] bool collects(CollectiveKind kind);  // from all to the root

}  // namespace nplus1::hypothesis::transform
