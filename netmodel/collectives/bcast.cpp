// One member's vector to all: trees for short vectors, scatter and allgather for long ones.
#include <algorithm>

#include "netmodel/collectives/algorithms.hpp"
#include "netmodel/collectives/recursive_doubling.hpp"

namespace nplus1::netmodel::algorithms {
namespace {

/// The vector cut as MPICH does: equal blocks, the last ones shorter or empty.
struct Pieces {
  explicit Pieces(const CollectiveCall& call)
      : size{count(call.size)}, each{(size + call.members - 1) / call.members} {}

  [[nodiscard]] std::int64_t offset(std::int32_t piece) const { return std::min(size, each * piece); }
  [[nodiscard]] std::int64_t range(std::int32_t first, std::int32_t last) const {
    return offset(last) - offset(first);
  }

  std::int64_t size;
  std::int64_t each;
};

/// Binomial scatter of the pieces; members whose subtree gets no bytes are left out.
void scatter_pieces(const CollectiveCall& call, const Pieces& pieces, std::vector<Step>& steps) {
  const Relative relative{call.members, call.root};
  const std::int32_t me = relative.of(call.me);
  std::int32_t bit = me == 0 ? ceil_power_of_two(call.members) : me & -me;
  if (me != 0 && pieces.range(me, call.members) > 0) receive(steps, relative.member(me - bit));
  for (bit /= 2; bit > 0; bit /= 2) {
    const std::int32_t child = me + bit;
    if (child >= call.members) continue;
    const std::int64_t size = pieces.range(child, std::min(child + bit, call.members));
    if (size > 0) send(steps, relative.member(child), size);
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
  const Relative relative{call.members, call.root};
  const std::int32_t me = relative.of(call.me);
  if (me != 0) receive(steps, relative.member(me - 1));
  if (me + 1 < call.members) send(steps, relative.member(me + 1), count(call.size));
}

void bcast_scatter_ring_allgather(const CollectiveCall& call, std::vector<Step>& steps) {
  const Pieces pieces{call};
  scatter_pieces(call, pieces, steps);
  std::int32_t piece = Relative{call.members, call.root}.of(call.me);
  for (std::int32_t i = 1; i < call.members; ++i) {
    exchange(steps, after(call, 1), pieces.range(piece, piece + 1), before(call, 1));
    piece = (piece == 0 ? call.members : piece) - 1;
  }
}

void bcast_scatter_recursive_doubling_allgather(const CollectiveCall& call, std::vector<Step>& steps) {
  const Relative relative{call.members, call.root};
  const Pieces pieces{call};
  scatter_pieces(call, pieces, steps);
  append_recursive_doubling(
      call.members, relative.of(call.me), [&](std::int32_t r) { return relative.member(r); },
      [&](std::int32_t first, std::int32_t last) { return pieces.range(first, last); }, steps);
}

}  // namespace nplus1::netmodel::algorithms
