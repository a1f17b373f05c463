// Everybody's block to everybody (Allgather, Allgatherv).
#include <algorithm>

#include "netmodel/collectives/algorithms.hpp"
#include "netmodel/collectives/recursive_doubling.hpp"

namespace nplus1::netmodel::algorithms {
namespace {

/// MPICH's MPIR_CVAR_ALLGATHERV_PIPELINE_MSG_SIZE.
constexpr std::int64_t kPipelineChunk = 32768;

/// The blocks that pass one side of a member on the ring, against the ring's direction, in chunks.
class PassingBlocks {
 public:
  /// From block `first` on: all but one.
  PassingBlocks(const CollectiveCall& call, std::int32_t first)
      : blocks_{call}, members_{call.members}, block_{first}, left_{call.members - 1} {}

  [[nodiscard]] bool done() const { return left_ == 0; }
  /// The size of the next chunk; 0 for an empty block and when all have passed.
  std::int64_t next() {
    if (done()) return 0;
    const std::int64_t chunk = std::min(kPipelineChunk, blocks_.of(block_) - passed_);
    passed_ += chunk;
    if (passed_ == blocks_.of(block_)) next_block();
    return chunk;
  }

 private:
  void next_block() {
    block_ = (block_ == 0 ? members_ : block_) - 1;
    passed_ = 0;
    --left_;
  }

  Blocks blocks_;
  std::int32_t members_;
  std::int32_t block_;
  std::int32_t left_;
  std::int64_t passed_ = 0;  // of the current block
};

}  // namespace

void allgather_recursive_doubling(const CollectiveCall& call, std::vector<Step>& steps) {
  const Blocks blocks{call};
  append_recursive_doubling(
      call.members, call.me, [](std::int32_t member) { return member; },
      [&](std::int32_t first, std::int32_t last) { return blocks.range(first, last); }, steps);
}

/// Bruck et al. 1997: the blocks known double each round, for any number of members.
void allgather_bruck(const CollectiveCall& call, std::vector<Step>& steps) {
  const Blocks blocks{call};
  for (std::int32_t known = 1; known < call.members; known *= 2) {
    const std::int32_t given = std::min(known, call.members - known);
    exchange(steps, before(call, known), blocks.cyclic(call.me, given), after(call, known));
  }
}

/// Empty blocks are skipped: all members know the sizes.
void allgather_ring(const CollectiveCall& call, std::vector<Step>& steps) {
  const Blocks blocks{call};
  for (std::int32_t i = 0; i + 1 < call.members; ++i) {
    const std::int64_t given = blocks.of(before(call, i));
    const bool receives = blocks.of(before(call, i + 1)) > 0;
    exchange_unless_empty(steps, after(call, 1), given, receives ? before(call, 1) : kNoMember);
  }
}

/// The ring with blocks cut into chunks, so that a large block is passed on before it has arrived entirely.
void allgatherv_pipelined_ring(const CollectiveCall& call, std::vector<Step>& steps) {
  PassingBlocks outgoing{call, call.me};
  PassingBlocks incoming{call, before(call, 1)};
  while (!outgoing.done() || !incoming.done()) {
    const std::int64_t sent = outgoing.next();
    const std::int64_t received = incoming.next();
    exchange_unless_empty(steps, after(call, 1), sent, received > 0 ? before(call, 1) : kNoMember);
  }
}

}  // namespace nplus1::netmodel::algorithms
