// Ties what the ranks told of each call (events::Detail) to what the engine makes of it, and feeds the
// recording. One per recorded run; called from the simulator's thread.
//
// The engine says how calls came out in its own order, but for each thread in program order: so a queue per
// thread is enough. Trouble with the recording (a full disk) is the writer's to note; nothing here fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "events/sink.hpp"

namespace nplus1::simnode::engine {

class Recorder {
 public:
  /// `all`: sees every call that comes out, `recording`: those of which the rank told a detail.
  Recorder(std::size_t ranks, events::EventSink& recording, events::EventSink& all)
      : ranks_(ranks), recording_{recording}, all_{all} {}

  /// A call that goes to the engine next, ids global. `detail`: its datatype, too; null: not to be recorded.
  void pushed(RankId rank, const events::Event& event, const events::Extension& lists,
              const events::Detail* detail);
  /// The engine has decided how the oldest call of that thread came out.
  void exited(const events::TimedEvent& event);
  void matched(RankId receiver, const events::Answer& match);
  /// The run is over: calls that never returned go to the sinks with exit kUnfinished.
  void finish();

 private:
  struct Call {
    events::Event event;
    events::Detail detail;
    std::uint64_t ordinal;
    bool recorded;
    std::vector<std::uint32_t> words;
    std::vector<std::int64_t> sizes;
  };
  /// Calls of a thread, oldest first: a ring whose places, and the lists in them, are used again.
  class Calls {
   public:
    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] const Call& front() const { return places_[first_]; }
    /// A place at the end, with what an earlier call has left in it.
    Call& push() {
      if (size_ == places_.size()) grow();
      return places_[(first_ + size_++) & (places_.size() - 1)];
    }
    void pop();

   private:
    void grow();

    std::vector<Call> places_;  // a power of two
    std::size_t first_ = 0;
    std::size_t size_ = 0;
  };
  struct Rank {
    std::vector<Calls> open;  // by thread
    std::uint64_t events = 0;
    std::unordered_set<std::uint32_t> unrecorded;  // receives whose match must not be recorded either
  };

  std::vector<Rank> ranks_;
  events::EventSink& recording_;
  events::EventSink& all_;
};

}  // namespace nplus1::simnode::engine
