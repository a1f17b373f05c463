// Wakes the receiver of a message that the MPI library sends by itself (inside a collective, say): it may
// sleep in the progress hook. MPICH over UCX sends through ucp_tag_send_nbx, which we interpose; which rank
// an endpoint leads to is learned from our own sends. Where the symbol is not used, sleepers wake by their
// timers.
#pragma once

#include <cstdint>

namespace nplus1::stubs {

/// Prepares for `ranks` ranks; before that nothing is learned and nobody is woken. Called once.
void begin_learning_endpoints(std::int32_t ranks);

/// While one lives, this thread's native sends go to `rank`: endpoints are learned, and nobody is woken (who
/// announces the message rings for it).
class SendingTo {
 public:
  explicit SendingTo(std::int32_t rank) noexcept;
  ~SendingTo();
  SendingTo(const SendingTo&) = delete;
  SendingTo& operator=(const SendingTo&) = delete;
};

}  // namespace nplus1::stubs
