// Sends inside native collectives that wait for nobody. In virtual time a rank leaves MPI_Alltoallv, say, when all
// that it receives has come, whoever has not yet come for what it sends; natively MPI keeps it inside until the
// receivers of its long messages have come, too, and one of them may be waiting for what this rank does next. So while
// such a collective is under way, what MPI sends by ucp_tag_send_nbx leaves from a copy, and MPI is told that it is done.
//
// Needs MPICH over UCX (send_hook.hpp); elsewhere, and where there is no memory for a copy, sends stay MPI's own.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nplus1::stubs {

/// While one lives, the sends of this process's native collectives are detached. Any thread.
class DetachedSends {
 public:
  DetachedSends() noexcept;
  ~DetachedSends();
  DetachedSends(const DetachedSends&) = delete;
  DetachedSends& operator=(const DetachedSends&) = delete;
};

/// Whether one lives. Costs a load.
[[nodiscard]] bool detaches_sends() noexcept;

/// How many have not left yet: the process must go on making the MPI library's progress for them.
[[nodiscard]] std::size_t detached_sends() noexcept;

/// ucp_tag_send_nbx from a copy: null (done), an error of UCX's, or what `send` says of the original where it could
/// not be copied.
using TagSend = void*(void* endpoint, const void* buffer, std::size_t count, std::uint64_t tag,
                      const void* parameters);
void* send_detached(TagSend* send, void* endpoint, const void* buffer, std::size_t count, std::uint64_t tag,
                    const void* parameters) noexcept;

/// UCX has a new datatype that packs by the functions at `operations` (ucp_dt_create_generic).
void learn_datatype(const void* operations, void* context, std::uint64_t type) noexcept;
/// That datatype is about to be destroyed (ucp_dt_destroy).
void forget_datatype(std::uint64_t type) noexcept;

}  // namespace nplus1::stubs
