#include "stubs/access/call_arguments.hpp"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>
#include <utility>

#include "stubs/access/raw_system_call.hpp"
#include "stubs/access/signal_context.hpp"

namespace nplus1::stubs::access {
namespace {

void open_range(Range range, Opened& opened) noexcept {
  for (std::uint64_t page = range.begin >> kPageBits; page <= (range.end - 1) >> kPageBits; ++page) {
    const std::uint8_t* byte = page_byte(page, false);
    if (byte == nullptr) {
      page |= (std::uint64_t{1} << 18U) - 1;  // nothing is closed in this gigabyte
      continue;
    }
    if (mode_of(*byte) == Watched::kNothing) continue;
    if (opened.count == Opened::kMost) {
      opened.all = true;
      return;
    }
    opened.pages[opened.count++] = page;
    protect(page, 1, Watched::kNothing);
  }
}

/// The kernel reads or writes all of `range`: told first, so that the buffers hit are opened for good.
void use(Range range, bool write, void* context, Opened& opened, const Access& like) noexcept {
  if (range.begin == 0 || range.end <= range.begin) return;
  Access access = like;
  access.write = write;
  Path path;
  if (concerns_locked(range, write)) {
    path_from(context, path);
    access.path = &path;
  }
  touch_locked(range, access);
  open_range(range, opened);
}

void use_vector(long address, long count, bool write, void* context, Opened& opened,
                const Access& like) noexcept {
  if (address == 0 || count <= 0 || count > 1024) return;
  const Range list = range_of(address, count * static_cast<long>(sizeof(iovec)));
  open_range(list, opened);
  const auto* parts = reinterpret_cast<const iovec*>(address);
  for (long i = 0; i < count; ++i)
    use(range_of(as_argument(static_cast<char*>(parts[i].iov_base)), static_cast<long>(parts[i].iov_len)),
        write, context, opened, like);
}

void use_message(long address, bool write, void* context, Opened& opened, const Access& like) noexcept {
  if (address == 0) return;
  open_range(range_of(address, sizeof(msghdr)), opened);
  const auto* message = reinterpret_cast<const msghdr*>(address);
  use_vector(as_argument(message->msg_iov), static_cast<long>(message->msg_iovlen), write, context, opened,
             like);
  for (const auto& [at, bytes] :
       {std::pair{as_argument(static_cast<char*>(message->msg_name)), long{message->msg_namelen}},
        std::pair{as_argument(static_cast<char*>(message->msg_control)),
                  static_cast<long>(message->msg_controllen)}})
    if (at != 0 && bytes > 0) open_range(range_of(at, bytes), opened);
}

}  // namespace

/// Calls whose buffers are known in full. What else points into closed pages is opened for a page or two.
void open_for(const Arguments& call, void* context, Opened& opened, const Access& like) noexcept {
  const long* a = call.of;
  switch (call.number) {
    case SYS_read:
    case SYS_pread64:
    case SYS_recvfrom:
    case SYS_getdents64:
      use(range_of(a[1], a[2]), true, context, opened, like);
      break;
    case SYS_getrandom:
      use(range_of(a[0], a[1]), true, context, opened, like);
      break;
    case SYS_write:
    case SYS_pwrite64:
    case SYS_sendto:
      use(range_of(a[1], a[2]), false, context, opened, like);
      break;
    case SYS_readv:
    case SYS_preadv:
    case SYS_preadv2:
      use_vector(a[1], a[2], true, context, opened, like);
      break;
    case SYS_writev:
    case SYS_pwritev:
    case SYS_pwritev2:
    case SYS_vmsplice:
      use_vector(a[1], a[2], false, context, opened, like);
      break;
    case SYS_process_vm_readv:
      use_vector(a[1], a[2], true, context, opened, like);
      break;
    case SYS_process_vm_writev:
      use_vector(a[1], a[2], false, context, opened, like);
      break;
    case SYS_recvmsg:
      use_message(a[1], true, context, opened, like);
      break;
    case SYS_sendmsg:
      use_message(a[1], false, context, opened, like);
      break;
    default:
      break;
  }
  for (const long argument : call.of) {
    const auto address = static_cast<std::uint64_t>(argument);
    const std::uint8_t* byte = page_byte(address >> kPageBits, false);
    const std::uint8_t* next = page_byte((address >> kPageBits) + 1, false);
    const bool closed = byte != nullptr && mode_of(*byte) != Watched::kNothing;
    if (!closed && (next == nullptr || mode_of(*next) == Watched::kNothing)) continue;
    if (closed) {
      Access access = like;
      access.write = access.inexact = true;
      touch_locked({address, address + 1}, access);
    }
    open_range({address, address + kPageBytes}, opened);
  }
}

void close_again(const Opened& opened) noexcept {
  if (state.inside > 0 || state.suspended > 0 || !begun()) return;
  if (opened.all) close_all_locked();
  for (std::size_t i = 0; i < opened.count; ++i) {
    const std::uint8_t* byte = page_byte(opened.pages[i], false);
    if (byte != nullptr && mode_of(*byte) != Watched::kNothing) protect(opened.pages[i], 1, mode_of(*byte));
  }
}

}  // namespace nplus1::stubs::access
