// The functions of UCX that we interpose, as they are when we are not there. Any thread.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>

namespace nplus1::stubs {

/// UCX's function `name`, or null. MPICH may have loaded UCX out of our sight.
template <class Function>
Function* find_in_ucx(const char* name) noexcept {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) {
    void* library = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
    if (library != nullptr) found = dlsym(library, name);
  }
  return reinterpret_cast<Function*>(found);
}

// UCX 1.x, ucp/api/ucp.h: what is used of it. The library is not built against UCX.
constexpr std::uint32_t kUcxHasCallback = 1U << 1U, kUcxHasUserData = 1U << 2U, kUcxHasDatatype = 1U << 3U,
                        kUcxHasMemoryType = 1U << 6U, kUcxNeverAtOnce = 1U << 16U;
constexpr std::int8_t kUcxTruncated = -9;  // UCS_ERR_MESSAGE_TRUNCATED

/// MPIR_TAG_ERROR_BIT and MPIR_TAG_PROC_FAILURE_BIT of MPICH 4, in UCX's tag.
constexpr std::uint64_t kUcxErrorBit = std::uint64_t{1} << 30U, kUcxFailedBit = std::uint64_t{1} << 29U;

/// ucp_tag_recv_info_t.
struct UcxMessage {
  std::uint64_t tag = 0;
  std::size_t length = 0;
};
using UcxSent = void(void* request, std::int8_t status, void* user_data);
using UcxReceived = void(void* request, std::int8_t status, const UcxMessage* message, void* user_data);

/// ucp_request_param_t.
struct UcxParameters {
  std::uint32_t given = 0;
  std::uint32_t flags = 0;
  void* request = nullptr;
  union {
    UcxSent* sent;
    UcxReceived* received;
  } done{nullptr};
  std::uint64_t datatype = 0;
  void* user_data = nullptr;
  void* reply_buffer = nullptr;
  std::int32_t memory_type = 0;
  void* received = nullptr;
  void* memory_handle = nullptr;
};

/// UCX answers with an error as a pointer to one of the last addresses, and with null when all is done.
inline bool is_ucx_request(const void* answer) noexcept {
  constexpr std::intptr_t kErrors = 100;
  const auto value = reinterpret_cast<std::intptr_t>(answer);
  return answer != nullptr && (value > 0 || value < -kErrors);
}

}  // namespace nplus1::stubs
