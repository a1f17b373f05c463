// MPICH keeps its special addresses in variables.
#include "stubs/table/next.hpp"

namespace nplus1::stubs::pmpi {
namespace {

int* special_address(const char* name) noexcept {
  const auto* variable = static_cast<int* const*>(next_symbol(name));
  return variable == nullptr ? nullptr : *variable;
}

}  // namespace

int* unweighted() noexcept {
  static int* const address = special_address("MPI_UNWEIGHTED");
  return address;
}

int* weights_empty() noexcept {
  static int* const address = special_address("MPI_WEIGHTS_EMPTY");
  return address;
}

}  // namespace nplus1::stubs::pmpi
