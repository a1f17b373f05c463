#include "stubs/runtime/private_copy.hpp"

#include <cstring>

#include "stubs/pmpi.hpp"

namespace nplus1::stubs {

MPI_Count payload_bytes(MPI_Count count, MPI_Datatype type) {
  MPI_Count size = 0;
  if (count <= 0 || type == MPI_DATATYPE_NULL) return 0;
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

void pack(const void* buffer, MPI_Count count, MPI_Datatype type, void* packed, MPI_Count size,
          MPI_Count& position) {
  if (buffer != MPI_BOTTOM) {
    pmpi::Pack(buffer, count, type, packed, size, &position, MPI_COMM_SELF);
    return;
  }
  const MPI_Aint one_back = -1;
  MPI_Datatype shifted = MPI_DATATYPE_NULL;
  pmpi::Type_create_hindexed_block(1, 1, &one_back, type, &shifted);
  pmpi::Type_commit(&shifted);
  pmpi::Pack(static_cast<const std::byte*>(nullptr) + 1, count, shifted, packed, size, &position,
             MPI_COMM_SELF);
  pmpi::Type_free(&shifted);
}

PrivateCopy::PrivateCopy(const void* buffer, MPI_Count count, MPI_Datatype type, bool packable)
    : count_{count}, type_{type} {
  const MPI_Count payload = payload_bytes(count, type);
  if (payload == 0) {
    address_ = const_cast<void*>(buffer);  // nothing is read
    return;
  }
  MPI_Count first = 0;
  MPI_Count span = 0;
  touched(count, type, first, span);
  if (!packable || span <= 2 * payload) {
    memory_.reset(new std::byte[static_cast<std::size_t>(span)]);
    std::memcpy(memory_.get(), static_cast<const std::byte*>(buffer) + first, static_cast<std::size_t>(span));
    address_ = memory_.get() - first;
    return;
  }
  MPI_Count packed_size = 0;
  pmpi::Pack_size(count, type, MPI_COMM_SELF, &packed_size);
  memory_.reset(new std::byte[static_cast<std::size_t>(packed_size)]);
  MPI_Count position = 0;
  pack(buffer, count, type, memory_.get(), packed_size, position);
  address_ = memory_.get();
  count_ = position;
  type_ = MPI_PACKED;
}

}  // namespace nplus1::stubs
