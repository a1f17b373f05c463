// Which MPI library a job's programs are linked with, and what `nplus1 run` starts them by.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cli/run/job.hpp"
#include "support/result.hpp"

namespace nplus1::cli {

enum class MpiLibrary { kMpich, kOpenMpi };

/// "MPICH", "Open MPI".
[[nodiscard]] const char* name_of(MpiLibrary library);

/// The command line of an Open MPI job: mpirun, of which all n processes are ranks; the simulator is started beside it
/// (simulator_beside.hpp). `preload`: LD_PRELOAD of the ranks, not of mpirun's; `environment`: NAME, VALUE of variables of
/// both, not on the command line of a process that stays; `mpi_words`: mpirun's options as the user gave them.
[[nodiscard]] Result<std::vector<std::string>> open_mpi_line(
    const std::string& preload, const std::vector<std::pair<std::string, std::string>>& environment,
    const std::vector<std::string>& mpi_words, const std::vector<Section>& sections);

/// Of an option that names other hosts, among mpirun's own or a section's; empty if there is none.
[[nodiscard]] std::string option_of_hosts(const std::vector<std::string>& mpi_words,
                                          const std::vector<Section>& sections);

/// The library that a Python interpreter's mpi4py would load; empty where it has none. `folder`: where the interpreter looks
/// first, which is its script's folder; empty for the current one.
[[nodiscard]] std::filesystem::path mpi4py_of(const std::filesystem::path& interpreter,
                                              const std::filesystem::path& folder = {});

}  // namespace nplus1::cli
