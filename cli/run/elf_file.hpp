// What an executable file says about itself, read from its headers; nothing of it is executed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace nplus1::cli {

struct ElfFacts {
  bool is_64_bit = false;
  bool little_endian = false;
  std::uint16_t machine = 0;   // EM_X86_64, ...
  std::string interpreter;     // PT_INTERP; empty in a static program
  bool contains_mpi = false;   // defines MPI_Init itself: MPI was linked statically, or it is an MPI library
  bool binds_fortran = false;  // defines MPI_Init for Fortran: a part of an MPI library
  std::vector<std::string> imported;  // names that other files are to define when it is loaded
};

/// Empty when the file is not ELF, or damaged. Only the first two fields are read of other classes of ELF.
[[nodiscard]] std::optional<ElfFacts> read_elf(const std::filesystem::path& file);

/// The machine that this program was built for.
[[nodiscard]] std::uint16_t own_machine();

}  // namespace nplus1::cli
