// Which pages are closed, and for what: as the buffers on them need it, but for those that the kernel and our handlers use
// themselves.
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "stubs/access/raw_system_call.hpp"
#include "stubs/access/state.hpp"
#include "stubs/clock/thread_clock.hpp"

namespace nplus1::stubs::access {

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

bool may_share_pages(const Buffer& a, const Buffer& b) {
  return (a.cells.low() >> kPageBits) <= (b.cells.high() - 1) >> kPageBits &&
         (b.cells.low() >> kPageBits) <= (a.cells.high() - 1) >> kPageBits;
}

}  // namespace

bool kept_open_locked(std::uint64_t first, std::uint64_t end) noexcept {
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

}  // namespace nplus1::stubs::access
