// The requests of one rank that are not yet completed by a wait. Ids grow, so most live in a short window:
// open addressing by the id itself needs no hash and keeps neighbours together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/ids.hpp"
#include "support/units.hpp"

namespace nplus1::simnode::engine {

inline constexpr std::uint32_t kNoLane = 0xffffffffU;

/// 32 bytes, because a large world's requests are what the engine misses the cache for.
struct Request {
  enum class Kind : std::uint8_t { kSend, kReceive, kCollective };

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
  bool known : 1 = false;         // whether done() is
  bool report_match : 1 = false;  // tell the rank what it matched
  bool freed : 1 = false;         // nobody will wait for it
  bool synchronous : 1 = false;   // a send that no buffering can complete

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
    if (slots_.empty()) return nullptr;
    for (std::size_t at = home(id); slots_[at].id != kNoRequest; at = next(at))
      if (slots_[at].id == id) return &slots_[at];
    return nullptr;
  }

  Request& insert(const Request& request) {
    if (4 * (size_ + 1) > 3 * slots_.size()) grow();
    ++size_;
    return place(request);
  }

  void erase(RequestId id) {
    if (Request* found = find(id)) erase(found);
  }

  /// Removes a request that find() returned; other pointers into the table end here.
  void erase(Request* found) {
    --size_;
    auto hole = static_cast<std::size_t>(found - slots_.data());
    for (std::size_t at = next(hole); slots_[at].id != kNoRequest; at = next(at)) {
      // An entry may move back into the hole unless its home lies after the hole.
      const std::size_t from_home = (at - home(slots_[at].id)) & (slots_.size() - 1);
      const std::size_t from_hole = (at - hole) & (slots_.size() - 1);
      if (from_home < from_hole) continue;
      slots_[hole] = slots_[at];
      hole = at;
    }
    slots_[hole].id = kNoRequest;
  }

  template <class Visit>
  void for_each(Visit visit) {
    for (Request& r : slots_)
      if (r.id != kNoRequest) visit(r);
  }

  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  [[nodiscard]] std::size_t home(RequestId id) const { return id.index() & (slots_.size() - 1); }
  [[nodiscard]] std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }

  Request& place(const Request& request) {
    std::size_t at = home(request.id);
    while (slots_[at].id != kNoRequest) at = next(at);
    return slots_[at] = request;
  }
  void grow() {
    std::vector<Request> old(slots_.empty() ? 16 : 2 * slots_.size());
    old.swap(slots_);
    for (const Request& r : old)
      if (r.id != kNoRequest) place(r);
  }

  std::vector<Request> slots_;
  std::size_t size_ = 0;
};

}  // namespace nplus1::simnode::engine
