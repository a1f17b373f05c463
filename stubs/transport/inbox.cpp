#include "stubs/transport/inbox.hpp"

namespace nplus1::transport {
namespace {

void push(std::atomic<std::uint64_t>& stack, Segment segment, Stamp& stamp) {
  const std::uint64_t offset = segment.offset(stamp);
  std::uint64_t top = stack.load(std::memory_order_relaxed);
  do {
    stamp.next.store(top, std::memory_order_relaxed);
  } while (!stack.compare_exchange_weak(top, offset, std::memory_order_release, std::memory_order_relaxed));
}

}  // namespace

Stamp* StampSender::allocate() {
  if (free_ == 0) free_ = segment_.rank(me_).returned.exchange(0, std::memory_order_acquire);
  if (free_ == 0 && !grab()) return nullptr;
  Stamp& stamp = segment_.stamp(free_);
  free_ = stamp.next.load(std::memory_order_relaxed);
  return &stamp;
}

bool StampSender::grab() {
  Header& header = segment_.header();
  constexpr std::uint64_t wanted = kStampsPerGrab * sizeof(Stamp);
  const std::uint64_t begin = header.arena_next.fetch_add(wanted, std::memory_order_relaxed);
  if (begin + wanted > header.total_bytes) return false;
  for (std::size_t i = 0; i < kStampsPerGrab; ++i) {
    const std::uint64_t offset = begin + i * sizeof(Stamp);
    segment_.stamp(offset).next.store(free_, std::memory_order_relaxed);
    free_ = offset;
  }
  return true;
}

void StampSender::deliver(Stamp& stamp, std::int32_t destination) {
  RankBlock& block = segment_.rank(destination);
  push(block.inbox, segment_, stamp);
  ring_doorbell(block);
}

Stamp* StampReceiver::next() {
  if (first_ == 0) {
    std::uint64_t newest = segment_.rank(me_).inbox.exchange(0, std::memory_order_acquire);
    while (newest != 0) {  // reverse
      Stamp& stamp = segment_.stamp(newest);
      const std::uint64_t older = stamp.next.load(std::memory_order_relaxed);
      stamp.next.store(first_, std::memory_order_relaxed);
      first_ = newest;
      newest = older;
    }
    if (first_ == 0) return nullptr;
  }
  Stamp& stamp = segment_.stamp(first_);
  first_ = stamp.next.load(std::memory_order_relaxed);
  return &stamp;
}

void StampReceiver::give_back(Stamp& stamp) {
  push(segment_.rank(stamp.source).returned, segment_, stamp);
}

}  // namespace nplus1::transport
