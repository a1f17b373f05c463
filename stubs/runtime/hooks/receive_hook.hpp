// Native receives that find their message at once, however many others wait. UCX keeps messages that came before their
// receive in a list, and by a hash of their tag (which holds MPI's communicator, source and tag). It looks in the hash for
// receives of exactly one tag only, and MPICH's are never that: they leave open the two bits by which the members of a
// failing collective warn each other. So each receive walks through all that came earlier. The program alone pays for that
// where it takes messages in another order than they come; under us it would everywhere, as virtual time decides the order.
// Messages between two ranks never have those bits, so their receives may as well ask for all bits as they are.
#pragma once

#include <cstdint>

namespace nplus1::stubs {

/// While one lives, this thread's next native receive is between two ranks, not of a collective. Its thread only.
class ReceivesFromOne {
 public:
  ReceivesFromOne() noexcept;
  ~ReceivesFromOne();
  ReceivesFromOne(const ReceivesFromOne&) = delete;
  ReceivesFromOne& operator=(const ReceivesFromOne&) = delete;
};

/// The bits of `tag`, UCX's, that the thread's next native receive asks for, where MPI asks for those of `mask`.
[[nodiscard]] std::uint64_t mask_of_receive(std::uint64_t tag, std::uint64_t mask) noexcept;

}  // namespace nplus1::stubs
