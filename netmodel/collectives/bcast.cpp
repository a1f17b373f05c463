// One member's vector to all: trees for short vectors, scatter and allgather for long ones.
#include <algorithm>

#include "netmodel/collectives/algorithms.hpp"
#include "netmodel/collectives/recursive_doubling.hpp"
#include "netmodel/collectives/trees.hpp"

namespace nplus1::netmodel::algorithms {
namespace {

/// The vector cut in equal blocks of whole units, the last ones shorter or empty. MPICH's unit is a byte,
/// Open MPI's an element.
struct Pieces {
  explicit Pieces(const CollectiveCall& call, std::int64_t unit = 1)
      : size{count(call.size)}, each{(size / unit + call.members - 1) / call.members * unit} {}

  [[nodiscard]] std::int64_t offset(std::int32_t piece) const { return std::min(size, each * piece); }
  [[nodiscard]] std::int64_t range(std::int32_t first, std::int32_t last) const {
    return offset(last) - offset(first);
  }

  std::int64_t size;
  std::int64_t each;
};

/// Binomial scatter of the pieces; members whose subtree gets no bytes are left out. MPICH's non-blocking
/// form takes all that follows in the vector for the first child's, though the member was given less.
void scatter_pieces(const CollectiveCall& call, const Pieces& pieces, std::vector<Step>& steps) {
  const Relative relative{call.members, call.root};
  const std::int32_t me = relative.of(call.me);
  std::int32_t bit = me == 0 ? ceil_power_of_two(call.members) : me & -me;
  if (me != 0 && pieces.range(me, call.members) > 0) receive(steps, relative.member(me - bit));
  std::int32_t end = call.blocking ? std::min(me + bit, call.members) : call.members;
  for (bit /= 2; bit > 0; bit /= 2) {
    const std::int32_t child = me + bit;
    if (child >= call.members) continue;
    const std::int64_t size = pieces.range(child, end);
    if (size > 0) send(steps, relative.member(child), size);
    end = child;
  }
}

}  // namespace

void bcast_linear(const CollectiveCall& call, std::vector<Step>& steps) {
  if (call.me != call.root) return receive(steps, call.root);
  for (std::int32_t to = 0; to < call.members; ++to) {
    if (to != call.root) send(steps, to, count(call.size));
  }
}

void bcast_binomial(const CollectiveCall& call, std::vector<Step>& steps) {
  const Relative relative{call.members, call.root};
  const std::int32_t me = relative.of(call.me);
  std::int32_t bit = me == 0 ? ceil_power_of_two(call.members) : me & -me;
  if (me != 0) receive(steps, relative.member(me - bit));
  for (bit /= 2; bit > 0; bit /= 2) {
    if (me + bit < call.members) send(steps, relative.member(me + bit), count(call.size));
  }
}

void bcast_chain(const CollectiveCall& call, std::vector<Step>& steps) {
  down(ChainTree{call.members}, call, count(call.size), steps);
}

/// The chain in segments, so that a member passes on one while it receives the next.
void bcast_pipelined(const CollectiveCall& call, std::vector<Step>& steps) {
  const std::int64_t segment = piece_of(count(call.size), count(call.segment));
  for (std::int64_t sent = 0; sent < count(call.size); sent += segment) {
    down(ChainTree{call.members}, call, std::min(segment, count(call.size) - sent), steps);
  }
}

void bcast_binary(const CollectiveCall& call, std::vector<Step>& steps) {
  down(BinaryTree{call.members}, call, count(call.size), steps);
}

void bcast_openmpi_binomial(const CollectiveCall& call, std::vector<Step>& steps) {
  down(HighBitTree{call.members}, call, count(call.size), steps);
}

void bcast_knomial(const CollectiveCall& call, std::vector<Step>& steps) {
  constexpr std::int32_t kRadix = 4;  // Open MPI's default
  down(KnomialTree{call.members, kRadix}, call, count(call.size), steps);
}

/// Each half of the vector goes down one side of a binary tree; then members of the two sides exchange.
/// The first half is not the shorter one.
void bcast_split_binary(const CollectiveCall& call, std::vector<Step>& steps) {
  const BinaryTree tree{call.members};
  const Relative relative{call.members, call.root};
  const EvenParts halves{count(call.size), 2};
  const std::int32_t me = relative.of(call.me);
  const std::int32_t side = me % 2 == 1 ? 0 : 1;
  const auto half = [&](std::int32_t of) { return halves.range(of, of + 1); };
  if (me != 0) receive(steps, relative.member(tree.parent(me)));
  tree.each_child(
      me, [&](std::int32_t child) { send(steps, relative.member(child), half(me == 0 ? child - 1 : side)); });
  const std::int32_t pair = side == 0 ? me + 1 : me - 1;
  const std::int32_t last = call.members - 1;  // without a partner if it is on the first side
  if (me == 0) {
    if (last % 2 == 1) send(steps, relative.member(last), half(1));
  } else if (pair > last) {
    receive(steps, call.root);
  } else {
    exchange(steps, relative.member(pair), half(side), relative.member(pair));
  }
}

namespace {

void scatter_then_ring(const CollectiveCall& call, const Pieces& pieces, std::vector<Step>& steps) {
  scatter_pieces(call, pieces, steps);
  std::int32_t piece = Relative{call.members, call.root}.of(call.me);
  for (std::int32_t i = 1; i < call.members; ++i) {
    exchange(steps, after(call, 1), pieces.range(piece, piece + 1), before(call, 1));
    piece = (piece == 0 ? call.members : piece) - 1;
  }
}

void scatter_then_doubling(const CollectiveCall& call, const Pieces& pieces, std::vector<Step>& steps) {
  const Relative relative{call.members, call.root};
  scatter_pieces(call, pieces, steps);
  append_recursive_doubling(
      call.members, relative.of(call.me), [&](std::int32_t r) { return relative.member(r); },
      [&](std::int32_t first, std::int32_t last) { return pieces.range(first, last); }, steps);
}

}  // namespace

void bcast_scatter_ring_allgather(const CollectiveCall& call, std::vector<Step>& steps) {
  scatter_then_ring(call, Pieces{call}, steps);
}

void bcast_scatter_recursive_doubling_allgather(const CollectiveCall& call, std::vector<Step>& steps) {
  scatter_then_doubling(call, Pieces{call}, steps);
}

void bcast_openmpi_scatter_ring_allgather(const CollectiveCall& call, std::vector<Step>& steps) {
  scatter_then_ring(call, Pieces{call, element_size(count(call.size))}, steps);
}

void bcast_openmpi_scatter_recursive_doubling_allgather(const CollectiveCall& call,
                                                        std::vector<Step>& steps) {
  scatter_then_doubling(call, Pieces{call, element_size(count(call.size))}, steps);
}

}  // namespace nplus1::netmodel::algorithms
