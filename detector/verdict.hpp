// Which collective operation a set of transfers is, judged by what it did, not by its pattern: pre- and
// postconditions on who had what before and after (Calotoiu et al. 2012, section 2). Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "detector/provenance.hpp"
#include "support/collective_kind.hpp"

namespace nplus1::detector {

/// possible: the structure fits, nothing more. probable: a step that only addresses vouch for, a part that was
/// never seen, or more than one reading. certain: each move of data is proved by hashes and by causality.
enum class Certainty : std::uint8_t { kPossible, kProbable, kCertain };
[[nodiscard]] const char* name(Certainty certainty);

/// The MPI name in lower case without the prefix: "reduce_scatter_block".
[[nodiscard]] const char* name(CollectiveKind kind);

struct Verdict {
  CollectiveKind kind{};
  std::optional<Operation> operation;
  Certainty certainty = Certainty::kCertain;
  std::vector<std::int32_t> ranks;  // ascending
  std::vector<std::int32_t> roots;  // world ranks; more than one: alternatives
  std::uint64_t bytes = 0;          // what one call would pass: the vector, or one member's (largest) block
  std::uint64_t payload = 0;        // equal for instances with equal content
  /// Bits that speak for it: an exchange without that meaning looks the same once in 2^proof.
  double proof = 0;
  double proof_once =
      0;  // of these, what instances with the same roots tell only once: what a program does always
  bool by_order =
      false;  // the content of the messages does not speak for it: all messages of its lines have to be so
  std::vector<std::string> evidence;
  std::vector<std::string> alternatives;
};

/// What a finding needs, of all its instances together, to be more than possible, and to be certain.
inline constexpr double kProbableProof = 14;
inline constexpr double kCertainProof = 30;

/// The fewest ranks of a finding: what two ranks do is a collective or an exchange, as one likes.
inline constexpr std::size_t kFewestRanks = 3;

/// The most bits that the spread of one payload counts for. Where everybody is a neighbour of everybody, with three ranks,
/// what goes to both neighbours, or wanders on once, reaches all: of each other rank that is one bit.
[[nodiscard]] double most_proof_of_spread(std::size_t members);

/// Nothing if it is none, or several at once. `alike`: more messages of the same lines, which show which of their elements
/// vary independently.
[[nodiscard]] std::optional<Verdict> judge(const Transfers& transfers, std::span<const TransferIndex> list,
                                           std::span<const TransferIndex> alike = {});

}  // namespace nplus1::detector
