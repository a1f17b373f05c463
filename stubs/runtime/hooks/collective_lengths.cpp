#include "stubs/runtime/hooks/collective_lengths.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "stubs/runtime/hooks/ucx.hpp"

namespace nplus1::stubs {
namespace {

constinit thread_local CollectiveLengths* beginning = nullptr;

/// How many operations are known by a tag: none costs a load.
std::atomic<std::size_t> known{0};

struct Register {
  std::mutex lock;
  std::unordered_map<std::uint64_t, CollectiveLengths*> by_operation;
};
Register& all() {
  static auto* const made = new Register;  // lives until the process ends
  return *made;
}

/// The communicator and the operation's number in it: without the sender, and without the bits of warnings.
std::uint64_t operation_of(std::uint64_t tag) {
  constexpr std::uint64_t kContext = std::uint64_t{0xffff} << 48U, kTagBits = kUcxFailedBit - 1;
  return tag & (kContext | kTagBits);
}

std::shared_ptr<CollectiveLengths> lengths_of(std::uint64_t tag) {
  if (known.load(std::memory_order_acquire) == 0) return nullptr;
  Register& operations = all();
  const std::lock_guard guard{operations.lock};
  const auto found = operations.by_operation.find(operation_of(tag));
  return found == operations.by_operation.end() ? nullptr : found->second->weak_from_this().lock();
}

}  // namespace

/// What stands between UCX and MPI's callback.
struct WatchedReceive {
  std::shared_ptr<CollectiveLengths> lengths;
  UcxReceived* received;
  void* user_data;

  static void done(void* request, std::int8_t status, const UcxMessage* message, void* self) {
    const std::unique_ptr<WatchedReceive> receive{static_cast<WatchedReceive*>(self)};
    UcxMessage seen{};
    if (message != nullptr) seen = *message;
    CollectiveLengths& lengths = *receive->lengths;
    const bool cut_off = status == kUcxTruncated;
    const bool short_of = status == 0 && lengths.exactly_ && seen.length != *lengths.exactly_;
    if (cut_off) lengths.truncated_.store(true, std::memory_order_release);
    if (cut_off || short_of) seen.tag |= kUcxErrorBit;
    if ((seen.tag & (kUcxErrorBit | kUcxFailedBit)) != 0)
      lengths.failed_.store(true, std::memory_order_release);
    receive->received(request, status, message == nullptr ? nullptr : &seen, receive->user_data);
  }
};

CollectiveLengths::~CollectiveLengths() {
  if (operations_.empty()) return;
  Register& operations = all();
  const std::lock_guard guard{operations.lock};
  for (const std::uint64_t operation : operations_) {
    const auto found = operations.by_operation.find(operation);
    if (found != operations.by_operation.end() && found->second == this) operations.by_operation.erase(found);
  }
  known.store(operations.by_operation.size(), std::memory_order_release);
}

CollectiveLengths::Begins::Begins(CollectiveLengths* lengths) noexcept {
  beginning = lengths;
}
CollectiveLengths::Begins::~Begins() {
  beginning = nullptr;
}

void begins_with(std::uint64_t tag) noexcept {
  if (beginning == nullptr) return;
  try {
    const std::uint64_t operation = operation_of(tag);
    Register& operations = all();
    const std::lock_guard guard{operations.lock};
    auto& of = beginning->operations_;
    if (std::find(of.begin(), of.end(), operation) != of.end()) return;
    of.push_back(operation);
    operations.by_operation[operation] = beginning;
    known.store(operations.by_operation.size(), std::memory_order_release);
  } catch (...) {  // no memory: its lengths are not checked
  }
}

void* receive_watched(TagReceive* receive, void* worker, void* buffer, std::size_t count, std::uint64_t tag,
                      std::uint64_t mask, const void* parameters) noexcept {
  // That of a collective leaves open exactly the two bits of warnings.
  if (mask != ~(kUcxErrorBit | kUcxFailedBit)) return receive(worker, buffer, count, tag, mask, parameters);
  begins_with(tag);
  try {
    std::shared_ptr<CollectiveLengths> lengths = lengths_of(tag);
    if (lengths == nullptr) return receive(worker, buffer, count, tag, mask, parameters);
    UcxParameters own;
    std::memcpy(static_cast<void*>(&own), parameters, sizeof(own));
    constexpr std::uint32_t kNeeded = kUcxHasCallback | kUcxHasUserData | kUcxNeverAtOnce;
    if ((own.given & kNeeded) != kNeeded) return receive(worker, buffer, count, tag, mask, parameters);
    auto watched = std::make_unique<WatchedReceive>(
        WatchedReceive{std::move(lengths), own.done.received, own.user_data});
    own.done.received = &WatchedReceive::done;
    own.user_data = watched.get();
    void* const answer = receive(worker, buffer, count, tag, mask, &own);
    if (is_ucx_request(answer)) static_cast<void>(watched.release());  // which the callback takes back
    return answer;
  } catch (...) {  // no memory
    return receive(worker, buffer, count, tag, mask, parameters);
  }
}

}  // namespace nplus1::stubs
