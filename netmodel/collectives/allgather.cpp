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
      : blocks_{call},
        members_{call.members},
        chunk_{piece_of(blocks_.total(), kPipelineChunk)},
        block_{first},
        left_{call.members - 1} {}

  [[nodiscard]] bool done() const { return left_ == 0; }
  /// The size of the next chunk; 0 for an empty block and when all have passed.
  std::int64_t next() {
    if (done()) return 0;
    const std::int64_t chunk = std::min(chunk_, blocks_.of(block_) - passed_);
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
  std::int64_t chunk_;
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

/// Open MPI's ring: empty blocks travel too.
void allgatherv_openmpi_ring(const CollectiveCall& call, std::vector<Step>& steps) {
  const Blocks blocks{call};
  for (std::int32_t i = 0; i + 1 < call.members; ++i) {
    exchange(steps, after(call, 1), blocks.of(before(call, i)), before(call, 1));
  }
}

/// Chen et al. 2005: pairs of neighbours exchange a block each, then pass pairs of blocks on, to the left and
/// to the right in turns. An odd number of members takes the ring.
void allgather_neighbor_exchange(const CollectiveCall& call, std::vector<Step>& steps) {
  if (call.members % 2 != 0) return allgatherv_openmpi_ring(call, steps);
  const Blocks blocks{call};
  const bool even = call.me % 2 == 0;
  const std::int32_t partner = call.me ^ 1;
  const std::int32_t other = even ? before(call, 1) : after(call, 1);
  exchange(steps, partner, blocks.of(call.me), partner);
  std::int32_t newest = call.me & ~1;  // first of the two blocks that came last
  for (std::int32_t i = 1; i < call.members / 2; ++i) {
    const std::int32_t peer = i % 2 == 0 ? partner : other;
    exchange(steps, peer, blocks.range(newest, newest + 2), peer);
    const std::int32_t reached = (i + 1) / 2 * 2;  // blocks from the own pair, to that side
    newest = (call.me & ~1) + (even == (i % 2 == 0) ? reached : call.members - reached);
    newest %= call.members;
  }
}

/// Gatherv to member 0, then whatever Open MPI takes to broadcast one element of the whole size.
void allgatherv_openmpi_gather_bcast(const CollectiveCall& call, std::vector<Step>& steps) {
  const Blocks blocks{call};
  CollectiveCall rooted = call;
  rooted.root = 0;
  rooted.size = bytes(blocks.of(call.me));
  gather_linear(rooted, steps);
  rooted.kind = CollectiveKind::kBcast;
  rooted.size = bytes(blocks.total());
  rooted.sizes = {};
  append_openmpi(rooted, steps);
}

/// Everybody to everybody at once.
void allgather_linear(const CollectiveCall& call, std::vector<Step>& steps) {
  const Blocks blocks{call};
  const std::size_t first_step = steps.size();
  for (std::int32_t to = 0; to < call.members; ++to) {
    if (to != call.me) send(steps, to, blocks.of(call.me));
  }
  for (std::int32_t from = 0; from < call.members; ++from) {
    if (from != call.me) receive(steps, from);
  }
  join_from(steps, first_step);
}

}  // namespace nplus1::netmodel::algorithms
