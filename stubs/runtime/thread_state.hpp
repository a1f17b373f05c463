// What a thread keeps between calls.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "events/event.hpp"
#include "semantics/timing.hpp"
#include "stubs/clock/recorded_times.hpp"
#include "stubs/clock/thread_clock.hpp"
#include "stubs/clock/wall_clock.hpp"
#include "stubs/runtime/requests/requests.hpp"
#include "stubs/transport/segment.hpp"
#include "support/ids.hpp"
#include "support/units.hpp"

namespace nplus1::stubs {

struct ThreadState;

/// Something that the simulator is told once the MPI library waits for others in the call that the thread is in: until
/// then that call may still fail without them. By whoever makes it, with the lock held.
class LateWord {
 public:
  LateWord(std::function<void()> word, ThreadState& thread);
  ~LateWord();
  LateWord(const LateWord&) = delete;
  LateWord& operator=(const LateWord&) = delete;
  [[nodiscard]] bool said() const { return said_; }
  void say();

 private:
  std::function<void()> word_;
  ThreadState& thread_;
  bool said_ = false;
};

/// In pages of its own: handlers read the clock (stubs/access/), and no buffer of the program's may lie in a page that they
/// need.
struct alignas(4096) ThreadState {
  ThreadId id{};
  ThreadClock clock;
  RecordedTimes recorded;  // --compute recorded:DIR
  WallClock wall;          // used by recorded runs only
  semantics::PollCost poll_cost;
  Time reported = kTimeZero;        // the exit of the last call that the simulator knows of
  Time interface_free = kTimeZero;  // semantics::send_eager: when its sends so far have left
  Time inside = kTimeZero;          // the virtual time while it is in a Call: callbacks may ask for it
  // Events since its clock was last known: a call of them ended when only the simulator knows, and `reported` is no later
  // than that.
  std::uint32_t events_adrift = 0;
  bool ends_itself = false;  // it is in a collective whose end it finds by itself
  bool in_call = false;
  bool is_owed_an_answer = false;           // a call asked the simulator and ended before it had answered
  std::optional<events::Answer> answer;     // the answer this thread waits for
  std::vector<std::uint32_t> answer_words;  // its extension
  std::vector<Request*> selected;           // scratch of completing calls
  LateWord* late_word = nullptr;            // not said yet
  bool has_called = false;                  // and told the simulator of it
  bool is_idle = false;       // between OpenMP's regions, or in one of which the simulator knows nothing
  std::uint32_t idles = 0;    // so many times
  std::uint32_t regions = 0;  // of OpenMP's that it was a member of
  std::uint32_t forks = 0;    // of OpenMP's regions, by it; counted no further than it matters
  bool members_call =
      false;  // of its teams, some have called MPI; with the runtime's lock until the region ends
  bool in_native_wait = false;            // counted in RankBlock::native_wait
  transport::ThreadCell* cell = nullptr;  // null where the rank has one thread, or nobody sees it

  /// The program goes on without having left such a collective: by a callback, for a while or for good.
  void miss_its_end() {
    if (ends_itself) ++events_adrift;
    ends_itself = false;
  }
  /// Starts the clock at `now`: the program goes on. `given`: the recording gives the compute times.
  void start_clock(Time now, bool given) {
    clock.start(now, given && recorded.follows() ? recorded.left(now) : Duration{-1});
  }
};

}  // namespace nplus1::stubs
