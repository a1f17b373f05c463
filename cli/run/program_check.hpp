// Whether a program can run under nplus1: asked before anything is started, so that a refusal costs nothing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/run/job.hpp"
#include "cli/run/mpi_library.hpp"

namespace nplus1::cli {

/// What can be known of a program from outside.
struct CheckedProgram {
  /// Empty for a script, and for a program that may load MPI, or start who does.
  std::optional<MpiLibrary> library;
  std::string warning;  // may be empty
};

/// Throws Failure (kNoInput, kUnsuitable) that names the program, why it can't be observed, and what to do. Of a Python
/// interpreter, or a script of one, the library is that of the mpi4py that the script finds; `arguments` are the program's.
[[nodiscard]] CheckedProgram check_program(const std::string& program,
                                           const std::vector<std::string>& arguments = {});

/// A program's own file, or a shared library's, and then those that the loader would load with it; check_program()'s warning.
struct ProgramFiles {
  std::vector<std::filesystem::path> files;
  std::string note;
};

/// As check_program(), and where the files are. Nothing of the program is executed.
[[nodiscard]] ProgramFiles files_of_program(const std::string& program);

/// check_program() for every section; warnings go to stderr. Sections that name other hosts, working folders
/// or search paths, and all of them when `elsewhere` says that mpirun's own options do, are left to mpirun
/// where the program is not found here. Returns the library that the job's programs are linked with; empty where none
/// shows. Throws Failure (kUnsuitable) where two differ.
std::optional<MpiLibrary> check_programs(const std::vector<Section>& sections, bool elsewhere);

}  // namespace nplus1::cli
