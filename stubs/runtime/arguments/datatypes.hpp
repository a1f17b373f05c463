// The datatypes that a rank has used, as numbers that are defined to the simulator once, and whether their
// elements lie in memory as they are packed. Handles are looked up; forget() keeps a freed handle from being
// taken for its successor. Called with the runtime's lock held.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>

#include "events/payload/element_type.hpp"
#include "support/ids.hpp"

namespace nplus1::stubs {

struct KnownDatatype {
  DatatypeId id{};
  MPI_Count size = 0;    // payload bytes of one element
  MPI_Count extent = 0;  // from one element to the next
  MPI_Count first = 0;   // where its lowest byte lies, from the buffer's address on
  MPI_Count span = 0;    // from there to behind its highest byte
  bool probed = false;   // whether the next is known
  bool plain = false;    // packing is copying: the payload can be read in place
  events::payload::ElementType element = events::payload::ElementType::kWords;
};

class Datatypes {
 public:
  /// Tells the simulator what a number means.
  using Define = std::function<void(DatatypeId, const std::string& name, MPI_Count size)>;

  explicit Datatypes(Define define) : define_{std::move(define)} {}

  /// `type` must be valid.
  const KnownDatatype& find(MPI_Datatype type) {
    if (type != last_type_ || last_ == nullptr) remember(type);
    return *last_;
  }
  /// The same, with `plain`; `type` must be committed.
  const KnownDatatype& find_probed(MPI_Datatype type) {
    find(type);
    if (!last_->probed) probe(type, *last_);
    return *last_;
  }
  /// `type` is about to be freed.
  void forget(MPI_Datatype type);

 private:
  void remember(MPI_Datatype type);
  static void probe(MPI_Datatype type, KnownDatatype& known);

  Define define_;
  std::unordered_map<MPI_Datatype, KnownDatatype> known_;
  MPI_Datatype last_type_ = MPI_DATATYPE_NULL;
  KnownDatatype* last_ = nullptr;
  std::unordered_map<std::string, DatatypeId> ids_;  // by name and size
};

/// MPI_Type_get_name's, or what made it: "MPI_Type_vector(MPI_DOUBLE)".
[[nodiscard]] std::string name_of(MPI_Datatype type);

}  // namespace nplus1::stubs
