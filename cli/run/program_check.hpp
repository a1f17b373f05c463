// Whether a program can run under nplus1: asked before anything is started, so that a refusal costs nothing.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/run/job.hpp"

namespace nplus1::cli {

/// Throws Failure (kNoInput, kUnsuitable) that names the program, why it can't be observed, and what to do.
/// Returns a warning, or an empty string, for what can't be known from outside: a script, or a program that
/// shows no MPI library and may load one later.
[[nodiscard]] std::string check_program(const std::string& program);

/// A program's own file, or a shared library's, and then those that the loader would load with it; check_program()'s warning.
struct ProgramFiles {
  std::vector<std::filesystem::path> files;
  std::string note;
};

/// As check_program(), and where the files are. Nothing of the program is executed.
[[nodiscard]] ProgramFiles files_of_program(const std::string& program);

/// check_program() for every section; warnings go to stderr. Sections that name other hosts, working folders
/// or search paths, and all of them when `elsewhere` says that mpirun's own options do, are left to mpirun
/// where the program is not found here.
void check_programs(const std::vector<Section>& sections, bool elsewhere);

}  // namespace nplus1::cli
