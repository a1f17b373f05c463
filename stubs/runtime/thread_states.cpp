#include "stubs/runtime/thread_states.hpp"

#include <unistd.h>

#include <mutex>
#include <utility>

#include "semantics/processor_counters.hpp"
#include "stubs/access/watch.hpp"
#include "stubs/guard/guard.hpp"
#include "stubs/runtime/runtime.hpp"
#include "stubs/runtime/threads.hpp"
#include "stubs/twin/twin.hpp"

namespace nplus1::stubs {
namespace {

constinit thread_local ThreadState* this_thread = nullptr;

/// Tells the simulator when a thread that has called MPI ends: nobody must wait for its next call.
struct ThreadEnd {
  bool armed = false;
  ~ThreadEnd() {
    if (armed && active()) guarded([] { runtime()->threads.end_mine(); });
  }
};
thread_local ThreadEnd thread_end;

}  // namespace

LateWord::LateWord(std::function<void()> word, ThreadState& thread)
    : word_{std::move(word)}, thread_{thread} {
  thread_.late_word = this;
}

LateWord::~LateWord() {
  thread_.late_word = nullptr;
}

void LateWord::say() {
  if (std::exchange(said_, true)) return;
  thread_.late_word = nullptr;
  word_();
}

ThreadState& ThreadStates::mine() {
  return this_thread != nullptr ? *this_thread : make();
}

ThreadState& ThreadStates::make() {
  states_.push_back(std::make_unique<ThreadState>());
  count_.store(states_.size(), std::memory_order_relaxed);
  ThreadState& made = *states_.back();
  this_thread = &made;
  thread_end.armed = states_.size() > 1;
  made.id = ThreadId{static_cast<std::uint16_t>(states_.size() - 1)};
  made.poll_cost = settings_.poll_cost;
  std::unique_ptr<semantics::ProcessorCounter> counter;
  if (settings_.instructions)
    if (auto opened = semantics::open_processor_counter()) counter = std::move(opened).value();
  made.clock.configure(&settings_, std::move(counter));
  if (settings_.accesses) access::set_clock(&made.clock);
  // A new thread's virtual time begins where the process is now; what it computed before is not known.
  made.reported = states_.front()->clock.base();
  made.recorded.begin(settings_.recorded, made.id.value, made.reported);
  start_clock(made, made.reported);
  take_cell(made);
  return made;
}

ThreadState* ThreadStates::mine_if_known() noexcept {
  return this_thread;
}

ThreadState& ThreadStates::locked_mine() {
  if (this_thread != nullptr) return *this_thread;
  const std::lock_guard guard{lock_};
  return mine();
}

void ThreadStates::end_mine() {
  const std::lock_guard guard{lock_};
  if (this_thread == nullptr) return;
  events::Event event;
  event.kind = events::EventKind::kFinalize;
  event.thread = this_thread->id;
  const Time now = this_thread->is_idle ? this_thread->reported : now_of(*this_thread);
  event.compute_ps = (now - this_thread->reported).count();
  event.entry_ps = now.time_since_epoch().count();
  events::Detail detail;
  detail.wall_before_ns = detail.wall_entry_ns = settings_.record ? this_thread->wall.at(ticks()) : 0;
  line_.write(event, nullptr, settings_.record ? &detail : nullptr);
  line_.ring();
  note_thread_end(now);
  this_thread = nullptr;
}

void ThreadStates::take(const events::Answer& answer, const std::vector<std::uint32_t>& words) {
  for (const auto& state : states_) {
    if (state->id != answer.thread) continue;
    state->answer_words = words;
    state->answer = answer;
  }
}

void ThreadStates::tell_departures(transport::LastWords& words) const {
  for (const auto& state : states_) {
    const RecordedTimes& recorded = state->recorded;
    if (!recorded.differs() || words.departed_threads++ > 0) continue;
    words.departed_thread = state->id.value;
    words.followed = recorded.followed();
    words.found = recorded.found();
    words.expected = recorded.expected();
  }
}

/// Where the simulator sees what the thread does.
void ThreadStates::take_cell(ThreadState& thread) {
  transport::RankBlock* block = several_ ? line_.block() : nullptr;
  if (block == nullptr) return;
  thread.cell = &block->threads[thread.id.index() % transport::kThreadCells];
  thread.cell->owner.store(0, std::memory_order_relaxed);  // nobody's, while it changes hands
  thread.cell->tid.store(static_cast<std::int32_t>(gettid()), std::memory_order_release);
  thread.cell->activity.store(0, std::memory_order_release);
  thread.cell->owner.store(thread.id.value + 1U, std::memory_order_release);
  call_state.show = show;
}

/// A twin has no memory in common with the simulator, and its pass ends only behind this.
void ThreadStates::show(bool inside) {
  if (twin::is_twin()) return;
  transport::ThreadCell* cell = this_thread == nullptr ? nullptr : this_thread->cell;
  if (cell == nullptr || cell->owner.load(std::memory_order_relaxed) != this_thread->id.value + 1U) return;
  const bool shown = cell->activity.load(std::memory_order_relaxed) % 2 != 0;
  if (shown != inside) cell->activity.fetch_add(1, std::memory_order_release);
}

void ThreadStates::show_new_beginning(const ThreadState& thread, transport::RankBlock& block) {
  block.activity.fetch_add(2, std::memory_order_release);
  if (thread.cell != nullptr && thread.cell->owner.load(std::memory_order_relaxed) == thread.id.value + 1U)
    thread.cell->activity.fetch_add(2, std::memory_order_release);
}

void ThreadStates::set_native_wait(ThreadState& thread, bool on) {
  transport::RankBlock* block = line_.block();
  if (block != nullptr && std::exchange(thread.in_native_wait, on) != on)
    block->native_wait.fetch_add(on ? 1U : -1U, std::memory_order_relaxed);
}

void ThreadStates::set_inside(bool inside) {
  show(inside);
  if (transport::RankBlock* block = line_.block())
    block->activity.fetch_add(1, inside ? std::memory_order_relaxed : std::memory_order_release);
  else if (!inside && !line_.is_cut())
    line_.ring();  // over TCP nobody sees what is only written: others may wait for it while the application
                   // computes
}

}  // namespace nplus1::stubs
