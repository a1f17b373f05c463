// The requests of one rank that are not yet completed by a wait. Ids grow, so most live in a short window:
// open addressing by the id itself needs no hash and keeps neighbours together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/ids.hpp"
#include "support/prefetch.hpp"
#include "support/units.hpp"

namespace nplus1::simnode::engine {

inline constexpr std::uint32_t kNoLane = 0xffffffffU;

/// 32 bytes, because a large world's requests are what the engine misses the cache for.
struct Request {
  enum class Kind : std::uint8_t { kSend, kReceive, kCollective, kOneSided, kFile };

  /// What a request is before its completion is known, for diagnosis and for the release of rendezvous sends.
  struct Pending {
    std::uint64_t sequence;  // of a send's message
    CommId comm;
    std::int32_t peer;
  };
  struct Done {
    Time at;
    Duration overhead;
  };

  RequestId id{};  // kNoRequest: free slot
  std::uint32_t waiter = kNoLane;
  std::uint16_t thread = 0;  // that made it
  Kind kind{};
  bool known = false;         // whether done() is
  bool report_match = false;  // tell the rank what it matched
  bool freed = false;         // nobody will wait for it
  bool synchronous = false;   // a send that no buffering can complete

  [[nodiscard]] Pending& pending() { return pending_; }  // while not known
  [[nodiscard]] Done done() const { return {at(), Duration{done_.overhead}}; }
  [[nodiscard]] Time at() const { return Time{Duration{done_.at}}; }
  void complete(Done done) {
    known = true;
    done_ = {done.at.time_since_epoch().count(), done.overhead.count()};
  }

 private:
  struct Picoseconds {
    std::int64_t at;
    std::int64_t overhead;
  };
  union {
    Pending pending_{};
    Picoseconds done_;
  };
};
static_assert(sizeof(Request) == 32);

class RequestTable {
 public:
  /// The request, or null. Valid until the next insert or erase.
  [[nodiscard]] Request* find(RequestId id) {
    if (size_ == 0) return nullptr;
    for (std::size_t at = home(id); slots_[at].id != kNoRequest; at = next(at))
      if (slots_[at].id == id) return &slots_[at];
    return nullptr;
  }

  /// A new request with this id, to be filled in place.
  Request& insert(RequestId id) {
    if (size_ == 0) first_ = id.index();
    if (size_ >= room_) grow();
    ++size_;
    Request& slot = free_slot(id);
    slot.id = id;
    slot.waiter = kNoLane;
    slot.known = slot.freed = false;
    return slot;
  }

  void erase(RequestId id) {
    if (Request* found = find(id)) erase(found);
  }

  /// Removes a request that find() returned; other pointers into the table end here.
  void erase(Request* found) {
    --size_;
    auto hole = static_cast<std::size_t>(found - slots_.data());
    if (home(found->id) != hole) --displaced_;
    for (std::size_t at = next(hole); displaced_ > 0 && slots_[at].id != kNoRequest; at = next(at)) {
      // An entry may move back into the hole unless its home lies after the hole.
      const std::size_t from_home = (at - home(slots_[at].id)) & mask_;
      const std::size_t from_hole = (at - hole) & mask_;
      if (from_home < from_hole) continue;
      if (from_home == from_hole) --displaced_;
      slots_[hole] = slots_[at];
      hole = at;
    }
    slots_[hole].id = kNoRequest;
  }

  /// A hint that one of them completes soon; which, is not known, so it is for few only.
  void approach() const {
    if (slots_.size() <= 16) prefetch_lines<4>(slots_.data());
  }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  [[nodiscard]] std::size_t home(RequestId id) const { return (id.index() - first_) & mask_; }
  [[nodiscard]] std::size_t next(std::size_t at) const { return (at + 1) & mask_; }

  Request& free_slot(RequestId id) {
    std::size_t at = home(id);
    if (slots_[at].id != kNoRequest) ++displaced_;
    while (slots_[at].id != kNoRequest) at = next(at);
    return slots_[at];
  }
  void grow() {
    std::vector<Request> old(slots_.empty() ? 16 : 2 * slots_.size());
    old.swap(slots_);
    mask_ = slots_.size() - 1;
    room_ = slots_.size() / 4 * 3;
    displaced_ = 0;
    for (const Request& r : old)
      if (r.id != kNoRequest) free_slot(r.id) = r;
  }

  std::vector<Request> slots_;
  std::size_t mask_ = 0;
  std::size_t room_ = 0;   // so many fit until it grows
  std::size_t first_ = 0;  // the id at slot 0: who waits for all its requests uses the same lines again
  std::size_t size_ = 0;
  std::size_t displaced_ = 0;  // not at their home; without any, erasing moves nothing
};

}  // namespace nplus1::simnode::engine
