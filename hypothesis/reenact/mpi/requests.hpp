// The requests that the re-enactment has open, by the ids of the recording, and the memory they work on.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "events/event.hpp"

namespace nplus1::hypothesis::reenact {

/// Receive buffers: blocks that hold the largest message, used again as soon as they are free.
class Buffers {
 public:
  explicit Buffers(std::size_t block) : block_{block} {}
  [[nodiscard]] char* take();
  void give_back(char* buffer) { free_.push_back(buffer); }
  [[nodiscard]] std::size_t block() const { return block_; }

 private:
  std::size_t block_;
  std::vector<std::unique_ptr<char[]>> all_;
  std::vector<char*> free_;
};

/// What makes one persistent request like another: a start takes any inactive one.
using PersistentKey =
    std::tuple<bool, std::uint8_t, MPI_Comm, int, int, std::int64_t>;  // sends, mode, peer, tag, bytes

struct Pending {
  MPI_Request handle = MPI_REQUEST_NULL;
  char* buffer = nullptr;                     // of a receive
  std::shared_ptr<std::vector<char>> memory;  // of a collective
  std::shared_ptr<std::vector<int>> counts;   // likewise
  bool persistent = false;
  PersistentKey key;
};

class Requests {
 public:
  explicit Requests(std::size_t block) : buffers_{block} {}
  Pending& open(RequestId id) { return open_[id.value]; }
  [[nodiscard]] Pending* find(RequestId id) {
    const auto found = open_.find(id.value);
    return found == open_.end() ? nullptr : &found->second;
  }
  /// Its operation is complete: its memory, or the persistent request, may be used again.
  void done(RequestId id);
  /// Nobody will wait for it; its memory stays, as MPI may still use it.
  void abandon(RequestId id) { open_.erase(id.value); }
  /// An inactive persistent request like that with its buffer, if there is one.
  [[nodiscard]] bool reuse(const PersistentKey& key, Pending& pending);
  [[nodiscard]] Buffers& buffers() { return buffers_; }
  [[nodiscard]] std::size_t size() const { return open_.size(); }

 private:
  Buffers buffers_;
  std::unordered_map<std::uint32_t, Pending> open_;
  std::map<PersistentKey, std::vector<Pending>> inactive_;
};

}  // namespace nplus1::hypothesis::reenact
