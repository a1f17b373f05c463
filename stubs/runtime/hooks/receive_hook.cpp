#include "stubs/runtime/hooks/receive_hook.hpp"

#include <cstddef>

#include "stubs/runtime/hooks/collective_lengths.hpp"
#include "stubs/runtime/hooks/ucx.hpp"

namespace nplus1::stubs {
namespace {

constinit thread_local bool receives_from_one = false;

constexpr std::uint64_t kErrorBits = kUcxErrorBit | kUcxFailedBit;
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
  using nplus1::stubs::TagReceive;
  static TagReceive* const next = nplus1::stubs::find_in_ucx<TagReceive>("ucp_tag_recv_nbx");
  return nplus1::stubs::receive_watched(next, worker, buffer, count, tag,
                                        nplus1::stubs::mask_of_receive(tag, mask), parameters);
}
