// Wakes the receiver of a message that the MPI library sends by itself (inside a collective, say), or the
// target of a one-sided transfer: it may sleep in the progress hook, or for the simulator's answer. MPICH
// over UCX sends through ucp_tag_send_nbx, ucp_am_send_nb, ucp_put_* and ucp_get_*, which we interpose; which
// rank an endpoint leads to is learned from our own sends. Open MPI sends through a table of functions, which say the rank; its
// one-sided transfers show nowhere: who calls it says whom it may need (MayNeed). Where none of this is used, sleepers wake by
// their timers.
#pragma once

#include <cstdint>

#include "support/ids.hpp"

namespace nplus1::stubs {

struct Communicator;

/// Lets rank `me` learn which endpoints lead to the `ranks` ranks; before that nobody is woken. Called once, by all ranks.
/// `wake_each_other`: all share the simulator's memory; a rank of another host cannot be woken.
void introduce_ranks(std::int32_t me, std::int32_t ranks, bool wake_each_other);

/// Whether whoever sends what this thread waits for in the MPI library wakes it, as far as that is known: this process has never sent
/// to one whom it does not know (a job that it has spawned, say), and waits for no one-sided transfer, and for no receiver of a
/// long message, whose answer (a rendezvous) comes unannounced.
[[nodiscard]] bool native_sends_wake() noexcept;

/// Wakes the target of this thread's last one-sided transfer, while one is remembered: a large transfer takes
/// many steps of both sides. Any thread; costs a few nanoseconds if there is none.
void wake_target() noexcept;
/// At the end of a call that is not modelled: whoever waits from here on waits for somebody else.
void forget_target() noexcept;

/// While one lives, what this thread waits for in the MPI library may need a step of another rank's, or of any member's,
/// who are woken then. Nothing with MPICH, of which it is known by itself.
class MayNeed {
 public:
  explicit MayNeed(RankId rank) noexcept;
  explicit MayNeed(const Communicator& members) noexcept;
  ~MayNeed();
  MayNeed(const MayNeed&) = delete;
  MayNeed& operator=(const MayNeed&) = delete;
};

/// Gives a request of UCX's back (ucp_request_free), where UCX is found.
[[nodiscard]] bool can_free_ucx_requests() noexcept;
void free_ucx_request(void* request) noexcept;

/// While one lives, this thread's native sends go to `rank`: endpoints are learned, and nobody is woken (who
/// announces the message rings for it). `detached`: as those of collectives (detached_sends.hpp).
class SendingTo {
 public:
  explicit SendingTo(std::int32_t rank, bool detached = false) noexcept;
  ~SendingTo();
  SendingTo(const SendingTo&) = delete;
  SendingTo& operator=(const SendingTo&) = delete;
};

}  // namespace nplus1::stubs
