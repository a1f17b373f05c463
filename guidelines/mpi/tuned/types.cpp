#include "guidelines/mpi/tuned/types.hpp"

namespace nplus1::guidelines::tuned {
namespace {

struct Envelope {
  explicit Envelope(MPI_Datatype type) {
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  }
  int integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
};

/// Elements at an address that is not null. Those at MPI_BOTTOM are one element of a type that is as far from there.
class Elements {
 public:
  Elements(const void* buffer, int count, MPI_Datatype type)
      : buffer_{const_cast<void*>(buffer)}, count_{count}, type_{type} {
    if (buffer != nullptr) return;
    buffer_ = &count_;
    count_ = 1;
    MPI_Aint here = 0;
    PMPI_Get_address(buffer_, &here);
    const MPI_Aint back = -here;
    PMPI_Type_create_hindexed(1, &count, &back, type, &type_);
    PMPI_Type_commit(&type_);
    is_own_ = true;
  }
  ~Elements() {
    if (is_own_) PMPI_Type_free(&type_);
  }
  Elements(const Elements&) = delete;
  Elements& operator=(const Elements&) = delete;
  [[nodiscard]] void* buffer() const { return buffer_; }
  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] MPI_Datatype type() const { return type_; }

 private:
  void* buffer_;
  int count_;
  MPI_Datatype type_;
  bool is_own_ = false;
};

}  // namespace

bool has_gaps(MPI_Datatype type) {
  MPI_Aint low = 0, extent = 0;
  int size = 0;
  PMPI_Type_get_extent(type, &low, &extent);
  PMPI_Type_size(type, &size);
  return low != 0 || extent != size;
}

bool is_predefined(MPI_Datatype type) {
  return Envelope{type}.combiner == MPI_COMBINER_NAMED;
}

bool in_a_row(MPI_Datatype type) {
  if (has_gaps(type)) return false;
  const Envelope outer{type};
  if (outer.combiner == MPI_COMBINER_NAMED) return true;
  if (outer.combiner != MPI_COMBINER_CONTIGUOUS && outer.combiner != MPI_COMBINER_DUP) return false;
  int count = 0;
  MPI_Aint none = 0;
  MPI_Datatype inner = MPI_DATATYPE_NULL;
  PMPI_Type_get_contents(type, outer.integers, outer.addresses, outer.types, &count, &none, &inner);
  const bool row = in_a_row(inner);
  if (!is_predefined(inner)) PMPI_Type_free(&inner);  // a new handle, which is ours
  return row;
}

void pack(const void* buffer, int count, MPI_Datatype type, char* bytes, int size, MPI_Comm comm) {
  const Elements elements{buffer, count, type};
  int position = 0;
  PMPI_Pack(elements.buffer(), elements.count(), elements.type(), bytes, size, &position, comm);
}

void unpack(const char* bytes, int size, void* buffer, int count, MPI_Datatype type, MPI_Comm comm) {
  const Elements elements{buffer, count, type};
  int position = 0;
  PMPI_Unpack(bytes, size, &position, elements.buffer(), elements.count(), elements.type(), comm);
}

}  // namespace nplus1::guidelines::tuned
