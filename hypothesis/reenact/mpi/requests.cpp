#include "hypothesis/reenact/mpi/requests.hpp"

#include <utility>

namespace nplus1::hypothesis::reenact {

char* Buffers::take() {
  if (free_.empty()) {
    all_.push_back(std::make_unique<char[]>(block_));
    return all_.back().get();
  }
  char* buffer = free_.back();
  free_.pop_back();
  return buffer;
}

void Requests::done(RequestId id) {
  const auto found = open_.find(id.value);
  if (found == open_.end()) return;
  Pending& pending = found->second;
  if (pending.persistent)
    inactive_[pending.key].push_back(std::move(pending));
  else if (pending.buffer != nullptr)
    buffers_.give_back(pending.buffer);
  open_.erase(found);
}

bool Requests::reuse(const PersistentKey& key, Pending& pending) {
  const auto found = inactive_.find(key);
  if (found == inactive_.end() || found->second.empty()) return false;
  pending = std::move(found->second.back());
  found->second.pop_back();
  return true;
}

}  // namespace nplus1::hypothesis::reenact
