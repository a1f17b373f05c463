// The files of MPI-IO, as the simulator knows them: each that is open has a communicator of its own, whose number stands in
// its events. With the runtime's lock held.
#pragma once

#include <mpi.h>

#include <memory>
#include <unordered_map>
#include <utility>

#include "stubs/runtime/communicators/communicators.hpp"
#include "support/ids.hpp"

namespace nplus1::stubs {

struct File {
  std::shared_ptr<Communicator> comm;
  int mode = 0;            // MPI_MODE_X
  bool scattered = false;  // its view leaves bytes out
  MPI_Count unit = 1;      // bytes of the view's elementary type
  RequestId split{};       // of the split collective that has begun; kNoRequest: none
  MPI_Offset ordered =
      0;  // where the next ordered access begins, in bytes of the view, if all transfer as much

  [[nodiscard]] bool has(int bit) const { return (mode & bit) != 0; }
};

class Files {
 public:
  /// Null for files that came about in a way that the simulator was not told of.
  [[nodiscard]] File* find(MPI_File handle) {
    const auto found = by_handle_.find(handle);
    return found == by_handle_.end() ? nullptr : &found->second;
  }
  void add(MPI_File handle, std::shared_ptr<Communicator> comm, int mode) {
    File file;
    file.comm = std::move(comm);
    file.mode = mode;
    by_handle_[handle] = std::move(file);
  }
  void forget(MPI_File handle) { by_handle_.erase(handle); }

 private:
  std::unordered_map<MPI_File, File> by_handle_;
};

}  // namespace nplus1::stubs
