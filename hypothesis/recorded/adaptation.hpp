// What a recorded rank does where an operation now comes out otherwise than it was recorded: section 3.1 of
// Boehme, Hermanns, Geimer and Wolf, "Performance Simulation of Non-blocking Communication in
// Message-Passing Applications" (2011). Used by model replays, where the engine says how calls come out, and
// by re-enactments, where MPI does.
//
// - Waitany and Waitsome may complete another request than recorded. Then the two completions are swapped:
//   what the recording does later with the request that completed is done with the one that did not (figures
//   3a and 3b). Where fewer complete than recorded, the rest is waited for; where more do, they are
//   pre-drawn.
// - A test that failed may succeed. Its completions are pre-drawn: the tests and waits that the recording
//   still has for these requests are left out (figures 3c and 3d), and the computation between them stays.
// - A test that succeeded becomes a wait: what the program would have done had it failed, nobody knows.
// - A probe that succeeded may fail. Whether the program went on to receive what it had found, the next calls
//   say (sends may come before): then a probe that waits is made in front of that receive. If not, it asked for no more than that the
//   library makes progress, and to wait would be to wait for ever, since only what no receive was posted for is
//   found.
// - A receive or probe from any source may get another message. The receive that follows a probe, by the
//   probe's source and tag or by its message handle, follows the message that the probe has found now.
//
// Requests are named by the ids of the recording; one of them may stand for another after a swap. One rank,
// in the order of its calls; not thread-safe. Nothing fails: what the heuristics cannot follow is counted.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hypothesis/recorded/call.hpp"

namespace nplus1::hypothesis {

struct AdaptationCounts {
  std::uint64_t swapped = 0;         // completions that another request than the recorded one made
  std::uint64_t predrawn = 0;        // requests complete before the call that completed them in the recording
  std::uint64_t left_out = 0;        // calls whose requests were all complete before
  std::uint64_t waited_tests = 0;    // tests that had succeeded, and now had to wait
  Duration waited{};                 // by these, longer than they took
  std::uint64_t recorded_tests = 0;  // of requests
  std::uint64_t tests = 0;           // that were made of them
  std::uint64_t tested = 0;          // requests that a test completed
  std::uint64_t other_message = 0;   // receives and probes from any source that got another one's
  std::uint64_t gave_up = 0;         // calls for which the heuristics have no answer
  std::uint64_t threaded_ranks = 0;  // that call MPI from several threads: not adapted from then on

  /// Tests that a request needed, on the average, until it was complete; 0 if none was tested.
  [[nodiscard]] double tests_per_request() const {
    return tested == 0 ? 0 : static_cast<double>(tests) / static_cast<double>(tested);
  }
  AdaptationCounts& operator+=(const AdaptationCounts& other);
  /// Whether everything came out as recorded.
  [[nodiscard]] bool as_recorded() const {
    return swapped + predrawn + left_out + waited_tests + other_message + gave_up == 0;
  }
};

/// How an adapted call came out.
struct CallOutcome {
  bool flag = false;                     // a test or probe was successful
  std::vector<std::uint32_t> completed;  // kAny, kSome: positions in the adapted call's `words`
  std::int32_t source = 0;               // receives and probes
  std::int32_t tag = 0;
  std::int64_t size = 0;
  std::uint64_t sequence = 0;
  Duration took{};
};

class Adaptation {
 public:
  /// Changes the next call of the rank into what is done in its place. False: nothing is.
  [[nodiscard]] bool adapt(RecordedCall& call);
  /// An adapted call has come out. What it lacks, if it lacks something: a call to be made at once (it needs
  /// no adapt()).
  [[nodiscard]] std::optional<RecordedCall> came_out(const RecordedCall& call, const CallOutcome& outcome);

  [[nodiscard]] const AdaptationCounts& counts() const { return counts_; }

 private:
  /// Where the receive that follows a probe goes.
  struct Redirection {
    CommId comm;
    std::int32_t recorded_source;
    std::int32_t recorded_tag;
    std::uint64_t recorded_sequence;
    CallOutcome found;
    bool looked_only;  // by a probe that does not wait
  };

  [[nodiscard]] std::uint32_t now(std::uint32_t recorded) const;
  [[nodiscard]] std::uint32_t recorded_as(std::uint32_t request) const;
  void stand_for(std::uint32_t recorded, std::uint32_t request);
  void ended(std::uint32_t recorded);
  [[nodiscard]] bool adapt_completion(RecordedCall& call);
  [[nodiscard]] bool adapt_single(RecordedCall& call);
  void adapt_receive(RecordedCall& call);
  [[nodiscard]] std::optional<RecordedCall> probe_in_front_of(RecordedCall& receive);
  void forget_looks(std::uint16_t thread);
  void drop_complete(RecordedCall& call) const;
  void predraw(const RecordedCall& call, const CallOutcome& outcome);
  [[nodiscard]] std::optional<RecordedCall> swap(const RecordedCall& call, const CallOutcome& outcome);
  void note_message(const RecordedCall& call, const CallOutcome& outcome);

  std::unordered_map<std::uint32_t, std::uint32_t> now_;       // recorded id: what stands for it; if another
  std::unordered_map<std::uint32_t, std::uint32_t> recorded_;  // and back
  std::unordered_set<std::uint32_t> early_;  // requests that are complete, and not yet in the recording
  std::unordered_map<std::uint16_t, std::vector<std::uint32_t>>
      wanted_;                                              // of each thread's Waitany, Waitsome
  std::unordered_map<std::uint16_t, Redirection> probed_;   // by each thread's last probe
  std::vector<Redirection> taken_;                          // by matching probes
  std::unordered_map<std::uint16_t, RecordedCall> failed_;  // each thread's last probe, if it had succeeded
  std::unordered_map<std::uint16_t, RecordedCall>
      behind_;  // each thread's receive behind a probe in front of it
  AdaptationCounts counts_;
};

}  // namespace nplus1::hypothesis
