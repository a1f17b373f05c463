// For tests: calls on files, written down one by one (docs/formats/events.md).
#pragma once

#include "simnode/engine/testing/world.hpp"

namespace nplus1::simnode::engine {

inline events::Event file_event(events::FileOperation what, std::uint64_t offset, std::int64_t size,
                                std::uint32_t request = 0, std::int32_t manner = 0) {
  events::Event e = World::transfer(events::EventKind::kFileAccess, 0, manner, size);
  e.operation = static_cast<std::uint8_t>(what);
  e.aux = offset;
  e.request = RequestId{request};
  return e;
}
inline void read_file(World& world, int rank, std::uint64_t offset, std::int64_t size,
                      std::uint32_t request = 0) {
  world.push(rank, file_event(events::FileOperation::kRead, offset, size, request));
}
inline void write_file(World& world, int rank, std::uint64_t offset, std::int64_t size,
                       std::uint32_t request = 0) {
  world.push(rank, file_event(events::FileOperation::kWrite, offset, size, request));
}
/// One that does not block and waits for all members.
inline void start_write_all(World& world, int rank, std::uint64_t offset, std::int64_t size,
                            std::uint32_t request) {
  world.push(rank, file_event(events::FileOperation::kWrite, offset, size, request,
                              events::kCollectiveAccess | events::kMeetFirst));
}

}  // namespace nplus1::simnode::engine
