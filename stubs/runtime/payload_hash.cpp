#include "stubs/runtime/payload_hash.hpp"

#include <dlfcn.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>

namespace nplus1::stubs {
namespace {

using Crc = std::uint32_t(std::uint32_t before, const unsigned char* bytes, std::uint64_t size);

std::uint32_t zlib_crc(std::uint32_t before, const unsigned char* bytes, std::uint64_t size) {
  return static_cast<std::uint32_t>(crc32_z(before, bytes, size));
}

Crc* crc = zlib_crc;

}  // namespace

void choose_crc() {
  // Looked up, not linked: the program must start where ISA-L is missing. The handle stays open.
  void* library = dlopen("libisal.so.2", RTLD_NOW | RTLD_LOCAL);
  void* found = library == nullptr ? nullptr : dlsym(library, "crc32_gzip_refl");
  if (found != nullptr) crc = reinterpret_cast<Crc*>(found);
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
