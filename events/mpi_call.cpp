#include "events/mpi_call.hpp"

#include <array>

namespace nplus1::events {
namespace {

constexpr std::array<std::string_view, kMpiCalls> kNames{
    "none",
#define NPLUS1_MPI_CALL(name) #name,
#include "events/mpi_calls.def"
#undef NPLUS1_MPI_CALL
};

}  // namespace

std::string_view name(MpiCall call) {
  return index(call) < kNames.size() ? kNames[index(call)] : "unknown";
}

std::optional<MpiCall> call_named(std::string_view name) {
  for (std::size_t i = 1; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<MpiCall>(i);
  }
  return std::nullopt;
}

}  // namespace nplus1::events
