#include "events/payload/payload_hash.hpp"

#include <dlfcn.h>
#include <zlib.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstring>

namespace nplus1::events::payload {
namespace {

/// Hashed at a time, so that each hash but the first finds its bytes in the first-level cache.
constexpr std::size_t kAtATime = 16384;

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

/// A sketch alone would take exchanged elements for the same: without a CRC reals are words.
ElementType hashed_as(ElementType type, const Choice& choice) {
  return is_real(type) && !choice.has(kCrc32) ? ElementType::kWords : type;
}

}  // namespace

void choose_crc() {
  // Looked up, not linked: the program must start where ISA-L is missing. The handle stays open.
  void* library = dlopen("libisal.so.2", RTLD_NOW | RTLD_LOCAL);
  void* found = library == nullptr ? nullptr : dlsym(library, "crc32_gzip_refl");
  if (found != nullptr) crc = leaving_clean_registers(reinterpret_cast<Crc*>(found));
}

PayloadHash::PayloadHash(ElementType type, const Choice& choice, std::size_t total)
    : choice_{choice},
      whole_{total > 0 && total <= choice.whole_bytes && choice.has(kPrefix)},
      elements_{hashed_as(type, choice), choice.has(kSampling) ? total : 0} {}

void PayloadHash::add(const void* bytes, std::size_t size) {
  const std::size_t room = sizeof(first_) - std::min(size_, sizeof(first_));
  if (room > 0 && size > 0)
    std::memcpy(reinterpret_cast<std::byte*>(first_.data()) + size_, bytes, std::min(size, room));
  size_ += size;
  if (whole_) return;
  const auto* data = static_cast<const std::byte*>(bytes);
  for (std::size_t at = 0; at < size; at += kAtATime) add_hashes(data + at, std::min(kAtATime, size - at));
}

void PayloadHash::add_hashes(const std::byte* bytes, std::size_t size) {
  if (choice_.has(kCrc32)) crc_ = crc(crc_, reinterpret_cast<const unsigned char*>(bytes), size);
  if (choice_.has(kElements)) elements_.add(bytes, size);
}

void PayloadHash::store(Detail& detail) const {
  if (choice_.parts == 0) return;
  detail.prefix = first_[0];
  detail.content |= kHasPrefix;
  if (whole_) {
    detail.excerpt = first_;
    detail.content |= kHasPayload;
    return;
  }
  if (choice_.has(kCrc32)) {
    detail.crc = crc_;
    detail.content |= kHasCrc;
  }
  if (!choice_.has(kElements)) return;
  elements_.store(detail);
  if (!elements_.has_samples()) return;
  std::memcpy(detail.excerpt.data(), elements_.samples().data(), sizeof(elements_.samples()));
  detail.content |= kHasSamples;
}

Detail with_hashes(const Detail& detail, std::size_t bytes, ElementType type) {
  if ((detail.content & kHasPayload) == 0) return detail;
  PayloadHash hash{type, {kPrefix | kCrc32 | kElements, 0}, bytes};
  hash.add(detail.excerpt.data(), std::min(bytes, kExcerptBytes));
  Detail whole = detail;
  hash.store(whole);
  return whole;
}

Samples samples_of(const Detail& detail, std::size_t bytes, ElementType type) {
  Samples samples;
  if ((detail.content & kHasSamples) != 0) {
    std::memcpy(samples.values.data(), detail.excerpt.data(), sizeof(samples.values));
    samples.known = true;
  } else if ((detail.content & kHasPayload) != 0 && bytes <= kExcerptBytes) {
    ElementHash elements{type, bytes};
    elements.add(detail.excerpt.data(), bytes);
    samples = {elements.samples(), elements.has_samples()};
  }
  return samples;
}

}  // namespace nplus1::events::payload
