// Native sends that the application believes finished, and the MPI library's own progress while the rank sleeps. With the
// runtime's lock held.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "stubs/runtime/arguments/private_copy.hpp"
#include "stubs/runtime/communicators/communicators.hpp"
#include "stubs/runtime/detached_sends.hpp"

namespace nplus1::stubs {

class Background {
 public:
  /// After MPI_Init.
  void begin();
  /// Before MPI_Finalize: what still runs comes to its end.
  void end();

  /// A collective on `comm`.
  void leave(MPI_Request native, Communicator& comm, std::vector<std::shared_ptr<void>> keep);
  /// `keep`: what must live until `native` is complete.
  void leave(MPI_Request native, PrivateCopy&& copy, std::vector<std::shared_ptr<void>> keep = {});
  [[nodiscard]] bool has_any() const { return !sends_.empty() || detached_sends() > 0; }
  /// Looks at so many of them.
  void progress(std::size_t at_most);
  /// Looks at some, and lets MPI do what it has to do for others.
  void push();

 private:
  struct Send {
    MPI_Request native;
    PrivateCopy copy;
    std::vector<std::shared_ptr<void>> keep;
  };

  void finish();
  void make_progress();

  std::vector<Send> sends_;
  std::size_t next_ = 0;
  MPI_Request never_complete_ = MPI_REQUEST_NULL;
};

}  // namespace nplus1::stubs
