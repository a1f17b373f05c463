#include "stubs/twin/pages.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <cstring>

#include "stubs/twin/own_call.hpp"

namespace nplus1::stubs::twin {
namespace {

constexpr std::uintptr_t kPage = 4096;
constexpr std::size_t kMostBytes = std::size_t{32} << 20U;

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
  [[nodiscard]] long read(void* to, std::size_t bytes) const {
    return own_call(SYS_read, fd_, as_long(to), static_cast<long>(bytes));
  }
  [[nodiscard]] long read_at(void* to, std::size_t bytes, std::uint64_t offset) const {
    return own_call(SYS_pread64, fd_, as_long(to), static_cast<long>(bytes), static_cast<long>(offset));
  }

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
      const bool writable = line.permissions[1] == 'w';
      if (line.permissions[3] == 's') {
        // Only reading does no harm. What may not even be read may be opened later.
        if ((line.permissions[0] == 'r' && !writable) || (line.begin < ours_end && ours < line.end)) continue;
        if (shared == kMostRuns) return false;
        run_[shared++] = {line.begin, line.end - line.begin};
      } else if (writable) {
        if (areas_ == kMostAreas) return false;
        area_[areas_++] = {line.begin, line.end};
      }
    }
  }
  for (std::size_t i = 0; i < shared; ++i)
    if (own_call(SYS_munmap, static_cast<long>(run_[i].begin), static_cast<long>(run_[i].bytes)) != 0)
      return false;
  return true;
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
  constexpr std::uint64_t kPresent = std::uint64_t{1} << 63U, kExclusive = std::uint64_t{1} << 56U;
  const File map{"/proc/self/pagemap"};
  if (!map.is_open()) return false;
  std::uint64_t entries[512];
  for (std::size_t a = 0; a < areas_; ++a) {
    for (std::uintptr_t at = area_[a].begin; at < area_[a].end;) {
      const std::uintptr_t pages = (area_[a].end - at) / kPage;
      const std::size_t wanted = (pages < 512 ? pages : 512) * sizeof(entries[0]);
      const long got = map.read_at(entries, wanted, at / kPage * sizeof(entries[0]));
      if (got < static_cast<long>(sizeof(entries[0]))) return false;
      const std::size_t count = static_cast<std::size_t>(got) / sizeof(entries[0]);
      for (std::size_t i = 0; i < count; ++i)
        if ((entries[i] & (kPresent | kExclusive)) == (kPresent | kExclusive) && !add(at + i * kPage))
          return false;
      at += count * kPage;
    }
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
#if defined(__x86_64__)
  for (std::size_t i = 0; i < runs_; ++i)
    for (std::uintptr_t page = run_[i].begin; page < run_[i].begin + run_[i].bytes; page += kPage)
      asm volatile("lock orb $0, %0" : "+m"(*reinterpret_cast<char*>(page)));
#endif
  remember();
}

/// The program may have given some of it back to the system since: this says so, where a write would be a fault.
void Pages::take_back_earlier() const noexcept {
  constexpr long kPopulateWrite = 23;  // MADV_POPULATE_WRITE, Linux 5.14
  for (std::size_t i = 0; i < known_; ++i)
    own_call(SYS_madvise, static_cast<long>(known_run_[i].begin), static_cast<long>(known_run_[i].bytes),
             kPopulateWrite);
}

void Pages::remember() noexcept {
  std::size_t merged = 0;
  for (std::size_t i = 0, k = 0; i < runs_ || k < known_;) {
    const Run& next =
        k == known_ || (i < runs_ && run_[i].begin < known_run_[k].begin) ? run_[i++] : known_run_[k++];
    const std::uintptr_t end = next.begin + next.bytes;
    if (merged > 0 && next.begin <= merged_[merged - 1].begin + merged_[merged - 1].bytes) {
      Run& last = merged_[merged - 1];
      last.bytes = (end > last.begin + last.bytes ? end : last.begin + last.bytes) - last.begin;
      continue;
    }
    if (merged == kMostKnown) return;  // in too many places: what is known stays
    merged_[merged++] = next;
  }
  std::memcpy(known_run_, merged_, merged * sizeof(Run));
  known_ = merged;
}

}  // namespace nplus1::stubs::twin
