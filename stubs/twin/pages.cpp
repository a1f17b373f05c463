#include "stubs/twin/pages.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>
#include <iterator>

#include "stubs/twin/own_call.hpp"

namespace nplus1::stubs::twin {
namespace {

constexpr std::uintptr_t kPage = 4096;
constexpr std::size_t kMostBytes = std::size_t{32} << 20U;

// Of a page's entry in /proc/self/pagemap.
constexpr std::uint64_t kPresent = std::uint64_t{1} << 63U, kOfFileOrShared = std::uint64_t{1} << 61U,
                        kExclusive = std::uint64_t{1} << 56U, kOwn = kPresent | kExclusive;

/// Calls `look` with each page of [begin, end) and its entry in `map`, an open /proc/self/pagemap, until it says no.
/// False: it did, or the map cannot be read.
template <class Look>
bool each_entry(long map, std::uintptr_t begin, std::uintptr_t end, Look&& look) noexcept {
  std::uint64_t entries[512];
  for (std::uintptr_t at = begin; at < end;) {
    const std::uintptr_t pages = (end - at) / kPage;
    const std::size_t wanted = (pages < 512 ? pages : 512) * sizeof(entries[0]);
    const long got = own_read(map, entries, wanted, at / kPage * sizeof(entries[0]));
    if (got < static_cast<long>(sizeof(entries[0]))) return false;
    const std::size_t count = static_cast<std::size_t>(got) / sizeof(entries[0]);
    for (std::size_t i = 0; i < count; ++i)
      if (!look(at + i * kPage, entries[i])) return false;
    at += count * kPage;
  }
  return true;
}

/// The same with those pages of a large area that are there: a program may reserve far more than it touches, which takes 4 ms a
/// GiB to read. Where the kernel cannot tell them (before Linux 6.7), no area is too large to be tried.
template <class Look>
bool each_present(long map, std::uintptr_t begin, std::uintptr_t end, Look&& look) noexcept {
  constexpr std::uintptr_t kLarge = std::uintptr_t{1} << 30U;
  constexpr std::uint64_t kRequest = 0xc0606610, kIsPresent = 8;  // PAGEMAP_SCAN, PAGE_IS_PRESENT
  struct Region {
    std::uint64_t begin, end, categories;
  } regions[64];
  struct Scan {
    std::uint64_t size, flags, begin, end, walked_to, regions, most_regions, most_pages, inverted, wanted,
        any_of, returned;
  };
  if (end - begin < kLarge) return each_entry(map, begin, end, look);
  for (std::uintptr_t at = begin; at < end;) {
    Scan scan{sizeof(Scan),       0, at, end,        0, reinterpret_cast<std::uintptr_t>(regions),
              std::size(regions), 0, 0,  kIsPresent, 0, kIsPresent};
    const long found = own_call(SYS_ioctl, map, static_cast<long>(kRequest), as_long(&scan));
    if (found < 0) return each_entry(map, at, end, look);
    for (long i = 0; i < found; ++i)
      if (!each_entry(map, regions[i].begin, regions[i].end, look)) return false;
    if (scan.walked_to <= at) return false;
    at = scan.walked_to;
  }
  return true;
}

/// A file of /proc, read in pieces.
class File {
 public:
  explicit File(const char* path)
      : fd_{own_call(SYS_openat, AT_FDCWD, as_long(path), O_RDONLY | O_CLOEXEC)} {}
  ~File() {
    if (fd_ >= 0) own_call(SYS_close, fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  [[nodiscard]] long read(void* to, std::size_t bytes) const { return own_read(fd_, to, bytes); }
  [[nodiscard]] long number() const { return fd_; }

 private:
  long fd_;
};

/// The beginning of a line of /proc/self/maps: `BEGIN-END rwxp`, addresses in hexadecimal.
struct Line {
  std::uintptr_t begin = 0, end = 0;
  char permissions[4] = {};

  /// The next character; true when all of it is known.
  bool take(char c) {
    switch (part_) {
      case 0:
        if (c == '-')
          ++part_;
        else
          begin = begin << 4U | digit(c);
        return false;
      case 1:
        if (c == ' ')
          ++part_;
        else
          end = end << 4U | digit(c);
        return false;
      default:
        permissions[part_ - 2] = c;
        return ++part_ == 6;
    }
  }

 private:
  static std::uintptr_t digit(char c) {
    return static_cast<std::uintptr_t>(c <= '9' ? c - '0' : c - 'a' + 10);
  }
  unsigned part_ = 0;
};

/// As if each page of [begin, end) was written to. A write itself would be a fault where a signal handler of the program's has
/// taken away memory, or the right to write to it, while its process waited for the twin.
void make_own(std::uintptr_t begin, std::uintptr_t end) noexcept {
  constexpr long kPopulateWrite = 23;  // MADV_POPULATE_WRITE, Linux 5.14
  if (begin == end) return;
  if (own_call(SYS_madvise, static_cast<long>(begin), static_cast<long>(end - begin), kPopulateWrite) == 0)
    return;
  const long me = own_call(SYS_getpid);
  for (std::uintptr_t page = begin; page < end; page += kPage) {
    const iovec byte{reinterpret_cast<void*>(page), 1};
    own_call(SYS_process_vm_writev, me, as_long(&byte), 1, as_long(&byte), 1, 0);
  }
}

}  // namespace

bool Pages::find(std::uintptr_t ours, std::uintptr_t ours_end) noexcept {
  areas_ = runs_ = 0;
  const File maps{"/proc/self/maps"};
  if (!maps.is_open()) return false;
  char text[4096];
  bool in_line = true;  // else what follows the permissions
  Line line;
  // Nothing is taken away while the map is read. Until pages are kept, runs are free for what is shared: with MPI's
  // memory of every other rank of the host, that may be hundreds.
  std::size_t shared = 0;
  for (;;) {
    const long got = maps.read(text, sizeof(text));
    if (got < 0) return false;
    if (got == 0) break;
    for (long i = 0; i < got; ++i) {
      if (!in_line) {
        in_line = text[i] == '\n';
        if (in_line) line = Line{};
        continue;
      }
      if (!line.take(text[i])) continue;
      in_line = false;
      if (line.permissions[3] == 's') {
        if (line.begin < ours_end && ours < line.end) continue;
        if (shared == kMostRuns) return false;
        run_[shared++] = {line.begin, line.end - line.begin};
      } else if (line.permissions[1] == 'w') {
        if (areas_ == kMostAreas) return false;
        area_[areas_++] = {line.begin, line.end};
      }
    }
  }
  for (std::size_t i = 0; i < shared; ++i)
    if (!take_away(run_[i])) return false;
  // While this process is its user's own: see keep_written().
  map_ = own_call(SYS_openat, AT_FDCWD, as_long("/proc/self/pagemap"), O_RDONLY | O_CLOEXEC);
  return map_ >= 0;
}

/// Only reading does no harm: but what may not be written now, may be where the program says so (mprotect). The kernel knows.
bool Pages::take_away(const Run& shared) noexcept {
  const auto begin = static_cast<long>(shared.begin), bytes = static_cast<long>(shared.bytes);
  if (own_call(SYS_mprotect, begin, bytes, PROT_READ | PROT_WRITE) == -EACCES) return true;
  return own_call(SYS_munmap, begin, bytes) == 0;
}

bool Pages::add(std::uintptr_t page) noexcept {
  if (runs_ > 0 && run_[runs_ - 1].begin + run_[runs_ - 1].bytes == page) {
    run_[runs_ - 1].bytes += kPage;
    return true;
  }
  if (runs_ == kMostRuns) return false;
  run_[runs_++] = {page, kPage};
  return true;
}

bool Pages::keep_written(pid_t parent) noexcept {
  // Until this process writes to it, a page is the parent's, too; one that is its own alone has been written to.
  for (std::size_t a = 0; a < areas_; ++a) {
    const bool all = each_present(
        map_, area_[a].begin, area_[a].end,
        [&](std::uintptr_t page, std::uint64_t entry) { return (entry & kOwn) != kOwn || add(page); });
    if (!all) return false;
  }
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < runs_; ++i) bytes += run_[i].bytes;
  if (bytes > kMostBytes) return false;
  const long memory = own_call(SYS_mmap, 0, static_cast<long>(bytes + kPage), PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory < 0 && memory > -static_cast<long>(kPage)) return false;
  copy_ = reinterpret_cast<std::byte*>(memory);
  std::byte* to = copy_;
  for (std::size_t i = 0; i < runs_; ++i) {
    const iovec here{to, run_[i].bytes};
    const iovec there{reinterpret_cast<void*>(run_[i].begin), run_[i].bytes};
    if (own_call(SYS_process_vm_readv, parent, as_long(&here), 1, as_long(&there), 1, 0) !=
        static_cast<long>(run_[i].bytes))
      return false;
    to += run_[i].bytes;
  }
  return true;
}

void Pages::restore() const noexcept {
  const std::byte* from = copy_;
  for (std::size_t i = 0; i < runs_; ++i) {
    std::memcpy(reinterpret_cast<void*>(run_[i].begin), from, run_[i].bytes);
    from += run_[i].bytes;
  }
}

void Pages::take_back() noexcept {
  for (std::size_t i = 0; i < runs_; ++i) make_own(run_[i].begin, run_[i].begin + run_[i].bytes);
}

/// The program may have something else there by now, such as a file: a write to that would be seen.
void Pages::take_back_all() const noexcept {
  const File map{"/proc/self/pagemap"};
  if (!map.is_open()) return;
  std::uintptr_t begin = 0, end = 0;  // to be made own
  const auto look = [&](std::uintptr_t page, std::uint64_t entry) {
    if ((entry & (kOwn | kOfFileOrShared)) != kOwn) return true;
    if (page != end) {
      make_own(begin, end);
      begin = page;
    }
    end = page + kPage;
    return true;
  };
  for (std::size_t a = 0; a < areas_; ++a)
    if (!each_present(map.number(), area_[a].begin, area_[a].end, look)) break;
  make_own(begin, end);
}

}  // namespace nplus1::stubs::twin
