#include "stubs/access/mappings.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <atomic>
#include <cstddef>

#include "stubs/access/raw_system_call.hpp"

namespace nplus1::stubs::access {
namespace {

constexpr std::size_t kMost = 4096;
Mapping known[kMost];
std::size_t count = 0;
std::atomic<bool> stale{true};
char text[1 << 16];

/// One line: "BEGIN-END rwxp ...".
void take(const char*& at, const char* end) {
  const auto number = [&] {
    std::uint64_t value = 0;
    for (; at < end; ++at) {
      const char c = *at;
      if (c >= '0' && c <= '9')
        value = value * 16 + static_cast<std::uint64_t>(c - '0');
      else if (c >= 'a' && c <= 'f')
        value = value * 16 + static_cast<std::uint64_t>(c - 'a' + 10);
      else
        break;
    }
    return value;
  };
  Mapping m;
  m.begin = number();
  ++at;
  m.end = number();
  ++at;
  if (at + 1 < end) {
    m.writable = at[0] == 'r' && at[1] == 'w';
    m.constant = at[0] == 'r' && at[1] == '-';
  }
  while (at < end && *at != '\n') ++at;
  if (at < end) ++at;
  if (count > 0 && known[count - 1].end == m.begin && known[count - 1].writable == m.writable &&
      known[count - 1].constant == m.constant) {
    known[count - 1].end = m.end;
  } else if (count < kMost) {
    known[count++] = m;
  }
}

void read_again() {
  count = 0;
  const long file =
      raw_system_call(SYS_openat, AT_FDCWD, as_argument("/proc/self/maps"), O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  std::size_t have = 0;
  for (;;) {
    const long n =
        raw_system_call(SYS_read, file, as_argument(text + have), static_cast<long>(sizeof(text) - have));
    if (n <= 0) break;
    have += static_cast<std::size_t>(n);
    const char* at = text;
    std::size_t whole = have;
    while (whole > 0 && text[whole - 1] != '\n') --whole;
    while (at < text + whole) take(at, text + whole);
    for (std::size_t i = whole; i < have; ++i) text[i - whole] = text[i];
    have -= whole;
  }
  raw_system_call(SYS_close, file);
  stale.store(false, std::memory_order_relaxed);
}

const Mapping* find(Range range) {
  std::size_t low = 0, high = count;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (known[middle].end <= range.begin)
      low = middle + 1;
    else
      high = middle;
  }
  return low < count && known[low].begin <= range.begin && range.end <= known[low].end ? &known[low]
                                                                                       : nullptr;
}

}  // namespace

Mapping mapping_of(Range range) noexcept {
  const Mapping* found = stale.load(std::memory_order_relaxed) ? nullptr : find(range);
  if (found == nullptr) {
    read_again();
    found = find(range);
  }
  return found == nullptr ? Mapping{} : *found;
}

void forget_mappings() noexcept {
  stale.store(true, std::memory_order_relaxed);
}

}  // namespace nplus1::stubs::access
