// Where the parts of nplus1 are: found relative to the running executable, in the build tree and when
// installed.
#pragma once

#include <filesystem>
#include <string>

#include "support/result.hpp"

namespace nplus1::analyses {

/// The folder that holds the running executable. Throws when /proc is not there.
[[nodiscard]] std::filesystem::path executable_folder();

/// libnplus1-stubs.so, the library that the ranks preload (NPLUS1_STUBS overrides).
[[nodiscard]] Result<std::filesystem::path> find_stubs();

/// libnplus1-openmpi.so, the same for programs that are linked with Open MPI (NPLUS1_OPENMPI_STUBS overrides). It is there
/// only if Open MPI was when nplus1 was built.
[[nodiscard]] Result<std::filesystem::path> find_open_mpi_stubs();

/// libnplus1-statistics.so, which the ranks of `nplus1 run --patterns-only` preload (NPLUS1_STATISTICS_STUBS overrides).
[[nodiscard]] Result<std::filesystem::path> find_statistics_stubs();

/// libnplus1-overlap.so, which the ranks of `nplus1 overlap measure` preload (NPLUS1_OVERLAP_STUBS overrides).
[[nodiscard]] Result<std::filesystem::path> find_overlap_stubs();

/// nplus1-simnode, the simulator (NPLUS1_SIMNODE overrides).
[[nodiscard]] Result<std::filesystem::path> find_simnode();

/// nplus1-measure, which `nplus1 calibrate` starts (NPLUS1_MEASURE overrides).
[[nodiscard]] Result<std::filesystem::path> find_measure();
[[nodiscard]] Result<std::filesystem::path> find_reenact();

/// nplus1-analysers, which `nplus1 collectives --analysers` starts (NPLUS1_ANALYSERS overrides).
[[nodiscard]] Result<std::filesystem::path> find_analysers();

/// nplus1-patch, which `nplus1 overlap --patch` asks (NPLUS1_PATCH overrides). It is there only if libclang was when
/// nplus1 was built.
[[nodiscard]] Result<std::filesystem::path> find_patcher();

/// nplus1-guidelines-runner, which `nplus1 guidelines run` starts (NPLUS1_GUIDELINES_RUNNER overrides). For
/// Open MPI it is there only if Open MPI was when nplus1 was built.
[[nodiscard]] Result<std::filesystem::path> find_guidelines_runner(bool open_mpi);

/// libnplus1-tuned.so, which `nplus1 guidelines tune` copies (NPLUS1_TUNED overrides). As above.
[[nodiscard]] Result<std::filesystem::path> find_tuned_library(bool open_mpi);

/// guidelines.json, the catalogue of performance guidelines (NPLUS1_CATALOGUE overrides).
[[nodiscard]] Result<std::filesystem::path> find_catalogue();

/// An example program that came with nplus1.
[[nodiscard]] Result<std::filesystem::path> find_example(const std::string& name);

/// MPICH's mpirun, by full path: NPLUS1_MPIRUN, mpirun.mpich, mpiexec.hydra, mpirun.
[[nodiscard]] Result<std::filesystem::path> find_mpirun();

/// Open MPI's mpirun, by full path: NPLUS1_OPENMPI_MPIRUN, mpirun.openmpi, orterun, mpirun.
[[nodiscard]] Result<std::filesystem::path> find_open_mpi_mpirun();

/// `name` in PATH; empty when it is not there.
[[nodiscard]] std::filesystem::path find_in_path(const std::string& name);

}  // namespace nplus1::analyses
