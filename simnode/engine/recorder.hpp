// Ties what the ranks told of each call (events::Detail) to what the engine makes of it, and feeds the
// recording. One per recorded run; called from the simulator's thread.
//
// The engine says how calls came out in its own order, but for each thread in program order: so a queue per
// thread is enough. Trouble with the recording (a full disk) is the writer's to note; nothing here fails.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
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
  struct Rank {
    std::map<std::uint16_t, std::deque<Call>> open;  // by thread
    std::uint64_t events = 0;
    std::unordered_set<std::uint32_t> unrecorded;  // receives whose match must not be recorded either
  };

  std::vector<Rank> ranks_;
  events::EventSink& recording_;
  events::EventSink& all_;
};

}  // namespace nplus1::simnode::engine
