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
  // A list of free stamps that leads nowhere is given up: there are others.
  Stamp* stamp = segment_.stamp(free_);
  if (stamp == nullptr) {
    free_ = 0;
    if (!grab()) return nullptr;
    stamp = segment_.stamp(free_);
  }
  free_ = stamp->next.load(std::memory_order_relaxed);
  return stamp;
}

bool StampSender::grab() {
  Header& header = segment_.header();
  constexpr std::uint64_t wanted = kStampsPerGrab * sizeof(Stamp);
  const std::uint64_t begin = header.arena_next.fetch_add(wanted, std::memory_order_relaxed);
  // Both ends first: a failure half-way would leave a list to nowhere.
  if (segment_.stamp(begin) == nullptr || segment_.stamp(begin + wanted - sizeof(Stamp)) == nullptr)
    return false;
  for (std::size_t i = 0; i < kStampsPerGrab; ++i) {
    const std::uint64_t offset = begin + i * sizeof(Stamp);
    segment_.stamp(offset)->next.store(free_, std::memory_order_relaxed);
    free_ = offset;
  }
  return true;
}

void StampSender::deliver(Stamp& stamp, std::int32_t destination) {
  RankBlock& block = segment_.rank(destination);
  push(block.inbox, segment_, stamp);
  ring_doorbell(block);
}

/// What has come, oldest first.
bool StampReceiver::take_all() {
  std::uint64_t newest = segment_.rank(me_).inbox.exchange(0, std::memory_order_acquire);
  first_ = 0;
  for (left_ = 0; newest != 0; ++left_) {
    Stamp* stamp = segment_.stamp(newest);
    if (stamp == nullptr || left_ > kArenaBytes / sizeof(Stamp)) {
      broken_ = true;
      return false;
    }
    const std::uint64_t older = stamp->next.load(std::memory_order_relaxed);
    stamp->next.store(first_, std::memory_order_relaxed);
    first_ = newest;
    newest = older;
  }
  return left_ != 0;
}

Stamp* StampReceiver::next() {
  if (broken_ || (left_ == 0 && !take_all())) return nullptr;
  --left_;
  Stamp* stamp = segment_.stamp(first_);
  if (stamp == nullptr || !segment_.has_rank(stamp->source)) {
    broken_ = true;
    return nullptr;
  }
  first_ = stamp->next.load(std::memory_order_relaxed);
  return stamp;
}

void StampReceiver::give_back(Stamp& stamp) {
  const std::int32_t owner = stamp.source;
  if (segment_.has_rank(owner)) push(segment_.rank(owner).returned, segment_, stamp);
}

}  // namespace nplus1::transport
