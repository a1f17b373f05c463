// For tests: one-sided communication, written down call by call (docs/formats/events.md).
#pragma once

#include "simnode/engine/testing/world.hpp"

namespace nplus1::simnode::engine {

inline events::Event transfer(int target, std::int64_t there, std::int64_t back, std::uint32_t request = 0) {
  events::Event e = World::transfer(events::EventKind::kOneSided, target, 0, there);
  e.aux = static_cast<std::uint64_t>(back);
  e.operation =
      static_cast<std::uint8_t>(back > 0 ? events::OneSidedOperation::kGet : events::OneSidedOperation::kPut);
  e.request = RequestId{request};
  return e;
}

inline events::Event sync_event(events::WindowSync what, int target = 0, int tag = 0) {
  events::Event e = World::transfer(events::EventKind::kWindowSync, target, tag, 0);
  e.operation = static_cast<std::uint8_t>(what);
  return e;
}

inline void sync(World& world, int rank, events::WindowSync what, int target = 0, int tag = 0) {
  world.push(rank, sync_event(what, target, tag));
}
inline void sync(World& world, int rank, events::WindowSync what, const World::List& group) {
  events::Event e = sync_event(what);
  e.aux = group.size();
  world.push(rank, e, {group, {}});
}
inline void put(World& world, int rank, int target, std::int64_t size) {
  world.push(rank, transfer(target, size, 0));
}

}  // namespace nplus1::simnode::engine
