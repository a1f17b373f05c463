// The bytes that datatypes name, as lists of intervals: taken apart once for each type (MPI 4.0, section 5.1.13), kept
// by content for as long as the process lives, in memory that handlers may read. Called with the runtime's lock held.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "stubs/access/cells.hpp"

namespace nplus1::stubs {

/// Whether all basic elements of a type are equally long, and without padding. Where they are not, MPICH (4.0, over UCX)
/// refuses a message of bytes in place of the type's: it may be cut within an element, of which no part can be unpacked.
[[nodiscard]] bool has_equal_elements(MPI_Datatype type);

class Typemaps {
 public:
  /// The cells of a buffer as MPI is given it. A type that is made of too many pieces, or overlaps itself, counts as all
  /// the memory that it spans.
  [[nodiscard]] access::Cells cells(const void* buffer, MPI_Count count, MPI_Datatype type);
  /// `type` is about to be freed.
  void forget(MPI_Datatype type) { known_.erase(type); }

 private:
  struct Known {
    const access::Segment* segments = nullptr;
    std::uint32_t size = 0;
    MPI_Count extent = 0;
  };
  const Known& find(MPI_Datatype type);
  const access::Segment* keep(std::vector<access::Segment>&& segments);

  std::unordered_map<MPI_Datatype, Known> known_;
  std::map<std::vector<std::int64_t>, const access::Segment*> kept_;
  access::Segment* room_ = nullptr;  // in the block of memory taken last
  std::size_t left_ = 0;
};

}  // namespace nplus1::stubs
