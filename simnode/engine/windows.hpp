// One-sided communication: what the engine knows of each window. Transfers that have not come back, notices that nobody
// has waited for yet, locks and who waits for them. The rules are in one_sided.cpp, the equations in docs/one_sided.md.
//
// Private to the engine. Memory per pair of members that have communicated, per notice not taken, per lock asked for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "events/event.hpp"
#include "support/ids.hpp"
#include "support/units.hpp"

namespace nplus1::simnode::engine {

/// Something of one-sided communication that travels. It needs no processor where it arrives.
struct WindowLeg {
  enum class What : std::uint8_t {
    kToTarget,  // a transfer's first leg: the payload of a put, the request of a get
    kBack,      // its second: the payload of a get, the acknowledgement of a put
    kPost,      // notices: MPI_Win_post's to an origin
    kComplete,  // MPI_Win_complete's to a target
    kLockRequest,
    kGrant,
    kRelease,
  };
  /// When a transfer's origin may use its buffers again.
  enum class Reuse : std::uint8_t { kAtOnce, kAtTarget, kBack };

  What what{};
  Reuse reuse{};
  bool exclusive = false;
  CommId window{};
  RankId from{};
  RankId to{};
  Bytes size{};
  Bytes back{};            // kToTarget: what the second leg carries
  RequestId request{};     // of the origin's, of a transfer
  std::uint32_t lane = 0;  // kLockRequest, kGrant: who waits
  std::uint32_t site = 0;
  Duration waited{};        // kGrant: since the request was there
  RankId held_by{kNobody};  // kGrant: who had it before, where that was waited for

  static constexpr RankId kNobody{-1};
};

/// Transfers of one origin, to one target or to all.
struct OneSidedTransfers {
  std::uint32_t at_origin = 0;  // whose buffers are in use for an unknown time
  std::uint32_t at_target = 0;  // whose acknowledgement, or data, will be there at an unknown time
  Time reusable{};              // of the others
  Time complete{};
};

/// The lock of one member's window.
struct WindowLock {
  struct Request {
    Time arrival{};
    RankId origin{};
    std::uint32_t lane = 0;
    bool exclusive = false;
    [[nodiscard]] bool operator<(const Request& other) const {
      return std::tuple{arrival, origin, lane} < std::tuple{other.arrival, other.origin, other.lane};
    }
  };
  /// Of those that have given it back, who had it longest, whatever the order in which that was told.
  struct Held {
    Time until{};
    RankId by{WindowLeg::kNobody};
  };
  std::set<Request> queue;
  std::map<RankId, bool> holders;  // true: exclusively
  Held exclusively;
  Held together;
  std::optional<Time> due;  // of the first in the queue

  /// When the first in the queue may have it, if that is known.
  [[nodiscard]] std::optional<Time> grant() const {
    if (queue.empty()) return std::nullopt;
    const Request& first = *queue.begin();
    for (const auto& [holder, exclusive] : holders)
      if (exclusive || first.exclusive) return std::nullopt;
    return std::max(first.arrival, held_against(first).until);
  }
  /// Whoever had it last of those with whom it could not be shared.
  [[nodiscard]] const Held& held_against(const Request& request) const {
    return request.exclusive && together.until > exclusively.until ? together : exclusively;
  }
};

struct Window {
  using Pair = std::pair<RankId, RankId>;

  std::map<Pair, OneSidedTransfers> transfers;  // origin and target; kNobody: all targets
  std::map<Pair, std::deque<Time>> posted;      // at an origin, by a target
  std::map<Pair, std::deque<Time>> completed;   // at a target, by an origin
  std::map<RankId, WindowLock> locks;
};

class Windows {
 public:
  /// A lane's call of MPI_Win_X that blocks.
  struct Sync {
    bool in_barrier = false;
    bool due = false;
    std::uint32_t grants = 0;  // not there yet
    Time ready{};
    Duration waited{};
    RankId awaited{WindowLeg::kNobody};  // who came last
  };
  /// Something that stands when virtual time has come so far: a lock's grant, or the end of a lane's call.
  struct Due {
    Time at{};
    bool is_lock = false;
    std::uint32_t window = 0;
    std::uint32_t who = 0;  // target, or lane
    [[nodiscard]] bool operator<(const Due& other) const {
      return std::tuple{at, !is_lock, window, who} <
             std::tuple{other.at, !other.is_lock, other.window, other.who};
    }
  };

  [[nodiscard]] Window& of(CommId window) { return windows_[window.value]; }
  [[nodiscard]] const Window* find(CommId window) const {
    const auto found = windows_.find(window.value);
    return found == windows_.end() ? nullptr : &found->second;
  }
  void forget(CommId window) { windows_.erase(window.value); }
  [[nodiscard]] Sync& sync(std::uint32_t lane) {
    if (lane >= syncs_.size()) syncs_.resize(lane + 1);
    return syncs_[lane];
  }

  [[nodiscard]] Time next_due() const { return due_.empty() ? kNever : due_.begin()->at; }
  void set_due(const Due& due) { due_.insert(due); }
  void drop_due(const Due& due) { due_.erase(due); }
  Due take_due() {
    const Due due = *due_.begin();
    due_.erase(due_.begin());
    return due;
  }
  /// The lock's queue, or its holders, have changed.
  void reschedule(CommId window, RankId target) {
    WindowLock& lock = of(window).locks[target];
    const auto who = static_cast<std::uint32_t>(target.value);
    if (lock.due) due_.erase({*lock.due, true, window.value, who});
    lock.due = lock.grant();
    if (lock.due) due_.insert({*lock.due, true, window.value, who});
  }

  /// Keeps a leg that travels as a flow; its place, from 1.
  std::uint32_t keep_leg(const WindowLeg& leg) {
    if (free_.empty()) {
      legs_.emplace_back();
      free_.push_back(static_cast<std::uint32_t>(legs_.size()));
    }
    const std::uint32_t place = free_.back();
    free_.pop_back();
    legs_[place - 1] = leg;
    return place;
  }
  WindowLeg take_leg(std::uint32_t place) {
    free_.push_back(place);
    return legs_[place - 1];
  }

 private:
  std::map<std::uint32_t, Window> windows_;
  std::vector<Sync> syncs_;
  std::set<Due> due_;
  std::vector<WindowLeg> legs_;
  std::vector<std::uint32_t> free_;
};

}  // namespace nplus1::simnode::engine
