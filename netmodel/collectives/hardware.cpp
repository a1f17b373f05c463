// Collectives that the network does itself (multicast, combining switches, a barrier tree): the vector
// crosses the network once, and nobody computes. What Riesen 2006 calls the lower bound of a better
// implementation.
#include "netmodel/collectives/algorithms.hpp"

namespace nplus1::netmodel::algorithms {
namespace {

void copied(std::vector<Step>& steps, Transport transport) {
  steps.back().transport = transport;
}

}  // namespace

/// One message of the root, multiplied on its way: its overhead once, then a transit to each.
void bcast_hardware(const CollectiveCall& call, std::vector<Step>& steps) {
  if (call.me != call.root) return receive(steps, call.root);
  for (std::int32_t d = 1; d < call.members; ++d) {
    send(steps, after(call, d), count(call.size));
    if (d > 1) copied(steps, Transport::kCopy);
  }
}

/// Combined on the way: the root has one message to receive when the last contribution is there, that of the
/// member before it.
void reduce_hardware(const CollectiveCall& call, std::vector<Step>& steps) {
  const std::int32_t last = (call.root + call.members - 1) % call.members;
  if (call.me != call.root) {
    send(steps, call.root, count(call.size));
    if (call.me != last) copied(steps, Transport::kCombined);
    return;
  }
  const std::size_t first_step = steps.size();
  for (std::int32_t d = 1; d < call.members; ++d) {
    receive(steps, after(call, d));
    if (after(call, d) != last) copied(steps, Transport::kCombined);
  }
  join_from(steps, first_step);
}

/// Everybody hands one message to the network and gets one when the last has come: a transfer to the next
/// member stands for that, and signals that take no time make everybody wait for all.
void allreduce_hardware(const CollectiveCall& call, std::vector<Step>& steps) {
  exchange(steps, after(call, 1), count(call.size), before(call, 1));
  for (std::int32_t distance = 1; distance < call.members; distance *= 2) {
    exchange(steps, after(call, distance), 0, before(call, distance));
    copied(steps, Transport::kSignal);
  }
}

void barrier_hardware(const CollectiveCall& call, std::vector<Step>& steps) {
  allreduce_hardware(call, steps);  // of nothing: the size is 0
}

}  // namespace nplus1::netmodel::algorithms
