// The requests of a call that MPI refuses for another reason: a copy in which nothing is left that MPI does not know, so
// that it finds what is wrong, and reports that. Of no use for a call that MPI makes: nothing is written back. From any
// thread; without memory MPI sees the program's own.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "stubs/library/library_of_mpi.hpp"

namespace nplus1::stubs {

class ShownRequests {
 public:
  ShownRequests(int count, MPI_Request* handles) noexcept : all_{handles} {
    if (handles == nullptr || count <= 0 ||
        std::none_of(handles, handles + count, [](MPI_Request h) { return library::is_handle_of_ours(h); }))
      return;
    try {
      shown_.assign(handles, handles + count);
    } catch (...) {
      return;
    }
    std::replace_if(
        shown_.begin(), shown_.end(), [](MPI_Request h) { return library::is_handle_of_ours(h); },
        MPI_REQUEST_NULL);
    all_ = shown_.data();
  }
  ShownRequests(const ShownRequests&) = delete;
  ShownRequests& operator=(const ShownRequests&) = delete;

  [[nodiscard]] MPI_Request* all() { return all_; }
  [[nodiscard]] MPI_Request one() { return *all_; }

 private:
  std::vector<MPI_Request> shown_;
  MPI_Request* all_;
};

}  // namespace nplus1::stubs
