// A hypothesis is a chain of transformations of the recorded stream: each is a sink that changes calls and
// hands them to the next. What comes out is again a stream that a program might have made, fit for a replay,
// a re-enactment or another transformation.
//
// Contract. A stage gets each rank's calls in the order of its process (RankOrder, at the head of the chain,
// sees to that), and matches after their kIrecv. While it changes calls it looks at the calls of one rank
// only, so that a process that re-enacts one rank may run the chain over that rank alone. What needs to know
// more (what the mean over the ranks is, which receive belongs to which send) is learned before, by surveys
// of the whole recording.
//
// What is kept consistent, per rank: ordinals without gaps; per thread: compute_ps, entry_ps and exit (a call
// that takes longer moves all that follow). Times within calls, the answers and the matches stay the recorded
// ones: what they are under the hypothesis is for the replay to find. A call that is taken away becomes a
// kLocal with the computing before it; requests that are then never made count as inactive where they are
// waited for (docs/formats/events.md). Where compute times were given and not measured (`--compute fixed:`), the
// computing before a call is the call's own: it goes with the call, and calls that are put in bring theirs, as
// they would in the program that is really changed. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "events/sink.hpp"
#include "hypothesis/recorded/call.hpp"
#include "support/result.hpp"

namespace nplus1::hypothesis::transform {

struct Done {};

/// A call on its way through a stage: a copy that may be changed. Spans, answer and detail are those of the
/// stream unless the stage puts its own there, valid until the call has gone on.
struct Call {
  events::Event event;
  events::Extension lists;
  Duration took{};  // in the call
  bool unfinished = false;
  const events::Answer* answer = &events::kNoAnswer;
  std::span<const std::uint32_t> completed;
  const events::Detail* detail = nullptr;

  /// What is left is the computing before it.
  void remove();
  bool removed = false;
};

/// A call that was put aside goes on.
void hand_on(events::EventSink& next, RankId rank, const RecordedCall& call, std::uint64_t ordinal);

class Transform : public events::EventSink {
 public:
  /// A pass over the stream begins; calls go to `next`.
  void begin(events::EventSink& next);

  /// What every call was charged for the computing before it; 0 where computing was measured. Before survey().
  void charge_calls(Duration call_interval) { call_interval_ = call_interval; }

  /// Sees the whole stream as it reaches this stage once before the stage works; null: not needed.
  [[nodiscard]] virtual events::EventSink* survey() { return nullptr; }
  /// The survey has seen all. Error: the hypothesis is about nothing that is there, or cannot be; says what
  /// is.
  [[nodiscard]] virtual Result<Done> surveyed() { return Done{}; }
  /// The stream has ended.
  virtual void finish() {}

  void on_event(const events::TimedEvent& event) override;
  void on_match(RankId receiver, const events::Answer& match) override;
  void on_communicator(const events::Communicator& c) override { next_->on_communicator(c); }
  void on_call_path(const events::CallPath& p) override { next_->on_call_path(p); }
  void on_region(const events::Region& r) override { next_->on_region(r); }
  void on_datatype(const events::Datatype& d) override { next_->on_datatype(d); }

 protected:
  /// Forgets the pass before, not what the survey found.
  virtual void restart() {}
  /// Changes `call`, the `ordinal`-th that came of `rank`. Calls that the program would make before or after
  /// it are put into before() and after(); those before it are made after its computing.
  virtual void change(RankId rank, std::uint64_t ordinal, Call& call) = 0;
  /// Whether a receive's match goes on.
  [[nodiscard]] virtual bool keeps_match(RankId /*receiver*/, const events::Answer& /*match*/) {
    return true;
  }

  [[nodiscard]] std::vector<Call>& before() { return before_; }
  [[nodiscard]] std::vector<Call>& after() { return after_; }
  [[nodiscard]] events::EventSink& next() { return *next_; }
  [[nodiscard]] Duration call_interval() const { return call_interval_; }

 private:
  struct Rank {
    std::uint64_t inserted = 0;   // calls so far
    std::vector<Duration> later;  // by thread: how much later than in the stream that came
  };
  Time emit(RankId rank, Call& call, Time begin, std::uint64_t ordinal);

  void share_computing(Call& call);

  Duration call_interval_{};
  events::EventSink* next_ = nullptr;
  std::vector<Rank> ranks_;
  std::vector<Call> before_, after_;
};

}  // namespace nplus1::hypothesis::transform
