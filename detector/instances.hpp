// Finds the collectives among the transfers of one cluster: call sites that belong together, on ranks that are
// connected through them. Five ways, the first that explains the cluster wins:
//   rounds     each rank's calls, in order, cut into d equal parts: each part is an operation of its own
//   tags       the messages of each tag are an operation, or its rounds: programs number their operations so (HPL)
//   trees      each tree of all ranks, up or down, is an operation (gathers with another root each time)
//   payloads   what spreads is told apart by its content (rotating roots, irregular use)
//   lineage    what shares data, also in parts: scatter and allgather are one broadcast
// Pure. Times: linear in the transfers for payloads; rounds and lineage a few microseconds for each transfer.
#pragma once

#include <vector>

#include "detector/verdict.hpp"

namespace nplus1::detector {

/// More messages than this are not judged as one operation.
inline constexpr std::size_t kMostInOneRound = 300'000;
/// From so many messages on, parts of payloads are not looked for where whole ones explain most of it.
inline constexpr std::size_t kMostForTheRest = 200'000;

/// Of ranks, ascending.
using Group = std::vector<std::int32_t>;

struct Instance {
  Verdict verdict;
  TransferList transfers;         // in the order in which they were sent
  std::uint64_t repetitions = 1;  // the same content over the same ranks again
  std::uint64_t segments = 1;
};

struct Cluster {
  TransferList transfers;      // in the order in which they were sent
  TransferList captures;       // parts that its ranks kept and told of
  std::vector<Cluster> parts;  // what it was joined from; none: messages alone hold it together
};

/// Whether none of these messages holds anything: an operation on no elements, of which nothing shows what it is.
[[nodiscard]] bool is_empty(const Transfers& transfers, const TransferList& list);
/// The same operation as one of which more is known, but on no elements.
[[nodiscard]] Instance without_elements(const Verdict& known, TransferList list);
void sort_by_time(const Transfers& transfers, std::vector<Instance>& found);
/// `list` judged as one operation, with what its ranks had told before of parts that they keep. A broadcast is returned
/// without messages that only brought its data to the root. `alike`: see judge().
[[nodiscard]] std::optional<Instance> instance_of(const Transfers& transfers, const TransferList& captures,
                                                  TransferList list,
                                                  std::span<const TransferIndex> alike = {});
[[nodiscard]] std::vector<Instance> by_rounds(const Transfers& transfers, const Cluster& cluster);
/// Empty unless all tags have the same operation among the same ranks, and it is more than possible.
[[nodiscard]] std::vector<Instance> by_tags(const Transfers& transfers, const Cluster& cluster);
[[nodiscard]] std::vector<Instance> by_payloads(const Transfers& transfers, const Cluster& cluster);
[[nodiscard]] std::vector<Instance> by_lineage(const Transfers& transfers, const Cluster& cluster);
/// The first of them that explains something.
[[nodiscard]] std::vector<Instance> find_instances(const Transfers& transfers, const Cluster& cluster);

}  // namespace nplus1::detector
