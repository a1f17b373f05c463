// Memory for when there is none. What the library needs for itself in an MPI call is little, and a program that lives
// close to its limit must not notice us: where malloc fails, new takes from a reserve that is part of the library. When
// that is used up too, std::bad_alloc ends observation (guard.hpp), never the program.
//
// These are this library's own operators: nobody else's calls come here (stubs/exports.map). Any thread.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t kReserve = 16U << 20U;
constexpr std::size_t kSmallest = 32;  // blocks come in powers of two, from this one
constexpr std::size_t kSizes = 18;

struct Block {
  Block* next;
};

constinit std::byte* used = nullptr;
alignas(64) std::byte reserve[kReserve];
constinit Block* spare[kSizes] = {};
constinit std::atomic_flag busy = ATOMIC_FLAG_INIT;

class Turn {
 public:
  Turn() {
    while (busy.test_and_set(std::memory_order_acquire)) {
    }
  }
  ~Turn() { busy.clear(std::memory_order_release); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
};

/// In front of each block: which size it has. As long as malloc's alignment.
struct alignas(std::max_align_t) Header {
  std::size_t size_class;
};

void* take(std::size_t bytes) noexcept {
  std::size_t size_class = 0;
  while (size_class < kSizes && kSmallest << size_class < bytes) ++size_class;
  if (size_class == kSizes) return nullptr;
  const Turn turn;
  if (Block* block = spare[size_class]) {
    spare[size_class] = block->next;
    return block;
  }
  if (used == nullptr) used = reserve;
  const std::size_t needed = sizeof(Header) + (kSmallest << size_class);
  if (static_cast<std::size_t>(reserve + kReserve - used) < needed) return nullptr;
  auto* header = ::new (used) Header{size_class};
  used += needed;
  return header + 1;
}

bool is_reserved(const void* memory) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(memory);
  const auto begin = reinterpret_cast<std::uintptr_t>(reserve);
  return at >= begin && at < begin + kReserve;
}

void give_back(void* memory) noexcept {
  if (!is_reserved(memory)) {
    std::free(memory);
    return;
  }
  const std::size_t size_class = (static_cast<Header*>(memory) - 1)->size_class;
  const Turn turn;
  spare[size_class] = ::new (memory) Block{spare[size_class]};
}

}  // namespace

void* operator new(std::size_t bytes) {
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) memory = take(bytes);
  if (memory == nullptr) throw std::bad_alloc{};
  return memory;
}
void* operator new[](std::size_t bytes) {
  return operator new(bytes);
}
/// What is asked for so can be done without: the reserve is for the rest.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t& tag) noexcept {
  return operator new(bytes, tag);
}
void operator delete(void* memory) noexcept {
  give_back(memory);
}
void operator delete[](void* memory) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  give_back(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  give_back(memory);
}
