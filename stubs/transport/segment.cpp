#include "stubs/transport/segment.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <ctime>
#include <new>

namespace nplus1::transport {

void Segment::initialise() const {
  Header& h = *new (base_) Header{};
  h.arena_next.store(arena_begin(mapping_->ranks));
}

bool Segment::open_up_to(std::uint64_t offset) const {
  const std::uint64_t end = std::min(mapping_->bytes, (offset / kArenaStep + 1) * kArenaStep);
  if (mprotect(base_ + mapping_->open, end - mapping_->open, PROT_READ | PROT_WRITE) != 0) return false;
  mapping_->open = end;
  return true;
}

int create_segment_fd(std::int32_t ranks) {
  const int fd = memfd_create("nplus1", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return -1;
  if (ftruncate(fd, static_cast<off_t>(Segment::bytes_for(ranks))) != 0 ||
      fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    close(fd);
    return -1;
  }
  return fd;
}

bool is_segment(int fd, std::int32_t ranks) {
  constexpr int kSize = F_SEAL_SHRINK | F_SEAL_GROW;
  const int seals = fcntl(fd, F_GET_SEALS);
  struct stat status {};
  return seals >= 0 && (seals & kSize) == kSize && fstat(fd, &status) == 0 &&
         static_cast<std::uint64_t>(status.st_size) == Segment::bytes_for(ranks);
}

/// What is known of the mapping lives as long as it, until the process ends: on a page of its own, not in the program's
/// heap, where whoever looks for leaks would find it lost.
Segment::Mapping* Segment::own_page() {
  void* page = mmap(nullptr, sizeof(Mapping), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return page == MAP_FAILED ? nullptr : static_cast<Mapping*>(page);
}

/// First without access to any of it: where the program has locked its future memory, the kernel fills each new
/// mapping with pages at once, but not what cannot be accessed.
Segment map_segment(int fd, std::int32_t ranks) {
  const std::uint64_t bytes = Segment::bytes_for(ranks);
  Segment segment;
  void* base = mmap(nullptr, bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (base == MAP_FAILED) return segment;
  munlock(base, bytes);
  const std::uint64_t open = Segment::arena_begin(ranks) + kArenaStep;
  Segment::Mapping* const known = Segment::own_page();
  if (known == nullptr || mprotect(base, open, PROT_READ | PROT_WRITE) != 0) {
    if (known != nullptr) munmap(known, sizeof(Segment::Mapping));
    munmap(base, bytes);
    return segment;
  }
  madvise(base, bytes, MADV_DONTDUMP);
  segment.base_ = static_cast<std::byte*>(base);
  segment.mapping_ = new (known) Segment::Mapping{ranks, bytes, open};
  return segment;
}

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t nanoseconds) {
  const timespec limit{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
  syscall(SYS_futex, &word, FUTEX_WAIT, expected, &limit, nullptr, 0);
}

void futex_wake(std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace nplus1::transport
