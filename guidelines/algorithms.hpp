// The settings by which MPI libraries let users choose the algorithm of a collective, and what the Hockney
// model says about them. Settings are proposals: whether one has an effect is measured. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nplus1::guidelines {

/// By what MPI_Get_library_version says.
[[nodiscard]] bool is_open_mpi(const std::string& library);

struct AlgorithmSetting {
  std::string algorithm;  // "binomial"
  std::vector<std::pair<std::string, std::string>> environment;
};

/// For a function ("Reduce") of the library that calls itself so (MPI_Get_library_version). MPICH:
/// MPIR_CVAR_<FUNCTION>_INTRA_ALGORITHM, which holds only where the device layer does not decide
/// (MPIR_CVAR_DEVICE_COLLECTIVES). Open MPI: coll_tuned_<function>_algorithm, which needs
/// coll_tuned_use_dynamic_rules. Empty for other libraries.
[[nodiscard]] std::vector<AlgorithmSetting> algorithm_settings(const std::string& library,
                                                               const std::string& function);

/// A message of n bytes takes latency + n per_byte seconds (Hockney 1994).
struct Hockney {
  double latency = 0;
  double per_byte = 0;
};

/// Seconds of a collective of `bytes` (as the catalogue counts them) by a named algorithm, without
/// computation, as in Pjesivac-Grbovic et al. 2007; no value where there is no formula for the name.
[[nodiscard]] std::optional<double> estimate(const Hockney& network, const std::string& function,
                                             const std::string& algorithm, int processes, double bytes);

/// From half round trips of a small and a large message.
[[nodiscard]] Hockney hockney_from(double small_bytes, double small_seconds, double large_bytes,
                                   double large_seconds);

}  // namespace nplus1::guidelines
