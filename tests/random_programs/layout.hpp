// Datatypes with gaps, and buffers whose every byte is known: what a message brings and what must stay as it was.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "tests/random_programs/random.hpp"

namespace random_programs {

struct Base {
  MPI_Datatype type;
  int size;
  int extent = size;  // more, if it is padded at its end
};

Base random_base(Random& random);
/// Of two elements that are not equally long.
Base random_pair(Random& random);

/// A datatype of `bases` elements of a base type, and where its bytes lie. Freed by its owner.
struct Layout {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  bool derived = false;
  int bases = 1;
  MPI_Aint extent = 0;
  std::vector<MPI_Aint> bytes;  // of one element, in the order of the packed form

  int size() const { return static_cast<int>(bytes.size()); }
  void release();
};

/// The base type itself.
Layout plain(const Base& base);
/// Of `bases` elements, with gaps, blocks out of order, another extent.
Layout random_layout(Random& random, const Base& base, int bases);

/// Memory for elements of one layout, blank but for what is put there.
class Memory {
 public:
  Memory() = default;
  Memory(const Layout& layout, long elements);
  unsigned char* data() { return bytes_.data(); }
  /// Writes the pattern of `key` into elements [from, from + count); only its first `limit` bytes if not negative.
  void put(const Layout& layout, long from, long count, std::uint64_t key, long limit = -1);
  bool operator==(const Memory& other) const { return bytes_ == other.bytes_; }
  void blank();

 private:
  std::vector<unsigned char> bytes_;
};

/// What a call takes: the buffer as it is, or MPI_BOTTOM with a type of absolute addresses.
struct Argument {
  void* address;
  int count;
  MPI_Datatype type;
  bool made;
  void release() {
    if (made) MPI_Type_free(&type);
  }
};

Argument argument(Random& random, Memory& memory, const Layout& layout, int count);

}  // namespace random_programs
