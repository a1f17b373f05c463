#include "stubs/runtime/detached_sends.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "stubs/runtime/arguments/own_pages.hpp"
#include "stubs/runtime/hooks/ucx.hpp"
#include "stubs/runtime/send_hook.hpp"

namespace nplus1::stubs {
namespace {

constexpr std::uint64_t kClassMask = 7, kContiguous = 0, kGeneric = 7;
constexpr unsigned kClassBits = 3;
/// A message of so many bytes is never cut, and no piece of a longer one is shorter: what UCX's transports take at a time
/// is 4 KiB and more.
constexpr std::size_t kPiece = 1024;

/// ucp_generic_dt_ops_t.
struct Packing {
  void* (*start_pack)(void* context, const void* buffer, std::size_t count);
  void* (*start_unpack)(void* context, void* buffer, std::size_t count);
  std::size_t (*packed_size)(void* state);
  std::size_t (*pack)(void* state, std::size_t offset, void* to, std::size_t at_most);
  int (*unpack)(void* state, std::size_t offset, const void* from, std::size_t length);
  void (*finish)(void* state);
};

struct Generic {
  Packing packing;
  void* context;
};

/// As many as are in use at a time: UCX gives the names of destroyed ones again.
struct Generics {
  std::mutex lock;
  std::unordered_map<std::uint64_t, Generic> by_name;
};
Generics& generics() {
  static auto* const all = new Generics;  // lives until the process ends
  return *all;
}

std::atomic<std::size_t> detaching{0};
std::atomic<std::size_t> under_way{0};

struct Copy {
  OwnPages memory;
  std::size_t size = 0;
  std::vector<std::size_t> cuts;  // where elements end; of a short copy none
};

bool reserve(Copy& copy, std::size_t size) noexcept {
  copy.memory = own_pages(size);
  copy.size = size;
  return copy.memory != nullptr;
}

bool copy_generic(Copy& copy, const void* buffer, std::size_t count, std::uint64_t type) {
  Generic found{};
  {
    const std::lock_guard guard{generics().lock};
    const auto place = generics().by_name.find(type);
    if (place == generics().by_name.end()) return false;
    found = place->second;
  }
  void* const state = found.packing.start_pack(found.context, buffer, count);
  const std::size_t size = found.packing.packed_size(state);
  const bool room = reserve(copy, size);
  const bool may_be_cut = size > kPiece;
  for (std::size_t done = 0; room && done < size;) {
    const std::size_t most = std::min(size - done, may_be_cut ? kPiece : size);
    const std::size_t more = found.packing.pack(state, done, copy.memory.get() + done, most);
    if (more == 0) break;
    done += more;
    if (may_be_cut) copy.cuts.push_back(done);
  }
  found.packing.finish(state);
  return room;
}

/// A copy that UCX takes piece by piece, cut where elements end: MPICH refuses the message (MPI_ERR_TRUNCATE) if a piece ends
/// within an element of the receiver's type, and UCX cuts bytes anywhere.
constexpr Packing kCutCopies{
    .start_pack = [](void*, const void* copy, std::size_t) { return const_cast<void*>(copy); },
    .start_unpack = [](void*, void*, std::size_t) -> void* { return nullptr; },
    .packed_size = [](void* copy) { return static_cast<const Copy*>(copy)->size; },
    .pack = [](void* state, std::size_t offset, void* to, std::size_t at_most) -> std::size_t {
      const Copy& copy = *static_cast<const Copy*>(state);
      const auto behind = std::upper_bound(copy.cuts.begin(), copy.cuts.end(), offset + at_most);
      if (behind == copy.cuts.begin() || *(behind - 1) <= offset) return 0;
      const std::size_t length = *(behind - 1) - offset;
      std::memcpy(to, copy.memory.get() + offset, length);
      return length;
    },
    .unpack = [](void*, std::size_t, const void*, std::size_t) -> int { return kUcxTruncated; },
    .finish = [](void*) {}};

/// The type of such copies, made once; 0 where UCX has none.
std::uint64_t cut_copies() noexcept {
  static const std::uint64_t made = [] {
    std::uint64_t type = 0;
    auto* const make = find_in_ucx<std::int8_t(const void*, void*, std::uint64_t*)>("ucp_dt_create_generic");
    return make != nullptr && make(&kCutCopies, nullptr, &type) == 0 ? type : 0;
  }();
  return made;
}

/// Only of main memory: elsewhere the processor cannot read.
bool copy_payload(Copy& copy, const void* buffer, std::size_t count, const UcxParameters& p) {
  if ((p.given & kUcxHasMemoryType) != 0 && p.memory_type != 0) return false;
  const std::uint64_t type = (p.given & kUcxHasDatatype) != 0 ? p.datatype : std::uint64_t{1} << kClassBits;
  if ((type & kClassMask) == kGeneric) return copy_generic(copy, buffer, count, type);
  if ((type & kClassMask) != kContiguous) return false;
  const std::size_t size = count * (type >> kClassBits);
  if (!reserve(copy, size)) return false;
  if (size > 0) std::memcpy(copy.memory.get(), buffer, size);
  return true;
}

void release(Copy* copy) noexcept {
  delete copy;
  under_way.fetch_sub(1, std::memory_order_relaxed);
}

void sent(void* request, std::int8_t, void* copy) {
  free_ucx_request(request);
  release(static_cast<Copy*>(copy));
}

}  // namespace

DetachedSends::DetachedSends() noexcept {
  detaching.fetch_add(1, std::memory_order_relaxed);
}
DetachedSends::~DetachedSends() {
  detaching.fetch_sub(1, std::memory_order_relaxed);
}

bool detaches_sends() noexcept {
  return detaching.load(std::memory_order_relaxed) != 0;
}

std::size_t detached_sends() noexcept {
  return under_way.load(std::memory_order_relaxed);
}

void* send_detached(TagSend* send, void* endpoint, const void* buffer, std::size_t count, std::uint64_t tag,
                    const void* parameters) noexcept {
  try {
    UcxParameters given;
    std::memcpy(static_cast<void*>(&given), parameters, offsetof(UcxParameters, received));
    auto copy = std::make_unique<Copy>();
    if (!can_free_ucx_requests() || !copy_payload(*copy, buffer, count, given))
      return send(endpoint, buffer, count, tag, parameters);
    UcxParameters own;
    own.given = kUcxHasCallback | kUcxHasUserData;
    own.done.sent = sent;
    own.user_data = copy.get();
    under_way.fetch_add(1, std::memory_order_relaxed);
    Copy* const kept = copy.release();
    void* answer = nullptr;
    if (kept->cuts.empty() || cut_copies() == 0) {
      answer = send(endpoint, kept->memory.get(), kept->size, tag, &own);
    } else {
      own.given |= kUcxHasDatatype;
      own.datatype = cut_copies();
      answer = send(endpoint, kept, 1, tag, &own);
    }
    if (is_ucx_request(answer)) return nullptr;
    release(kept);
    return answer;
  } catch (...) {  // no memory for it
    return send(endpoint, buffer, count, tag, parameters);
  }
}

void learn_datatype(const void* operations, void* context, std::uint64_t type) noexcept {
  try {
    Generic generic{{}, context};
    std::memcpy(&generic.packing, operations, sizeof(generic.packing));
    const std::lock_guard guard{generics().lock};
    generics().by_name[type] = generic;
  } catch (...) {  // its messages are not detached
  }
}

void forget_datatype(std::uint64_t type) noexcept {
  const std::lock_guard guard{generics().lock};
  generics().by_name.erase(type);
}

}  // namespace nplus1::stubs
