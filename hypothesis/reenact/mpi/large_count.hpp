// Messages above 2 GiB: counts that do not fit into an int go through MPI 4's large-count calls, all others through
// the calls that the program made. One thread.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>

namespace nplus1::hypothesis::reenact {

/// Bytes for messages. What many messages use is touched beforehand, so that its first touch is not a
/// message's; what is as large as memory itself is not.
class Memory {
 public:
  explicit Memory(std::size_t bytes) : data_{new char[bytes]}, size_{bytes} {
    constexpr std::size_t kTouched = std::size_t{1} << 30U;
    if (bytes <= kTouched) std::fill_n(data_.get(), bytes, char{0});
  }
  [[nodiscard]] char* data() { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::unique_ptr<char[]> data_;
  std::size_t size_;
};

inline constexpr std::int64_t kLargestCount = std::numeric_limits<int>::max();

#if MPI_VERSION >= 4
/// `call`(buffer, count, ...), by its large-count form where the count needs it.
#define NPLUS1_COUNTED(call, buffer, count, ...)            \
  ((count) <= ::nplus1::hypothesis::reenact::kLargestCount  \
       ? call(buffer, static_cast<int>(count), __VA_ARGS__) \
       : call##_c(buffer, static_cast<MPI_Count>(count), __VA_ARGS__))
inline constexpr bool kHasLargeCounts = true;
#else
#define NPLUS1_COUNTED(call, buffer, count, ...) call(buffer, static_cast<int>(count), __VA_ARGS__)
inline constexpr bool kHasLargeCounts = false;
#endif

}  // namespace nplus1::hypothesis::reenact
