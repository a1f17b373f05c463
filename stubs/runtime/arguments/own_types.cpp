#include "stubs/runtime/arguments/own_types.hpp"

#include "stubs/pmpi.hpp"
#include "stubs/runtime/arguments/arguments.hpp"

namespace nplus1::stubs {

OwnType OwnTypes::of(MPI_Datatype type) {
  if (is_named(type)) return std::make_shared<MPI_Datatype>(type);
  OwnType& own = owned_[type];
  if (own != nullptr) return own;
  // Not MPI_Type_dup's: that asks the application's functions to copy what it has attached to its type.
  MPI_Datatype copy = MPI_DATATYPE_NULL;
  pmpi::Type_contiguous(1, type, &copy);
  pmpi::Type_commit(&copy);
  own = {new MPI_Datatype{copy}, [freed = freed_](MPI_Datatype* mine) {
           if (freed) (*freed)(*mine);
           pmpi::Type_free(mine);
           delete mine;
         }};
  return own;
}

}  // namespace nplus1::stubs
