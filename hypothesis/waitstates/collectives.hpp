// Collective calls in progress, fences of windows among them: ties the members' calls together (the k-th of each member on a communicator
// belongs to the k-th of the others) and says, once all have come, whom each waited for. Memory per member of
// a call that not all have entered yet. Not thread-safe.
#pragma once

#include <deque>
#include <functional>
#include <unordered_map>
#include <vector>

#include "events/sink.hpp"
#include "hypothesis/waitstates/kinds.hpp"

namespace nplus1::hypothesis {

class CollectiveCalls {
 public:
  using Tell = std::function<void(const Waiter&, const Partner&)>;

  explicit CollectiveCalls(std::size_t ranks);
  void define(const events::Communicator& communicator);

  /// A member's call, with its path until entry. `waiter` is told of its partner (one at time 0: nobody),
  /// maybe at once. Calls on communicators that are not known, or of ranks that are no members, are left out:
  /// false.
  bool enter(const events::TimedEvent& event, const Path& path, const Waiter& waiter, const Tell& tell);

 private:
  struct Member {
    bool present = false;
    std::int32_t peer = 0;
    RankId rank;
    Time entry{};
    Time exit{};  // of blocking calls, else never
    Path path;
    Waiter waiter;
    std::vector<std::uint32_t> sources;  // neighbourhoods only
  };
  enum class Shape : std::uint8_t;
  struct Call {
    Shape shape{};
    std::size_t present = 0;
    std::vector<Member> members;
  };
  struct Communicator {
    std::size_t size = 0;
    bool between_groups = false;
    std::unordered_map<std::int32_t, std::uint32_t> index;  // of a world rank; empty: the same
    std::vector<std::uint64_t> calls;                       // by member
    std::uint64_t first_call = 0;                           // of those in progress
    std::deque<Call> in_progress;
  };

  static Shape shape_of(const events::Event& event);
  static Call& next_call(Communicator& communicator, std::size_t member);
  static void settle(const Communicator& communicator, const Call& call, const Tell& tell);

  std::vector<Communicator> communicators_;
};

}  // namespace nplus1::hypothesis
