#include "stubs/runtime/arguments/arguments.hpp"

#include <atomic>
#include <cstdint>

#include "stubs/library/library_of_mpi.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/communicators/session_world.hpp"

namespace nplus1::stubs {
namespace {

MPI_Comm checker{};  // begin_checks() makes it

/// Data that a null pointer stands for: a type with absolute addresses, or one without any data.
bool has_its_own_address(MPI_Datatype type) {
  if (library::is_builtin(type)) return false;
  MPI_Count size = 0;
  MPI_Count first = 0;
  MPI_Count span = 0;
  pmpi::Type_size_x(type, &size);
  pmpi::Type_get_true_extent_x(type, &first, &span);
  return size == 0 || first != 0;
}

}  // namespace

void begin_checks() {
  pmpi::Comm_dup(world_of_one(), &checker);
  pmpi::Comm_set_errhandler(checker, MPI_ERRORS_RETURN);
}

void end_checks() {
  if (checker != MPI_Comm{} && checker != MPI_COMM_NULL) pmpi::Comm_free(&checker);
}

MPI_Comm quiet_self() {
  return checker;
}

bool makes_named(int combiner) {
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_INTEGER ||
         combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX;
}

bool is_named(MPI_Datatype type) {
  if (library::is_builtin(type)) return true;
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = MPI_COMBINER_NAMED;
  pmpi::Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  return makes_named(combiner);
}

bool usable(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) return false;
  return library::is_builtin(type) || library::is_committed(type, checker);
}

void check_data(const void* buffer, MPI_Count count, MPI_Datatype type, bool notes) {
  refuse_if(count < 0 || !usable(type) || buffer == MPI_IN_PLACE);
  refuse_if(count > 0 && buffer == nullptr && !has_its_own_address(type));
  if (notes) note_memory(buffer, count, type);
}

void check_operation(MPI_Datatype type, MPI_Op op) {
  // Most programs use one pair. Handles of MPI's own are never given to others.
  static std::atomic<std::uint64_t> last{0};
  const bool own = library::is_builtin(type) && library::is_builtin(op);
  const std::uint64_t pair = library::number_of_pair(type, op);
  if (own && last.load(std::memory_order_relaxed) == pair) return;
  int from = 0;
  int to = 0;
  refuse_if(!usable(type) || pmpi::Allreduce(&from, &to, 0, type, op, checker) != MPI_SUCCESS);
  if (own) last.store(pair, std::memory_order_relaxed);
}

bool is_group(MPI_Group group) {
  return library::is_group(group);
}

}  // namespace nplus1::stubs
