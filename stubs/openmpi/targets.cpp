// Who is woken while a call on a window waits inside Open MPI. Its components for one host write into the memory of others by
// themselves, but for atomic operations on it (osc/rdma over btl/vader), and osc/pt2pt sends messages for everything: a target
// that sleeps until the simulator answers would let them wait for its timer.
#include "stubs/runtime/runtime.hpp"
#include "stubs/runtime/send_hook.hpp"

namespace nplus1::stubs {
namespace {

constexpr std::uint32_t kLongestPause = 64;  // looks in vain: members may be computing

struct Needed {
  RankId rank = kAnySource;
  const Communicator* members = nullptr;
  std::uint32_t looks = 0;
};
constinit thread_local Needed needed{};

}  // namespace

MayNeed::MayNeed(RankId rank) noexcept {
  needed = {rank, nullptr, 0};
}
MayNeed::MayNeed(const Communicator& members) noexcept {
  needed = {kAnySource, &members, 0};
}
MayNeed::~MayNeed() {
  needed = {};
}

void wake_target() noexcept {
  Runtime* const rt = runtime();
  if (rt == nullptr) return;
  rt->line.nudge(needed.rank);
  const std::uint32_t look = needed.looks++;
  if (needed.members != nullptr && ((look & (look - 1)) == 0 || look % kLongestPause == 0))
    rt->line.nudge(*needed.members);
}
void forget_target() noexcept {}

}  // namespace nplus1::stubs
