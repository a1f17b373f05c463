#include "stubs/transport/segment.hpp"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>
#include <new>

namespace nplus1::transport {

void Segment::initialise(std::int32_t ranks, std::int32_t simulator_pid) const {
  Header& h = *new (base_) Header{};
  h.ranks = ranks;
  h.simulator_pid = simulator_pid;
  h.total_bytes = bytes_for(ranks);
  h.arena_begin = h.total_bytes - kArenaBytes;
  h.arena_next.store(h.arena_begin);
  h.magic = kMagic;
}

int create_segment_fd(std::int32_t ranks) {
  const int fd = memfd_create("nplus1", MFD_CLOEXEC);
  if (fd < 0) return -1;
  if (ftruncate(fd, static_cast<off_t>(Segment::bytes_for(ranks))) != 0) {
    close(fd);
    return -1;
  }
  return fd;
}

Segment map_segment(int fd, std::uint64_t bytes) {
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (base == MAP_FAILED) return Segment{};
  madvise(base, bytes, MADV_DONTDUMP);
  return Segment{base};
}

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t nanoseconds) {
  const timespec limit{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
  syscall(SYS_futex, &word, FUTEX_WAIT, expected, &limit, nullptr, 0);
}

void futex_wake(std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, 64, nullptr, nullptr, 0);
}

}  // namespace nplus1::transport
