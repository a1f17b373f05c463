// Who waits for whom at a window (MPI 4.0, chapter 12): ties notices to the calls that wait for them, and the end of a
// lock to those who asked for it meanwhile. Fences are collective calls: CollectiveCalls has them. Not thread-safe.
//
// Memory per notice that nobody has waited for yet, per call that waits for one that is not told yet, and a few releases
// per window and rank that locks. The two halves may come in either order.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <tuple>
#include <utility>

#include "events/sink.hpp"
#include "hypothesis/waitstates/collectives.hpp"
#include "hypothesis/waitstates/kinds.hpp"

namespace nplus1::hypothesis {

class WindowCalls {
 public:
  using Tell = CollectiveCalls::Tell;

  /// MPI_Win_post tells the origins, MPI_Win_complete the targets; `path`: until the call's entry.
  void give_notices(const events::TimedEvent& event, const Path& path, const Tell& tell);
  /// MPI_Win_start waits for posts, MPI_Win_wait for completions: `waiter` is told of the one that came last, maybe at
  /// once. False: nobody will be told.
  bool take_notices(const events::TimedEvent& event, const Waiter& waiter, const Tell& tell);
  /// MPI_Win_unlock and its like; `path`: until the call's end.
  void release(const events::TimedEvent& event, const Path& path, const Tell& tell);
  /// MPI_Win_lock and its like: `waiter` is told of the member that held the lock, maybe at once.
  void await_release(const events::TimedEvent& event, const Waiter& waiter, const Tell& tell);

 private:
  struct Notices {
    std::deque<std::pair<Time, Path>> given;  // when its call began
    std::deque<Waiter> taken;                 // before they were given
  };
  struct Release {
    Time at{};
    std::int32_t target = kAllTargets;
    Path path;
  };
  struct Asked {
    Time entry{};
    std::int32_t target = kAllTargets;
    Waiter waiter;
  };
  struct Holder {
    std::deque<Release> releases;  // the latest
    std::deque<Asked> asked;       // whose release has not been told
  };
  using NoticeKey =
      std::tuple<std::uint32_t, std::int32_t, std::int32_t, bool>;  // window, from, to, of a completion
  using HolderKey = std::pair<std::uint32_t, std::int32_t>;         // window, rank
  static constexpr std::int32_t kAllTargets = -1;
  static constexpr std::size_t kReleasesKept = 8;

  static bool ends(const Release& release, const Asked& asked);
  static Partner holder_of(const HolderKey& key, const Release& release);

  std::map<NoticeKey, Notices> notices_;
  std::map<HolderKey, Holder> holders_;
};

}  // namespace nplus1::hypothesis
