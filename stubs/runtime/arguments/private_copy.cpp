#include "stubs/runtime/arguments/private_copy.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "stubs/library/library_of_mpi.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/arguments/address.hpp"
#include "stubs/runtime/arguments/arguments.hpp"
#include "stubs/runtime/arguments/own_pages.hpp"
#include "stubs/runtime/arguments/typemaps.hpp"

namespace nplus1::stubs {
namespace {

/// The smallest page of any machine: no hole that is smaller can hide memory that is not there.
constexpr MPI_Count kPage = 4096;
/// From here on memory is mapped, so that holes take none.
constexpr MPI_Count kMapped = 1 << 20;

}  // namespace

MPI_Count payload_bytes(MPI_Count count, MPI_Datatype type) {
  MPI_Count size = 0;
  if (count <= 0 || !usable(type)) return 0;
  pmpi::Type_size_x(type, &size);
  return size == MPI_UNDEFINED ? 0 : size * count;
}

void touched(MPI_Count count, MPI_Datatype type, MPI_Count& first, MPI_Count& span) {
  MPI_Count lower = 0;
  MPI_Count extent = 0;
  MPI_Count true_extent = 0;
  pmpi::Type_get_extent_x(type, &lower, &extent);
  pmpi::Type_get_true_extent_x(type, &first, &true_extent);
  span = count > 0 ? (extent < 0 ? -extent : extent) * (count - 1) + true_extent : 0;
  if (extent < 0 && count > 0) first += extent * (count - 1);
}

int pack(const void* buffer, MPI_Count count, MPI_Datatype type, void* packed, MPI_Count size,
         MPI_Count& position) {
  if (buffer != MPI_BOTTOM) return pmpi::Pack(buffer, count, type, packed, size, &position, quiet_self());
  const MPI_Aint one_back = -1;
  MPI_Datatype shifted = MPI_DATATYPE_NULL;
  pmpi::Type_create_hindexed_block(1, 1, &one_back, type, &shifted);
  pmpi::Type_commit(&shifted);
  const int code = pmpi::Pack(behind(MPI_BOTTOM, 1), count, shifted, packed, size, &position, quiet_self());
  pmpi::Type_free(&shifted);
  return code;
}

void PrivateCopy::Release::operator()(std::byte* memory) const noexcept {
  if (mapped == 0)
    std::free(memory);
  else
    munmap(memory, mapped);
}

bool PrivateCopy::reserve(MPI_Count bytes) noexcept {
  const auto size = static_cast<std::size_t>(bytes);
  if (bytes < kMapped) {
    OwnPages pages = own_pages(size);
    const std::size_t mapped = pages.get_deleter().mapped;
    memory_ = {pages.release(), Release{mapped}};
    return memory_ != nullptr;
  }
  void* memory =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  memory_ = {static_cast<std::byte*>(memory), Release{size}};
  return true;
}

namespace {

/// Whether a page of what a message spans may be none of its own, and perhaps no memory. A gap within an element is no longer
/// than the element.
bool may_have_holes(MPI_Count count, MPI_Datatype type, MPI_Count span, MPI_Count payload) {
  if (span - payload < kPage) return false;
  MPI_Count one_first = 0;
  MPI_Count one_span = 0;
  touched(1, type, one_first, one_span);
  return one_span >= kPage || (count > 1 && (span - one_span) / (count - 1) >= kPage);
}

}  // namespace

PrivateCopy::PrivateCopy(MPI_Count first, MPI_Count span) noexcept {
  if (span > 0 && reserve(span)) address_ = behind(memory_.get(), -first);
}

bool PrivateCopy::add(const void* buffer, MPI_Count offset, MPI_Count count, MPI_Datatype type) noexcept {
  const MPI_Count payload = payload_bytes(count, type);
  if (payload == 0) return true;
  MPI_Count first = 0;
  MPI_Count span = 0;
  touched(count, type, first, span);
  const auto* from = behind(buffer, offset);
  auto* to = behind(address_, offset);
  if (!may_have_holes(count, type, span, payload)) {
    std::memcpy(behind(to, first), behind(from, first), static_cast<std::size_t>(span));
    return true;
  }
  return pmpi::Sendrecv(from, count, type, 0, 0, to, count, type, 0, 0, quiet_self(), MPI_STATUS_IGNORE) ==
         MPI_SUCCESS;
}

PrivateCopy::PrivateCopy(const void* buffer, MPI_Count count, MPI_Datatype type, bool packable) noexcept
    : count_{count}, type_{type} {
  const MPI_Count payload = payload_bytes(count, type);
  if (payload == 0) {
    address_ = const_cast<void*>(buffer);  // nothing is read
    return;
  }
  MPI_Count first = 0;
  MPI_Count span = 0;
  touched(count, type, first, span);
  if (packable && may_have_holes(count, type, span, payload) && has_equal_elements(type)) {
    copy_packed(buffer, count, type);
  } else if (reserve(span)) {
    address_ = behind(memory_.get(), -first);
    if (!add(buffer, 0, count, type)) address_ = nullptr;
  }
}

void PrivateCopy::copy_packed(const void* buffer, MPI_Count count, MPI_Datatype type) noexcept {
  MPI_Count size = 0;
  MPI_Count position = 0;
  if (!std::in_range<library::Count>(payload_bytes(count, type))) return;
  if (pmpi::Pack_size(count, type, quiet_self(), &size) != MPI_SUCCESS || !reserve(size)) return;
  if (pack(buffer, count, type, memory_.get(), size, position) != MPI_SUCCESS) return;
  address_ = memory_.get();
  count_ = position;
  type_ = MPI_PACKED;
}

}  // namespace nplus1::stubs
