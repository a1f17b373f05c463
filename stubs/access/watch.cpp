#include "stubs/access/watch.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "stubs/access/mappings.hpp"
#include "stubs/access/state.hpp"
#include "stubs/clock/thread_clock.hpp"
#include "stubs/guard/guard.hpp"

namespace nplus1::stubs::access {

constinit thread_local ThreadWatch this_watch;
State state;

Locked::Locked() noexcept {
  while (state.lock.test_and_set(std::memory_order_acquire)) raw_system_call(SYS_sched_yield);
  this_watch.holds = true;
}
Locked::~Locked() {
  this_watch.holds = false;
  state.lock.clear(std::memory_order_release);
}

// ---- accesses ---------------------------------------------------------------------------------------------

namespace {

void log(events::Access which, std::uint64_t ordinal, const Buffer& b, std::uint64_t address,
         const Access& access) noexcept {
  if (state.records_used == kMostRecords) {
    ++state.cost.lost;
    return;
  }
  Record& r = state.records[state.records_used++];
  r.which = which;
  r.who = access.who;
  r.write = access.write;
  r.inexact = access.inexact || (b.partly && which != events::Access::kEarlyTouch);
  r.ordinal = ordinal;
  r.offset = address - b.cells.low();
  r.at_ps = access.at_ps;
  r.tick = access.tick;
  r.clock = access.clock != nullptr ? access.clock : b.clock;
  const bool between_calls = access.who != events::Toucher::kMpiCall && access.clock != nullptr;
  r.measured_ps = between_calls ? access.clock->measured_so_far().count() : -1;
  r.path.size = 0;
  if (access.path != nullptr) r.path = *access.path;
}

void note(Touch& touch, const Buffer& b, std::uint64_t address, const Access& access) noexcept {
  touch.open = true;
  touch.of_call = access.path == nullptr;
  touch.inexact = access.inexact || b.partly;
  touch.write = access.write;
  touch.who = access.who;
  touch.offset = address - b.cells.low();
  touch.until_ps = access.at_ps;
  touch.path.size = 0;
  if (access.path != nullptr) touch.path = *access.path;
}

constexpr std::uint32_t kMostRaces = 64;

}  // namespace

bool Sharers::has(std::uint64_t ordinal) const {
  return std::find(ordinals, ordinals + count, ordinal) != ordinals + count;
}

std::uint64_t Sharers::add(std::uint64_t ordinal) {
  std::uint64_t oldest = 0;
  if (count == kMost) {
    oldest = ordinals[0];
    remove(oldest);
  }
  ordinals[count++] = ordinal;
  return oldest;
}

void Sharers::remove(std::uint64_t ordinal) {
  count = static_cast<std::size_t>(std::remove(ordinals, ordinals + count, ordinal) - ordinals);
}

void touch_buffer_locked(Buffer& b, std::uint64_t address, const Access& access) noexcept {
  if (counts(b.flight, access.write) && !access.inexact) {
    bool races = false;
    for (std::size_t i = 0; i < b.flying.count; ++i) {
      if (b.flying.ordinals[i] >= access.own_from) continue;
      log(events::Access::kEarlyTouch, b.flying.ordinals[i], b, address, access);
      races = true;
    }
    if (races && ++b.races >= kMostRaces) b.flight = Watched::kNothing;
  }
  if (counts(b.after, access.write) && state.finish != nullptr) {
    if (!state.hit.happened) {
      state.hit = {true,
                   access.inexact || b.partly,
                   access.write,
                   access.who,
                   b.waiting.count > 0 ? b.waiting.ordinals[0] : 0,
                   address - b.cells.low(),
                   -1,
                   access.path != nullptr ? *access.path : Path{}};
    }
    b.waiting.count = 0;
    b.after = Watched::kNothing;
  }
  if (counts(b.after, access.write)) {
    const auto which = b.after == Watched::kAll ? events::Access::kFirstTouch : events::Access::kFirstWrite;
    for (std::size_t i = 0; i < b.waiting.count; ++i) log(which, b.waiting.ordinals[i], b, address, access);
    b.waiting.count = 0;
    b.after = Watched::kNothing;
  }
  if (b.track == Watched::kNothing) return;
  note(b.any, b, address, access);
  if (access.write) note(b.written, b, address, access);
  b.armed = access.write ? Watched::kNothing : std::min(b.armed, Watched::kWrites);
}

bool concerns_locked(Range range, bool write) noexcept {
  bool any = false;
  each_buffer([&](const Buffer& b) {
    any = any || (counts(needed(b), write) && b.cells.first_in(range).has_value());
  });
  return any;
}

bool touch_locked(Range range, const Access& access, const Buffer* but) noexcept {
  bool any = false;
  each_buffer([&](Buffer& b) {
    if (&b == but) return;
    const bool waits = counts(needed(b), access.write);
    if (!waits && b.track == Watched::kNothing) return;
    const auto hit = b.cells.first_in(range);
    if (!hit) return;
    any = any || waits;
    touch_buffer_locked(b, *hit, access);
    if (state.inside == 0) lower_locked(b);
  });
  return any;
}

void release_locked(Range range, const Access& access) noexcept {
  each_buffer([&](Buffer& b) {
    if (b.cells.low() >= range.end || range.begin >= b.cells.high()) return;
    if (const auto hit = b.cells.first_in(range)) touch_buffer_locked(b, *hit, access);
    b.after = b.flight = b.armed = b.track = Watched::kNothing;
    if (state.inside == 0) lower_locked(b);
    b.live = false;
  });
}

// ---- pages that are missed again and again ---------------------------------------------------------------

namespace {

/// Before the pages are closed: what lies on those that are left open this time counts as touched. Where compute times
/// are given, some are closed for their first access instead, which is when what lies there counts as touched.
void leave_hot_pages_open() noexcept {
  constexpr unsigned kMostTried = 16;  // at a return: each costs a fault
  unsigned tried = 0;
  for (std::size_t i = 0; i < state.heat.pages(); ++i) {
    const std::uint64_t page = state.heat.page(i);
    if (needed_on_locked(page) == Watched::kNothing || !state.heat.leave_open(page, state.site)) continue;
    if (tried < kMostTried && state.heat.once(page)) {
      ++tried;
      continue;
    }
    ++state.cost.left_open;
    Path path;
    path.size = 1;
    path.at[0] = state.heat.instruction(page);
    const ThreadClock* clock = nullptr;
    const std::int64_t now = virtual_now(clock);
    touch_locked({page << kPageBits, (page + 1) << kPageBits},
                 {true, true, events::Toucher::kProgram, now, ticks(), clock, &path});
  }
}

/// Those that were closed to the end have kept within their misses.
void note_kept_pages() noexcept {
  for (std::size_t i = 0; i < state.heat.pages(); ++i) {
    const std::uint8_t* byte = page_byte(state.heat.page(i), false);
    if (byte != nullptr && mode_of(*byte) != Watched::kNothing)
      state.heat.kept(state.heat.page(i), state.site);
  }
}

}  // namespace

// ---- for wrappers -----------------------------------------------------------------------------------------

void on_hit(void (*finish)(const Hit& hit) noexcept) noexcept {
  state.finish = finish;
}

void release_all() noexcept {
  const Locked guard;
  open_all_locked();
  each_buffer([](Buffer& b) { b.live = false; });
  state.buffers_used = 0;
}

void finish_hit() noexcept {
  if (state.finish == nullptr || !state.hit.happened) return;
  const Hit hit = state.hit;
  state.hit = Hit{};
  state.finish(hit);
}

bool begun() noexcept {
  return state.begun.load(std::memory_order_relaxed) && !state.over.load(std::memory_order_relaxed);
}

void set_clock(ThreadClock* clock) noexcept {
  if (state.main_clock == nullptr) state.main_clock = clock;
  this_watch.clock = clock;
}

/// Programs wait in loops on the clock: opening and closing all pages for each look would take a hundred times as long
/// as the loop is to take.
static bool reaches_no_memory(MpiCall call) noexcept {
  return call == MpiCall::MPI_Wtime || call == MpiCall::MPI_Wtick;
}

void enter() noexcept {
  if (!begun()) return;
  this_watch.passing = reaches_no_memory(current_call());
  if (this_watch.passing) {
    this_watch.selector = kAllow;
    return;
  }
  const Moment begin = moment();
  this_watch.selector = kAllow;
  {
    const Locked guard;
    if (!this_watch.inside && state.inside++ == 0) {
      note_kept_pages();
      open_all_locked();
    }
    this_watch.inside = true;
    // Pages that a handler had to open while this lock was held.
    const unsigned emergencies = std::min(state.emergencies.exchange(0), 16U);
    for (unsigned i = 0; i < emergencies; ++i) {
      const ThreadClock* clock = nullptr;
      const std::int64_t now = virtual_now(clock);
      const std::uint64_t page = state.emergency_pages[i].load();
      touch_locked({page << kPageBits, (page + 1) << kPageBits},
                   {true, true, events::Toucher::kProgram, now, ticks(), clock, nullptr});
    }
  }
  state.cost.protect_ns += exclude_since(begin, 0);
}

void leave() noexcept {
  if (!begun()) return;
  if (!this_watch.known) begin_thread();
  if (std::exchange(this_watch.passing, false)) {
    this_watch.selector = kDispatch;
    return;
  }
  const Moment begin = moment();
  {
    const Locked guard;
    if (std::exchange(this_watch.inside, false) && --state.inside == 0) {
      const ThreadClock* clock = nullptr;
      const std::int64_t now = state.suspended > 0 ? virtual_now(clock) : 0;
      each_buffer([&](Buffer& b) {
        if (state.suspended > 0 && b.after != Watched::kNothing)
          touch_buffer_locked(b, b.cells.low(),
                              {true, true, events::Toucher::kProgram, now, ticks(), clock, nullptr});
        if (b.after == Watched::kNothing && b.flight == Watched::kNothing && b.track == Watched::kNothing)
          return;
        // What is open yet was touched before this call and ends with its own call's checkpoint, or is not over.
        if (!b.any.open || b.any.of_call) b.armed = b.track;
      });
      if (state.suspended == 0) {
        state.site = call_site();
        leave_hot_pages_open();
        close_all_locked();
      }
    }
  }
  state.cost.protect_ns += exclude_since(begin, 0);
  finish_hit();  // what lies on pages that are left open
  this_watch.selector = kDispatch;
}

void settle(const ThreadClock* clock, Time base, Duration measured, Duration given) {
  const Locked guard;
  for (std::size_t i = 0; i < state.records_used; ++i) {
    Record& r = state.records[i];
    if (r.clock != clock || r.measured_ps < 0) continue;
    const double share = measured > Duration{}
                             ? static_cast<double>(r.measured_ps) / static_cast<double>(measured.count())
                             : 0.0;
    const double moved = std::min(share, 1.0) * static_cast<double>(given.count());
    r.at_ps = base.time_since_epoch().count() + static_cast<std::int64_t>(moved);
    r.measured_ps = -1;
  }
}

void checkpoint(const ThreadClock* clock, std::int64_t now_ps) {
  const Locked guard;
  each_buffer([&](Buffer& b) {
    for (Touch* touch : {&b.any, &b.written}) {
      if (!touch->open || touch->of_call) continue;
      touch->open = false;
      touch->until_ps = std::max(touch->until_ps, now_ps);
    }
  });
  static_cast<void>(clock);
}

Buffer* buffer_of(const Cells& cells, std::int64_t now_ps, const void* frame) {
  if (cells.empty()) return nullptr;
  const Locked guard;
  Buffer* oldest = nullptr;
  Buffer* free = nullptr;
  for (std::size_t i = 0; i < state.buffers_used; ++i) {
    Buffer& b = state.buffers[i];
    if (!b.live) {
      free = &b;
    } else if (b.cells.same_as(cells)) {
      b.used = ++state.age;
      b.clock = this_watch.clock;
      return &b;
    } else if (b.flight == Watched::kNothing && (oldest == nullptr || b.used < oldest->used)) {
      oldest = &b;
    }
  }
  if (free == nullptr && state.buffers_used < kMostBuffers) free = &state.buffers[state.buffers_used++];
  if (free == nullptr) free = oldest;
  if (free == nullptr) return nullptr;
  const Mapping mapping = mapping_of({cells.low(), cells.high()});
  Buffer& b = *free;
  b = Buffer{};
  b.cells = cells;
  b.live = true;
  b.used = ++state.age;
  b.clock = this_watch.clock;
  b.first_page = cells.low() >> kPageBits;
  b.end_page = mapping.writable ? ((cells.high() - 1) >> kPageBits) + 1 : b.first_page;
  b.partly = (!mapping.writable && !mapping.constant) || kept_open_locked(b.first_page, b.end_page);
  if (mapping.writable && mapping.holds(reinterpret_cast<std::uintptr_t>(frame))) {
    // Frames that are live, and those of signals to come, lie below; the kernel writes there itself.
    constexpr std::uint64_t kRoom = 1;
    const std::uint64_t live = (reinterpret_cast<std::uintptr_t>(frame) >> kPageBits) + kRoom;
    if (b.first_page < live) {
      b.first_page = std::min(live, b.end_page);
      b.partly = true;
    }
  }
  for (Touch* touch : {&b.any, &b.written}) {
    touch->of_call = true;
    touch->until_ps = now_ps;
  }
  return &b;
}

void touched_somewhere(std::int64_t now_ps) {
  const Locked guard;
  each_buffer([&](Buffer& b) {
    touch_buffer_locked(b, b.cells.low(),
                        {true, true, events::Toucher::kMpiCall, now_ps, ticks(), this_watch.clock, nullptr});
  });
}

void suspend(bool on) {
  const Locked guard;
  if (on)
    ++state.suspended;
  else if (state.suspended > 0)
    --state.suspended;
}

void forget(Buffer& buffer) {
  const Locked guard;
  buffer.live = false;
}

void add_record(const Record& record) {
  const Locked guard;
  if (state.records_used == kMostRecords)
    ++state.cost.lost;
  else
    state.records[state.records_used++] = record;
}

void touched_by_call(const Cells& cells, bool write, bool inexact, std::int64_t now_ps,
                     std::uint64_t first_ordinal) {
  if (cells.empty()) return;
  const Locked guard;
  const Access access{write,   inexact,      events::Toucher::kMpiCall, now_ps, ticks(), this_watch.clock,
                      nullptr, first_ordinal};
  each_buffer([&](Buffer& b) {
    if (!b.cells.overlaps(cells)) return;
    std::uint64_t first = std::max(b.cells.low(), cells.low());
    cells.each([&](const Range& r) {
      const auto hit = b.cells.first_in(r);
      if (hit) first = *hit;
      return !hit;
    });
    touch_buffer_locked(b, first, access);
  });
}

void call_over(Buffer& buffer, bool write, std::int64_t now_ps) {
  const Locked guard;
  each_buffer([&](Buffer& b) {
    if (&b != &buffer && !b.cells.overlaps(buffer.cells)) return;
    for (Touch* touch : {&b.any, write ? &b.written : &b.any}) {
      touch->open = false;
      touch->of_call = true;
      touch->inexact = false;
      touch->who = events::Toucher::kMpiCall;
      touch->write = write;
      touch->offset = 0;
      touch->until_ps = std::max(touch->until_ps, now_ps);
      touch->path.size = 0;
    }
  });
}

void watch_after(Buffer& buffer, Watched what, std::uint64_t ordinal, std::int64_t now_ps) {
  const Locked guard;
  buffer.flying.remove(ordinal);
  if (buffer.flying.count == 0) buffer.flight = Watched::kNothing;
  buffer.after = std::max(buffer.after, what);
  if (const std::uint64_t oldest = buffer.waiting.add(ordinal); oldest != 0)
    log(what == Watched::kAll ? events::Access::kFirstTouch : events::Access::kFirstWrite, oldest, buffer,
        buffer.cells.low(),
        {true, true, events::Toucher::kMpiCall, now_ps, ticks(), this_watch.clock, nullptr});
  buffer.track = std::max(buffer.track, what);
  buffer.armed = buffer.track;
}

void tell_unseen(Buffer& buffer, Watched what, std::uint64_t ordinal, std::int64_t now_ps) {
  const Locked guard;
  if (!buffer.partly) return;
  const bool all = what == Watched::kAll;
  log(all ? events::Access::kFirstTouch : events::Access::kFirstWrite, ordinal, buffer, buffer.cells.low(),
      {!all, true, events::Toucher::kProgram, now_ps, ticks(), this_watch.clock, nullptr});
}

void watch_flight(Buffer& buffer, Watched what, std::uint64_t ordinal) {
  const Locked guard;
  if (buffer.flying.count == 0) buffer.races = 0;
  buffer.flight = std::max(buffer.flight, what);
  static_cast<void>(buffer.flying.add(ordinal));  // races with the oldest of very many are not looked for
}

bool take_record(const ThreadClock* clock, Record& record) {
  const Locked guard;
  for (std::size_t i = 0; i < state.records_used; ++i) {
    if (clock != nullptr && state.records[i].clock != clock && state.records[i].clock != nullptr) continue;
    record = state.records[i];
    std::move(state.records + i + 1, state.records + state.records_used, state.records + i);
    --state.records_used;
    return true;
  }
  return false;
}

Cost cost() noexcept {
  return state.cost;
}

void end() noexcept {
  if (!begun()) return;
  this_watch.selector = kAllow;
  const Locked guard;
  open_all_locked();
  state.over.store(true, std::memory_order_relaxed);
}

}  // namespace nplus1::stubs::access
