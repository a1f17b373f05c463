// Datatypes for later: the application may free its own while a request still needs it (MPI 4.0, section 5.1.9).
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>

namespace nplus1::stubs {

/// A datatype that stays as long as this does.
using OwnType = std::shared_ptr<MPI_Datatype>;

/// One copy of each of the application's types, however many requests need it: each that MPICH frees leaves some 150 bytes
/// behind. With the runtime's lock held, as is the end of an OwnType.
class OwnTypes {
 public:
  /// Whoever knows types by their handles is told of each copy that is about to be freed.
  using Freed = std::function<void(MPI_Datatype)>;

  OwnTypes() = default;
  explicit OwnTypes(Freed freed) : freed_{std::make_shared<Freed>(std::move(freed))} {}

  /// `type` must be committed, and none of ours. MPI's own, which nobody frees, stand for themselves.
  [[nodiscard]] OwnType of(MPI_Datatype type);
  /// `type` is about to be freed: its handle may be given to another.
  void forget(MPI_Datatype type) { owned_.erase(type); }
  /// Before MPI_Finalize.
  void clear() { owned_.clear(); }

 private:
  std::shared_ptr<Freed> freed_;
  std::unordered_map<MPI_Datatype, OwnType> owned_;
};

}  // namespace nplus1::stubs
