// Paces a replay that adapts to how calls come out (adaptation.hpp): each thread's next call is made only
// when its previous one has come out, because what it is may depend on that. Between EventFeed and the
// engine; one thread. Memory: the calls of threads that are blocked, as the engine itself would keep them.
//
// A rank that calls MPI from a second thread is left to the engine from then on, which orders the calls of
// its threads as it did live.
#pragma once

#include <boost/container/deque.hpp>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "events/sink.hpp"
#include "hypothesis/recorded/adaptation.hpp"

namespace nplus1::hypothesis {

class AdaptedCalls {
 public:
  /// `make` hands a call to the engine, which may say at once, or later, how it came out.
  using Make = std::function<void(RankId, const RecordedCall&)>;
  AdaptedCalls(std::size_t ranks, Make make) : ranks_(ranks), make_{std::move(make)} {}

  /// The rank's next recorded call.
  void take(RankId rank, RecordedCall& call);
  /// From the engine, perhaps within `make`: a call has come out.
  void came_out(const events::TimedEvent& event);
  /// Makes what can be made by now; whether that was anything.
  bool go_on();
  /// A receive has met its message: called for the recorded match and for the one there is now.
  void met(RankId receiver, const events::Answer& match);

  [[nodiscard]] AdaptationCounts counts() const;

 private:
  /// In blocks of many: those of std::deque hold one or two so large elements.
  using Waiting =
      boost::container::deque<RecordedCall, void,
                              boost::container::deque_options<boost::container::block_size<16U>>::type>;
  struct Lane {
    bool busy = false;   // `current` has not come out
    bool ready = false;  // in the list of lanes that may go on
    RecordedCall current;
    std::optional<RecordedCall> again;  // the rest of `current`
    Waiting waiting;
    std::int64_t carried_ps = 0;  // compute times before calls that were left out
  };
  struct Rank {
    Adaptation adaptation;
    bool threaded = false;    // the engine has all its calls
    std::vector<Lane> lanes;  // by thread
    /// Of receives from any source: whom the one match named that was heard of.
    std::unordered_map<std::uint32_t, std::optional<std::int32_t>> sources;
  };
  struct Place {
    RankId rank;
    std::uint16_t thread;
  };

  [[nodiscard]] Lane& lane_of(Place place);
  void begin(Place place);
  void leave_to_engine(RankId rank);
  void wake(Place place);

  std::vector<Rank> ranks_;
  Make make_;
  std::vector<Place> ready_;
  CallOutcome outcome_;
  std::uint64_t other_matches_ = 0;
};

}  // namespace nplus1::hypothesis
