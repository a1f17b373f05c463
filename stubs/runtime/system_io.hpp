// What this process reads and writes by read, write, pread, writev and their like, as the kernel counts it for every process
// (proc(5), /proc/self/io: rchar, wchar, syscr, syscw): files, pipes, terminals and what libraries do, from MPI_Init to
// MPI_Finalize; not sockets' send and receive, nor memory that is mapped. Nothing is interposed, and nothing costs a program
// that reads and writes by itself. What MPI-IO does, and what this library does, is taken off again.
//
// With the runtime's lock held. Where the kernel does not count, nothing is.
#pragma once

#include <array>
#include <cstdint>

namespace nplus1::stubs {

class SystemIo {
 public:
  enum Number : std::size_t { kBytesRead, kBytesWritten, kReads, kWrites, kNumbers };
  using Numbers = std::array<std::uint64_t, kNumbers>;

  /// Counts from here on. `own`: what the library has read and written by itself so far.
  void begin(const Numbers& own);
  /// What `call` does is not counted, nor what other threads do meanwhile. The lock may be free meanwhile.
  template <class Call>
  auto leave_out(Call&& call) {
    if (depth_++ == 0) before_ = look();
    const auto result = call();
    if (--depth_ == 0) leave_out_until(look());
    return result;
  }
  /// The same of a call that starts what moves `bytes`: what of it has not been moved yet is not counted either.
  template <class Call>
  auto leave_out_started(Number kind, std::uint64_t bytes, Call&& call) {
    const Numbers before = left_out_;
    const auto result = leave_out(call);
    const std::uint64_t moved = left_out_[kind] - before[kind];
    if (moved < bytes) {
      left_out_[kind] += bytes - moved;
      ++left_out_[kind + 2];
    }
    return result;
  }
  /// False: nobody has counted. `own`: as in begin(), until now.
  [[nodiscard]] bool read(Numbers& numbers, const Numbers& own);

 private:
  /// As the kernel has it, without what looking itself has taken.
  [[nodiscard]] Numbers look();
  void leave_out_until(const Numbers& after);

  bool counts_ = false;
  unsigned depth_ = 0;  // threads in such calls
  Numbers before_{};    // the first of them
  Numbers left_out_{};  // since the process began
  Numbers own_{};       // the library's own before begin()
  std::uint64_t looked_bytes_ = 0;
  std::uint64_t looks_ = 0;
};

}  // namespace nplus1::stubs
