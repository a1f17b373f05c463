#include "stubs/statistics/request_table.hpp"

#include <cstdlib>

#include "stubs/statistics/tables.hpp"

namespace nplus1::stubs::statistics {
namespace {

std::size_t set_of(std::uint64_t handle) {
  return mix(handle, 0) % RequestTable::kSets;
}

}  // namespace

void RequestTable::Free::operator()(Slot* slots) const {
  std::free(slots);
}

/// Zeroes from the system, which are no memory yet.
RequestTable::RequestTable(bool shared)
    : slots_{static_cast<Slot*>(std::calloc(kSets * kWays, sizeof(Slot)))}, shared_{shared} {}

std::unique_lock<std::mutex> RequestTable::hold(std::size_t set) const {
  return shared_ ? std::unique_lock{locks_[set % kLocks]} : std::unique_lock<std::mutex>{};
}

void RequestTable::note(std::uint64_t handle, const RequestUse& use) {
  if (slots_ == nullptr) return;
  const auto held = hold(set_of(handle));
  Slot* set = &slots_[set_of(handle) * kWays];
  Slot* into = &set[mix(handle, 1) % kWays];
  for (std::size_t i = 0; i < kWays; ++i)
    if (set[i].handle == handle || set[i].handle == 0) {
      into = &set[i];
      break;
    }
  *into = {handle, use};
}

std::optional<RequestUse> RequestTable::find(std::uint64_t handle) const {
  if (slots_ == nullptr) return std::nullopt;
  const auto held = hold(set_of(handle));
  const Slot* set = &slots_[set_of(handle) * kWays];
  for (std::size_t i = 0; i < kWays; ++i)
    if (set[i].handle == handle) return set[i].use;
  return std::nullopt;
}

}  // namespace nplus1::stubs::statistics
