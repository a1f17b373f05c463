// What the descriptions of collectives share: who takes part, what counts and displacements come to in bytes,
// and private copies of what is sent. Any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "stubs/pmpi.hpp"
#include "stubs/runtime/arguments/arguments.hpp"
#include "stubs/runtime/arguments/private_copy.hpp"
#include "stubs/runtime/collectives/collective.hpp"
#include "stubs/runtime/runtime.hpp"

namespace nplus1::stubs {

/// Null where there is no memory for it. The rank may leave with it.
inline PrivateCopy* keep_copy(Keep& keep, const void* buffer, MPI_Count count, MPI_Datatype type,
                              bool packable = true) {
  auto copy = std::make_shared<PrivateCopy>(buffer, count, type, packable);
  if (copy->buffer() == nullptr) return nullptr;
  keep.push_back(copy);
  keep.may_leave = true;
  return copy.get();
}

inline bool is_me(const Collective& c, int rank) {
  return c.comm != nullptr && !c.comm->inter && rank == c.comm->my_index;
}
/// Whether `root` is one, also as the groups of an intercommunicator name it.
inline void check_root(const Collective& c) {
  if (c.comm == nullptr || (c.comm->inter && (c.root == MPI_ROOT || c.root == MPI_PROC_NULL))) return;
  refuse_if(c.root < 0 || static_cast<std::size_t>(c.root) >= c.comm->peers().size());
}
inline bool intra(const Collective& c) {
  return c.comm != nullptr && !c.comm->inter;
}
inline bool inter(const Collective& c) {
  return c.comm != nullptr && c.comm->inter;
}
/// Whom the lists of a v-form are about: the other group of an intercommunicator.
inline std::size_t members(const Collective& c) {
  return c.comm->peers().size();
}

/// Between groups: the rest of the root's group, none of whose arguments count.
inline bool takes_no_part(const Collective& c) {
  return inter(c) && c.root == MPI_PROC_NULL;
}
/// Between groups: the root, which sends or receives the other group's data.
inline bool is_intercomm_root(const Collective& c) {
  return inter(c) && c.root == MPI_ROOT;
}

template <class C>
std::vector<std::int64_t> bytes_each(const Collective& c, const C counts[], MPI_Datatype type) {
  std::vector<std::int64_t> sizes;
  const MPI_Count one = payload_bytes(1, type);
  for (std::size_t i = 0; i < members(c); ++i) sizes.push_back(one * counts[i]);
  return sizes;
}

template <class C>
std::vector<std::int64_t> bytes_each(const Collective& c, const C counts[], const MPI_Datatype types[]) {
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < members(c); ++i) sizes.push_back(payload_bytes(counts[i], types[i]));
  return sizes;
}

/// A private copy of the blocks of a v-form; the result stands for `buffer`. Null where there is no memory for it. What
/// lies between the blocks is not read.
template <class C, class D>
const void* copy_blocks(Keep& keep, const void* buffer, std::size_t blocks, const C counts[],
                        const D displacements[], MPI_Datatype type) {
  MPI_Count lower = 0;
  MPI_Count extent = 0;
  pmpi::Type_get_extent_x(type, &lower, &extent);
  MPI_Count begin = std::numeric_limits<MPI_Count>::max();
  MPI_Count end = std::numeric_limits<MPI_Count>::min();
  for (std::size_t i = 0; i < blocks; ++i) {
    MPI_Count first = 0;
    MPI_Count span = 0;
    touched(counts[i], type, first, span);
    if (span == 0) continue;
    begin = std::min(begin, extent * displacements[i] + first);
    end = std::max(end, extent * displacements[i] + first + span);
  }
  if (end <= begin) return nullptr;
  auto copy = std::make_shared<PrivateCopy>(begin, end - begin);
  if (copy->buffer() == nullptr) return nullptr;
  for (std::size_t i = 0; i < blocks; ++i)
    if (!copy->add(buffer, extent * displacements[i], counts[i], type)) return nullptr;
  keep.push_back(copy);
  keep.may_leave = true;
  return copy->buffer();
}

/// The same of the form with a type for each block and displacements in bytes.
template <class C, class D>
const void* copy_blocks(Keep& keep, const void* buffer, std::size_t blocks, const C counts[],
                        const D displacements[], const MPI_Datatype types[]) {
  MPI_Count begin = std::numeric_limits<MPI_Count>::max();
  MPI_Count end = std::numeric_limits<MPI_Count>::min();
  for (std::size_t i = 0; i < blocks; ++i) {
    MPI_Count first = 0;
    MPI_Count span = 0;
    if (payload_bytes(counts[i], types[i]) == 0) continue;
    touched(counts[i], types[i], first, span);
    begin = std::min(begin, displacements[i] + first);
    end = std::max(end, displacements[i] + first + span);
  }
  if (end <= begin) return nullptr;
  auto copy = std::make_shared<PrivateCopy>(begin, end - begin);
  if (copy->buffer() == nullptr) return nullptr;
  for (std::size_t i = 0; i < blocks; ++i)
    if (!copy->add(buffer, displacements[i], counts[i], types[i])) return nullptr;
  keep.push_back(copy);
  return copy->buffer();
}

/// What a rank contributes to a collective in which MPI_IN_PLACE makes the receive side its data.
inline Payload contribution(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                            const void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype) {
  if (sendbuf == MPI_IN_PLACE) return {recvbuf, recvcount, recvtype};
  return {sendbuf, sendcount, sendtype};
}

template <class C>
MPI_Count sum(const Collective& c, const C counts[]) {
  return std::accumulate(counts, counts + members(c), MPI_Count{0});
}

}  // namespace nplus1::stubs
