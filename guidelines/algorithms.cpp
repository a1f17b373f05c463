#include "guidelines/algorithms.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

namespace nplus1::guidelines {
namespace {

using Names = std::vector<std::string>;

/// What MPICH 4.0.2's control variables describe (MPI_T_cvar_get_info).
const std::map<std::string, Names>& mpich() {
  static const std::map<std::string, Names> algorithms{
      {"Allgather", {"brucks", "nb", "recursive_doubling", "ring"}},
      {"Allreduce", {"nb", "smp", "recursive_doubling", "reduce_scatter_allgather"}},
      {"Alltoall", {"brucks", "nb", "pairwise", "scattered"}},
      {"Bcast", {"binomial", "nb", "smp", "scatter_recursive_doubling_allgather", "scatter_ring_allgather"}},
      {"Gather", {"binomial", "nb"}},
      {"Reduce", {"binomial", "nb", "smp", "reduce_scatter_gather"}},
      {"Reduce_scatter", {"nb", "pairwise", "recursive_doubling", "recursive_halving"}},
      {"Reduce_scatter_block", {"nb", "pairwise", "recursive_doubling", "recursive_halving"}},
      {"Scan", {"nb", "smp", "recursive_doubling"}},
      {"Scatter", {"binomial", "nb"}}};
  return algorithms;
}

/// Open MPI 4.1's, in the order of their numbers from 1 (ompi_info --param coll tuned --level 9).
const std::map<std::string, Names>& open_mpi() {
  static const std::map<std::string, Names> algorithms{
      {"Allgather", {"linear", "bruck", "recursive_doubling", "ring", "neighbor", "two_proc"}},
      {"Allreduce",
       {"basic_linear", "nonoverlapping", "recursive_doubling", "ring", "segmented_ring", "rabenseifner"}},
      {"Alltoall", {"linear", "pairwise", "modified_bruck", "linear_sync", "two_proc"}},
      {"Bcast",
       {"basic_linear", "chain", "pipeline", "split_binary_tree", "binary_tree", "binomial", "knomial",
        "scatter_allgather", "scatter_allgather_ring"}},
      {"Gather", {"basic_linear", "binomial", "linear_sync"}},
      {"Reduce", {"linear", "chain", "pipeline", "binary", "binomial", "in-order_binary", "rabenseifner"}},
      {"Reduce_scatter", {"non-overlapping", "recursive_halving", "ring", "butterfly"}},
      {"Reduce_scatter_block", {"basic_linear", "recursive_doubling", "recursive_halving", "butterfly"}},
      {"Scan", {"linear", "recursive_doubling"}},
      {"Scatter", {"basic_linear", "binomial", "linear_nb"}}};
  return algorithms;
}

std::string changed(std::string text, int (*change)(int)) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [&](unsigned char c) { return static_cast<char>(change(c)); });
  return text;
}

std::vector<AlgorithmSetting> mpich_settings(const std::string& function) {
  std::vector<AlgorithmSetting> settings;
  const auto found = mpich().find(function);
  if (found == mpich().end()) return settings;
  const std::string upper = changed(function, std::toupper);
  for (const std::string& algorithm : found->second) {
    // The device layer may choose first; for this function alone it is told not to.
    settings.push_back({algorithm,
                        {{"MPIR_CVAR_" + upper + "_INTRA_ALGORITHM", algorithm},
                         {"MPIR_CVAR_DEVICE_COLLECTIVES", "percoll"},
                         {"MPIR_CVAR_" + upper + "_DEVICE_COLLECTIVE", "0"}}});
  }
  return settings;
}

std::vector<AlgorithmSetting> open_mpi_settings(const std::string& function) {
  std::vector<AlgorithmSetting> settings;
  const auto found = open_mpi().find(function);
  if (found == open_mpi().end()) return settings;
  const std::string name = "OMPI_MCA_coll_tuned_" + changed(function, std::tolower) + "_algorithm";
  for (std::size_t i = 0; i < found->second.size(); ++i)
    settings.push_back(
        {found->second[i], {{"OMPI_MCA_coll_tuned_use_dynamic_rules", "1"}, {name, std::to_string(i + 1)}}});
  return settings;
}

bool is_tree_of_growing_blocks(const std::string& function) {
  return function == "Gather" || function == "Scatter";
}

}  // namespace

bool is_open_mpi(const std::string& library) {
  return library.find("Open MPI") != library.npos;
}

std::vector<AlgorithmSetting> algorithm_settings(const std::string& library, const std::string& function) {
  if (is_open_mpi(library)) return open_mpi_settings(function);
  return library.find("MPICH") != library.npos ? mpich_settings(function) : std::vector<AlgorithmSetting>{};
}

std::optional<double> estimate(const Hockney& network, const std::string& function,
                               const std::string& algorithm, int processes, double bytes) {
  const double p = processes, rounds = std::ceil(std::log2(p)), a = network.latency, b = network.per_byte;
  const double all_but_own = (p - 1) * bytes;
  if (algorithm == "binomial" || algorithm == "recursive_doubling") {
    if (is_tree_of_growing_blocks(function) || function == "Allgather") return rounds * a + all_but_own * b;
    return rounds * (a + bytes * b);
  }
  if (algorithm == "linear" || algorithm == "basic_linear" || algorithm == "pairwise" || algorithm == "ring")
    return (p - 1) * (a + bytes * b);
  if (algorithm == "brucks" || algorithm == "bruck")
    return rounds * a + (function == "Alltoall" ? rounds * p / 2 * bytes : all_but_own) * b;
  if (algorithm == "recursive_halving") return rounds * a + all_but_own * b;
  if (algorithm == "reduce_scatter_gather" || algorithm == "reduce_scatter_allgather" ||
      algorithm == "rabenseifner" || algorithm == "scatter_recursive_doubling_allgather")
    return 2 * rounds * a + 2 * (p - 1) / p * bytes * b;
  if (algorithm == "scatter_ring_allgather") return (rounds + p - 1) * a + 2 * (p - 1) / p * bytes * b;
  return std::nullopt;
}

Hockney hockney_from(double small_bytes, double small_seconds, double large_bytes, double large_seconds) {
  const double per_byte = std::max(0.0, (large_seconds - small_seconds) / (large_bytes - small_bytes));
  return {std::max(0.0, small_seconds - per_byte * small_bytes), per_byte};
}

}  // namespace nplus1::guidelines
