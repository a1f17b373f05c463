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
#include "stubs/runtime/guard.hpp"
#include "stubs/runtime/thread_clock.hpp"

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

// ---- pages ------------------------------------------------------------------------------------------------

namespace {

constexpr unsigned kLeafBits = 18;  // a gigabyte of addresses
constexpr std::size_t kLeaves = std::size_t{1} << (47U - kPageBits - kLeafBits);
std::atomic<std::uint8_t*> leaves[kLeaves];

}  // namespace

std::uint8_t* page_byte(std::uint64_t page, bool make) noexcept {
  const std::uint64_t leaf = page >> kLeafBits;
  if (leaf >= kLeaves) return nullptr;
  std::uint8_t* bytes = leaves[leaf].load(std::memory_order_acquire);
  if (bytes == nullptr) {
    if (!make) return nullptr;
    const long memory = raw_system_call(SYS_mmap, 0, 1L << kLeafBits, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory < 0 && memory > -4096) return nullptr;
    bytes = reinterpret_cast<std::uint8_t*>(memory);
    leaves[leaf].store(bytes, std::memory_order_release);
  }
  return bytes + (page & ((1U << kLeafBits) - 1));
}

void protect(std::uint64_t page, std::uint64_t pages, Watched mode) noexcept {
  const int allowed = mode == Watched::kAll      ? PROT_NONE
                      : mode == Watched::kWrites ? PROT_READ
                                                 : PROT_READ | PROT_WRITE;
  raw_system_call(SYS_mprotect, static_cast<long>(page << kPageBits), static_cast<long>(pages << kPageBits),
                  allowed);
  ++state.cost.protects;
}

namespace {

/// Calls visit(first page, end page) for the runs of pages that a buffer's cells touch and that may be closed.
template <class Visit>
void each_run(const Buffer& b, Visit&& visit) {
  std::uint64_t begin = 0, end = 0;
  b.cells.each([&](const Range& r) {
    const std::uint64_t first = std::max(r.begin >> kPageBits, b.first_page);
    const std::uint64_t last = std::min(((r.end - 1) >> kPageBits) + 1, b.end_page);
    if (first >= last) return true;
    if (begin == end || first > end || first < begin) {
      if (begin < end) visit(begin, end);
      begin = first;
      end = last;
    } else {
      end = std::max(end, last);
    }
    return true;
  });
  if (begin < end) visit(begin, end);
}

/// Changes the modes of pages to what `wanted(page, byte)` says, with as few calls as possible.
template <class Wanted>
void change(std::uint64_t begin, std::uint64_t end, Wanted&& wanted) {
  std::uint64_t run = begin;
  Watched mode{};
  bool running = false;
  const auto flush = [&](std::uint64_t until) {
    if (running) protect(run, until - run, mode);
    running = false;
  };
  for (std::uint64_t page = begin; page < end; ++page) {
    std::uint8_t* byte = page_byte(page, true);
    if (byte == nullptr) {
      flush(page);
      continue;
    }
    const std::uint8_t next = wanted(page, *byte);
    const bool same = mode_of(next) == mode_of(*byte);
    *byte = next;
    if (same || (running && mode != mode_of(next))) flush(page);
    if (same) continue;
    if (!running) run = page;
    running = true;
    mode = mode_of(next);
  }
  flush(end);
}

template <class Visit>
void each_buffer(Visit&& visit) {
  for (std::size_t i = 0; i < state.buffers_used; ++i)
    if (state.buffers[i].live) visit(state.buffers[i]);
}

bool may_share_pages(const Buffer& a, const Buffer& b) {
  return (a.cells.low() >> kPageBits) <= (b.cells.high() - 1) >> kPageBits &&
         (b.cells.low() >> kPageBits) <= (a.cells.high() - 1) >> kPageBits;
}

}  // namespace

/// Whether pages from `first` to before `end` have some that are never closed.
static bool kept_open_locked(std::uint64_t first, std::uint64_t end) noexcept {
  return std::any_of(state.kept_open, state.kept_open + state.kept_used,
                     [&](const Pages& kept) { return kept.first < end && first < kept.end; });
}

static void keep_open_locked(std::uintptr_t address, std::size_t bytes) noexcept {
  const Pages kept{address >> kPageBits, ((address + bytes - 1) >> kPageBits) + 1};
  // Threads come and go in the same memory.
  const auto same = [&](const Pages& p) { return p.first == kept.first && p.end == kept.end; };
  if (std::any_of(state.kept_open, state.kept_open + state.kept_used, same)) return;
  state.kept_open[state.kept_next] = kept;
  state.kept_next = (state.kept_next + 1) % State::kMostKept;
  state.kept_used = std::min(state.kept_used + 1, State::kMostKept);
  for (std::uint64_t page = kept.first; page < kept.end; ++page) {
    std::uint8_t* byte = page_byte(page, false);
    if (byte == nullptr || mode_of(*byte) == Watched::kNothing) continue;
    *byte = 0;
    protect(page, 1, Watched::kNothing);
  }
  each_buffer(
      [&](Buffer& b) { b.partly = b.partly || (b.first_page < kept.end && kept.first < b.end_page); });
}

void keep_own_pages_open() noexcept {
  constexpr std::size_t kControlBlock =
      2560;  // glibc's struct pthread, with what the kernel writes in it (rseq)
  const auto thread = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
  const Locked guard;
  keep_open_locked(thread, kControlBlock);
  keep_open_locked(reinterpret_cast<std::uintptr_t>(&this_watch), sizeof(this_watch));
  if (state.tls_bytes > 0)
    keep_open_locked(static_cast<std::uintptr_t>(static_cast<std::int64_t>(thread) + state.tls_distance),
                     state.tls_bytes);
}

Watched needed_on_locked(std::uint64_t page) noexcept {
  Watched level{};
  if (kept_open_locked(page, page + 1)) return level;
  const Range range{page << kPageBits, (page + 1) << kPageBits};
  each_buffer([&](const Buffer& b) {
    if (needed(b) > level && page >= b.first_page && page < b.end_page && b.cells.first_in(range))
      level = needed(b);
  });
  return level;
}

void open_all_locked() noexcept {
  each_buffer([](const Buffer& b) {
    each_run(b, [](std::uint64_t begin, std::uint64_t end) {
      change(begin, end, [](std::uint64_t, std::uint8_t) { return std::uint8_t{0}; });
    });
  });
}

void close_all_locked() noexcept {
  each_buffer([](const Buffer& b) {
    const Watched level = needed(b);
    if (level == Watched::kNothing) return;
    each_run(b, [level](std::uint64_t begin, std::uint64_t end) {
      const bool some_stay = kept_open_locked(begin, end);
      change(begin, end, [&](std::uint64_t page, std::uint8_t byte) {
        if (some_stay && kept_open_locked(page, page + 1)) return std::uint8_t{0};
        return static_cast<std::uint8_t>(std::max(level, mode_of(byte)));
      });
    });
  });
}

void lower_locked(Buffer& buffer) noexcept {
  bool shares = false;
  each_buffer([&](const Buffer& b) {
    shares = shares || (&b != &buffer && needed(b) > Watched::kNothing && may_share_pages(b, buffer));
  });
  const Watched own = needed(buffer);
  each_run(buffer, [&](std::uint64_t begin, std::uint64_t end) {
    change(begin, end, [&](std::uint64_t page, std::uint8_t byte) {
      const Watched level = shares ? needed_on_locked(page) : own;
      return level < mode_of(byte) ? static_cast<std::uint8_t>((byte & ~3U) | static_cast<unsigned>(level))
                                   : byte;
    });
  });
}

void give_up_locked(std::uint64_t page, events::Toucher who, std::int64_t at_ps, const Path* path,
                    const ThreadClock* clock) noexcept {
  ++state.cost.given_up;
  const Range range{page << kPageBits, (page + 1) << kPageBits};
  const Access access{true, true, who, at_ps, ticks(), clock, path};
  touch_locked(range, access);
  std::uint8_t* byte = page_byte(page, false);
  if (byte == nullptr) return;
  *byte = static_cast<std::uint8_t>(kMostMisses << 2U);  // open, and not looked at
  protect(page, 1, Watched::kNothing);
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
