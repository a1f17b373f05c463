#include "stubs/runtime/guard.hpp"

#include <array>

namespace nplus1::stubs {

constinit thread_local CallState call_state;

namespace detail {
constinit std::atomic<bool> runtime_active{false};
}

namespace {
constinit std::array<std::atomic<std::uint64_t>, events::kMpiCalls> counts{};
}

void count_call(MpiCall call) noexcept {
  counts[events::index(call)].fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t calls_counted(MpiCall call) noexcept {
  return counts[events::index(call)].load(std::memory_order_relaxed);
}

}  // namespace nplus1::stubs
