#include "stubs/runtime/arguments/own_block.hpp"

#include "stubs/pmpi.hpp"
#include "stubs/runtime/arguments/address.hpp"
#include "stubs/runtime/arguments/arguments.hpp"
#include "stubs/runtime/arguments/private_copy.hpp"

namespace nplus1::stubs {
namespace {

bool overlap(const std::byte* a, MPI_Count count_a, MPI_Datatype type_a, const std::byte* b,
             MPI_Count count_b, MPI_Datatype type_b) {
  MPI_Count first_a = 0;
  MPI_Count span_a = 0;
  MPI_Count first_b = 0;
  MPI_Count span_b = 0;
  touched(count_a, type_a, first_a, span_a);
  touched(count_b, type_b, first_b, span_b);
  return a + first_a < b + first_b + span_b && b + first_b < a + first_a + span_a;
}

}  // namespace

std::byte* block_at(const void* buffer, MPI_Count displacement, MPI_Datatype type) {
  MPI_Count lower = 0;
  MPI_Count extent = 0;
  if (type != MPI_DATATYPE_NULL) pmpi::Type_get_extent_x(type, &lower, &extent);
  return behind(buffer, extent * displacement);
}

bool can_copy_own_block(const void* sendbuf, MPI_Count displacement, MPI_Count sendcount,
                        MPI_Datatype sendtype, const void* recvbuf, MPI_Count recvcount,
                        MPI_Datatype recvtype) {
  if (recvbuf == MPI_IN_PLACE) return true;
  if (sendcount < 0 || recvcount < 0 || sendtype == MPI_DATATYPE_NULL || recvtype == MPI_DATATYPE_NULL)
    return false;
  const MPI_Count payload = payload_bytes(sendcount, sendtype);
  if (payload > payload_bytes(recvcount, recvtype)) return false;
  return payload == 0 || !overlap(block_at(sendbuf, displacement, sendtype), sendcount, sendtype,
                                  static_cast<const std::byte*>(recvbuf), recvcount, recvtype);
}

int copy_own_block(const void* sendbuf, MPI_Count displacement, MPI_Count sendcount, MPI_Datatype sendtype,
                   void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype) {
  return pmpi::Sendrecv(block_at(sendbuf, displacement, sendtype), sendcount, sendtype, 0, 0, recvbuf,
                        recvcount, recvtype, 0, 0, quiet_self(), MPI_STATUS_IGNORE);
}

}  // namespace nplus1::stubs
