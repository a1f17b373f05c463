#include "simnode/engine/replay.hpp"

#include <vector>

namespace nplus1::simnode::engine {
namespace {

class Replay {
 public:
  Replay(Engine& engine, int ranks, Streams& streams)
      : engine_{engine},
        streams_{streams},
        ended_(static_cast<std::size_t>(ranks), false),
        threaded_(ended_.size(), false) {
    for (std::int32_t r = ranks; r-- > 0;) pending_.emplace_back(r);
  }

  State run() {
    for (;;) {
      run_to_block();
      engine_.decide();
      if (collect_woken()) continue;
      if (withdraw_ended()) continue;
      if (force_one_each(true)) continue;
      if (engine_.release_rendezvous()) continue;
      if (!force_one_each(false)) return engine_.state();
    }
  }

 private:
  void run_to_block() {
    while (!pending_.empty()) {
      const RankId rank = pending_.back();
      pending_.pop_back();
      while (engine_.ready(rank) && push_next(rank)) {
      }
      collect_woken();
    }
  }

  bool push_next(RankId rank) {
    if (ended_[rank.index()]) return false;
    events::Extension extension;
    const events::Event* event = streams_.next(rank, extension);
    if (event == nullptr) {
      ended_[rank.index()] = true;
      return false;
    }
    if (event->thread.value != 0) threaded_[rank.index()] = true;
    engine_.push(rank, *event, extension);
    return true;
  }

  bool collect_woken() {
    bool any = false;
    while (const auto rank = engine_.next_woken()) {
      pending_.push_back(*rank);
      any = true;
    }
    return any;
  }

  /// A recording that breaks off: what it does not have of a rank is no reason for others to wait.
  bool withdraw_ended() {
    const auto awaited = engine_.awaited();
    if (!awaited || !ended_[awaited->index()]) return false;
    engine_.withdraw(*awaited);
    return true;
  }

  /// Nothing moves: perhaps the event that would help is another thread's, behind that of a blocked one.
  bool force_one_each(bool only_threaded) {
    bool any = false;
    for (std::size_t r = 0; r < ended_.size(); ++r) {
      if (only_threaded && !threaded_[r]) continue;
      any = push_next(RankId{static_cast<std::int32_t>(r)}) || any;
    }
    return any;
  }

  Engine& engine_;
  Streams& streams_;
  std::vector<bool> ended_;
  std::vector<bool> threaded_;
  std::vector<RankId> pending_;
};

}  // namespace

State replay(Engine& engine, int ranks, Streams& streams) {
  return Replay{engine, ranks, streams}.run();
}

}  // namespace nplus1::simnode::engine
