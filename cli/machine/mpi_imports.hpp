// The MPI functions that a program can call, by what it and its libraries import, and what a run makes of each
// (stubs/table/functions.txt).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nplus1::cli {

enum class Treatment {
  kModelled,    // takes virtual time as the network's model says
  kLocal,       // nobody else takes part: takes the CPU time that it takes
  kUnmodelled,  // passed on to MPI and counted; its share of virtual time is measured, not modelled
};

struct MpiFunction {
  std::string_view name;  // "MPI_Put"
  Treatment treatment;
  std::string_view kind;  // of what is not modelled: "spawn", ...
};

/// The function that a symbol stands for, in C and in the Fortran bindings of MPICH and Open MPI ("mpi_put_",
/// "mpi_put_f08_", "mpi_put_f08ts_"), of the profiling interface, too; nothing if it is none that a run knows.
[[nodiscard]] std::optional<MpiFunction> mpi_function_of(std::string_view symbol);

struct MpiImports {
  std::vector<MpiFunction> functions;     // by name, each once
  std::vector<std::string> unknown;       // names of MPI's that are in no table of this version
  std::vector<std::filesystem::path> of;  // the program, and those of its libraries that call MPI
  bool loads_more = false;                // dlopen() is imported by one of them
};

/// `files`: a program and the libraries that are loaded with it. What is no ELF file, and the MPI libraries
/// themselves, are left out.
[[nodiscard]] MpiImports mpi_imports(const std::vector<std::filesystem::path>& files);

}  // namespace nplus1::cli
