// Point-to-point messages replaced by the collective operation that they make by hand.
//
// Each instance is a set of messages among a group. The group's ranks call the collective, once an instance,
// on a communicator that is theirs alone: who has the data (the root of a broadcast; with operations on all,
// everybody) where it first sends, who waits for them where its first receive completes, or where it first
// looks for the message (MPI_Iprobe): a blocking collective there is what replacing a polled one comes to.
// Who gives something away (gather, reduce) calls it where it last sends, who gathers where its last receive
// completes. The calls of the messages vanish; computing between them stays. Creating the communicator costs
// nothing.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "hypothesis/transform/message_survey.hpp"
#include "hypothesis/transform/transform.hpp"
#include "support/collective_kind.hpp"

namespace nplus1::hypothesis::transform {

/// A message by its send: the place of that call in its rank's stream (TimedEvent::ordinal).
struct MessageKey {
  std::int32_t source = -1;
  std::uint64_t sent = 0;
  friend bool operator==(const MessageKey&, const MessageKey&) = default;
};

/// One operation of a group, and the messages that made it by hand.
struct CollectiveInstance {
  CollectiveKind kind{};
  std::vector<RankId> ranks;         // of the communicator, in its order
  std::optional<std::int32_t> root;  // in MPI_COMM_WORLD, of kinds that have one
  std::int64_t bytes = 0;            // Event::size of the kind: the vector, or one member's block
  std::vector<MessageKey> messages;
};

/// The kinds that can be put in place of messages. Those with sizes for each member are priced as their plain
/// forms with the block given, for which the largest is the careful choice; neighbourhoods cannot.
[[nodiscard]] std::optional<CollectiveKind> replaceable(CollectiveKind kind);

/// To be added to a Chain. Errors of its survey: messages that are not in the recording, a group of one,
/// kinds that are not replaceable, groups that do not come in the same order on all their ranks.
[[nodiscard]] std::unique_ptr<Transform> make_replacement(std::vector<CollectiveInstance> instances,
                                                          std::uint32_t first_free_comm);

/// Verb `replace`: messages by selector, cut into instances by rule (docs/formats/hypothesis.md).
[[nodiscard]] Result<std::unique_ptr<Transform>> make_replace(const Step& step,
                                                              const events::DefinitionsCollector& names);

}  // namespace nplus1::hypothesis::transform
