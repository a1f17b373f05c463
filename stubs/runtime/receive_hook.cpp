#include "stubs/runtime/receive_hook.hpp"

#include <cstddef>

#include "stubs/runtime/ucx.hpp"

namespace nplus1::stubs {
namespace {

constinit thread_local bool receives_from_one __attribute__((tls_model("initial-exec"))) = false;

/// MPIR_TAG_ERROR_BIT and MPIR_TAG_PROC_FAILURE_BIT of MPICH 4, in UCX's tag.
constexpr std::uint64_t kErrorBits = std::uint64_t{3} << 29U;
constexpr std::uint64_t kAllBits = ~std::uint64_t{0};

}  // namespace

/// What MPI posts while that call lasts may be a collective's: the word is for one receive only.
std::uint64_t mask_of_receive(std::uint64_t tag, std::uint64_t mask) noexcept {
  const bool from_one = receives_from_one;
  receives_from_one = false;
  return from_one && mask == (kAllBits ^ kErrorBits) && (tag & kErrorBits) == 0 ? kAllBits : mask;
}

ReceivesFromOne::ReceivesFromOne() noexcept {
  receives_from_one = true;
}
ReceivesFromOne::~ReceivesFromOne() {
  receives_from_one = false;
}

}  // namespace nplus1::stubs

// UCX 1.x. NOLINT: name and types are UCX's.
extern "C" __attribute__((visibility("default"))) void* ucp_tag_recv_nbx(void* worker, void* buffer,
                                                                         std::size_t count, std::uint64_t tag,
                                                                         std::uint64_t mask,
                                                                         const void* parameters) {
  using Receive = void*(void*, void*, std::size_t, std::uint64_t, std::uint64_t, const void*);
  static Receive* const next = nplus1::stubs::find_in_ucx<Receive>("ucp_tag_recv_nbx");
  return next(worker, buffer, count, tag, nplus1::stubs::mask_of_receive(tag, mask), parameters);
}
