#include "stubs/runtime/payload_hash.hpp"

#include <dlfcn.h>
#include <zlib.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstring>

namespace nplus1::stubs {
namespace {

using Crc = std::uint32_t(std::uint32_t before, const unsigned char* bytes, std::uint64_t size);

std::uint32_t zlib_crc(std::uint32_t before, const unsigned char* bytes, std::uint64_t size) {
  return static_cast<std::uint32_t>(crc32_z(before, bytes, size));
}

Crc* crc = zlib_crc;

#if defined(__x86_64__)
Crc* isa_l_crc = nullptr;

__attribute__((target("avx"))) void clear_upper_halves() {
  _mm256_zeroupper();
}

/// ISA-L returns with the upper halves of the vector registers in use, and as long as they are, SSE code is
/// slower: the application's, up to 7 times (docs/benchmarks.md, "Re-enactment").
std::uint32_t clean_isa_l_crc(std::uint32_t before, const unsigned char* bytes, std::uint64_t size) {
  const std::uint32_t value = isa_l_crc(before, bytes, size);
  clear_upper_halves();
  return value;
}

Crc* leaving_clean_registers(Crc* found) {
  if (__builtin_cpu_supports("avx") == 0) return found;
  isa_l_crc = found;
  return clean_isa_l_crc;
}
#else
Crc* leaving_clean_registers(Crc* found) {
  return found;
}
#endif

}  // namespace

void choose_crc() {
  // Looked up, not linked: the program must start where ISA-L is missing. The handle stays open.
  void* library = dlopen("libisal.so.2", RTLD_NOW | RTLD_LOCAL);
  void* found = library == nullptr ? nullptr : dlsym(library, "crc32_gzip_refl");
  if (found != nullptr) crc = leaving_clean_registers(reinterpret_cast<Crc*>(found));
}

void PayloadHash::add(const void* bytes, std::size_t size) {
  if (size_ < sizeof(prefix_) && size > 0)
    std::memcpy(reinterpret_cast<std::byte*>(&prefix_) + size_, bytes,
                std::min(size, sizeof(prefix_) - size_));
  if (size > 0) crc_ = crc(crc_, static_cast<const unsigned char*>(bytes), size);
  if (with_elements_) elements_.add(bytes, size);
  size_ += size;
}

void PayloadHash::store(events::Detail& detail) const {
  detail.crc = crc_;
  detail.prefix = prefix_;
  detail.content |= events::kHasCrc | events::kHasPrefix;
  if (with_elements_) elements_.store(detail);
}

}  // namespace nplus1::stubs
