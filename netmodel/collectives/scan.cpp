// Each member gets the combination of those before it (Scan, Exscan: the same transfers).
#include "netmodel/collectives/algorithms.hpp"

namespace nplus1::netmodel::algorithms {

/// MPICH's: partial results of whole hypercubes are exchanged, so a member also waits for members after it.
void scan_recursive_doubling(const CollectiveCall& call, std::vector<Step>& steps) {
  for (std::int32_t bit = 1; bit < call.members; bit *= 2) {
    const std::int32_t peer = call.me ^ bit;
    if (peer >= call.members) continue;
    exchange(steps, peer, count(call.size), peer);
    combine(steps);
  }
}

/// Hillis, Steele 1986: a member waits for those before it only, and member 0 leaves at once.
void scan_simultaneous_binomial(const CollectiveCall& call, std::vector<Step>& steps) {
  for (std::int32_t distance = 1; distance < call.members; distance *= 2) {
    const bool sends = call.me + distance < call.members;
    const bool receives = call.me >= distance;
    if (!sends && !receives) continue;
    exchange(steps, sends ? call.me + distance : kNoMember, sends ? count(call.size) : 0,
             receives ? call.me - distance : kNoMember);
    if (receives) combine(steps);
  }
}

void scan_linear(const CollectiveCall& call, std::vector<Step>& steps) {
  if (call.me > 0) receive_and_combine(steps, call.me - 1);
  if (call.me + 1 < call.members) send(steps, call.me + 1, count(call.size));
}

/// From each member to all after it, everything at once.
void scan_all_pairs(const CollectiveCall& call, std::vector<Step>& steps) {
  const std::size_t first_step = steps.size();
  for (std::int32_t to = call.me + 1; to < call.members; ++to) send(steps, to, count(call.size));
  for (std::int32_t from = 0; from < call.me; ++from) receive_and_combine(steps, from);
  join_from(steps, first_step);
}

}  // namespace nplus1::netmodel::algorithms
