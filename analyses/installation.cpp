#include "analyses/installation.hpp"

#include <unistd.h>

#include <cstdlib>
#include <initializer_list>
#include <sstream>
#include <vector>

namespace nplus1::analyses {
namespace fs = std::filesystem;
namespace {

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

/// The part called `what`: from the environment variable, or the first of `candidates` below the prefix.
Result<fs::path> find_part(const char* what, const char* variable,
                           std::initializer_list<const char*> candidates) {
  if (const char* set = std::getenv(variable); set != nullptr && *set != '\0') {
    if (is_file(set)) return fs::absolute(set);
    return Error{std::string{variable} + " names " + set + ", which is not a file",
                 std::string{"unset "} + variable + " or correct it"};
  }
  const fs::path prefix = executable_folder().parent_path();
  for (const char* candidate : candidates) {
    if (is_file(prefix / candidate)) return prefix / candidate;
  }
  return Error{std::string{what} + " was not found below " + prefix.string(),
               "build everything (cmake --build BUILD), reinstall, or set " + std::string{variable}};
}

}  // namespace

fs::path executable_folder() {
  return fs::read_symlink("/proc/self/exe").parent_path();
}

Result<fs::path> find_stubs() {
  return find_part("the library libnplus1-stubs.so", "NPLUS1_STUBS",
                   {"lib/libnplus1-stubs.so", NPLUS1_LIBDIR "/nplus1/libnplus1-stubs.so"});
}

Result<fs::path> find_open_mpi_stubs() {
  auto found = find_part("the library libnplus1-openmpi.so", "NPLUS1_OPENMPI_STUBS",
                         {"lib/libnplus1-openmpi.so", NPLUS1_LIBDIR "/nplus1/libnplus1-openmpi.so"});
  if (!found)
    return Error{"nplus1 was built without Open MPI: " + found.error().what,
                 "build nplus1 where Open MPI is (Debian: libopenmpi-dev), or the program with mpicc.mpich"};
  return found;
}

Result<fs::path> find_overlap_stubs() {
  return find_part("the library libnplus1-overlap.so", "NPLUS1_OVERLAP_STUBS",
                   {"lib/libnplus1-overlap.so", NPLUS1_LIBDIR "/nplus1/libnplus1-overlap.so"});
}

Result<fs::path> find_statistics_stubs() {
  return find_part("the library libnplus1-statistics.so", "NPLUS1_STATISTICS_STUBS",
                   {"lib/libnplus1-statistics.so", NPLUS1_LIBDIR "/nplus1/libnplus1-statistics.so"});
}

Result<fs::path> find_simnode() {
  return find_part("the simulator nplus1-simnode", "NPLUS1_SIMNODE",
                   {"bin/nplus1-simnode", "libexec/nplus1-simnode"});
}

Result<fs::path> find_measure() {
  return find_part("the measuring program nplus1-measure", "NPLUS1_MEASURE",
                   {"bin/nplus1-measure", "libexec/nplus1-measure"});
}

Result<fs::path> find_reenact() {
  return find_part("the re-enacting program nplus1-reenact", "NPLUS1_REENACT",
                   {"bin/nplus1-reenact", "libexec/nplus1-reenact"});
}

Result<fs::path> find_guidelines_runner(bool open_mpi) {
  if (open_mpi)
    return find_part("the measuring program for Open MPI", "NPLUS1_GUIDELINES_RUNNER",
                     {"bin/nplus1-guidelines-runner-openmpi", "libexec/nplus1-guidelines-runner-openmpi"});
  return find_part("the measuring program nplus1-guidelines-runner", "NPLUS1_GUIDELINES_RUNNER",
                   {"bin/nplus1-guidelines-runner", "libexec/nplus1-guidelines-runner"});
}

Result<fs::path> find_tuned_library(bool open_mpi) {
  if (open_mpi)
    return find_part("the library to preload for Open MPI", "NPLUS1_TUNED",
                     {"lib/libnplus1-tuned-openmpi.so", NPLUS1_LIBDIR "/nplus1/libnplus1-tuned-openmpi.so"});
  return find_part("the library libnplus1-tuned.so", "NPLUS1_TUNED",
                   {"lib/libnplus1-tuned.so", NPLUS1_LIBDIR "/nplus1/libnplus1-tuned.so"});
}

Result<fs::path> find_catalogue() {
  return find_part("the catalogue guidelines.json", "NPLUS1_CATALOGUE",
                   {"share/nplus1/guidelines.json", NPLUS1_DATADIR "/nplus1/guidelines.json"});
}

Result<fs::path> find_analysers() {
  return find_part("the parallel detector nplus1-analysers", "NPLUS1_ANALYSERS",
                   {"bin/nplus1-analysers", "libexec/nplus1-analysers"});
}

Result<fs::path> find_patcher() {
  auto found = find_part("the patching program nplus1-patch", "NPLUS1_PATCH",
                         {"bin/nplus1-patch", "libexec/nplus1-patch"});
  if (!found) return Error{found.error().what, "build nplus1 where libclang is (Debian: libclang-14-dev)"};
  return found;
}

Result<fs::path> find_example(const std::string& name) {
  const fs::path prefix = executable_folder().parent_path();
  for (const fs::path& folder : {prefix / "bin/examples", prefix / NPLUS1_LIBDIR / "nplus1/examples"}) {
    if (is_file(folder / name)) return folder / name;
  }
  return Error{"the example program '" + name + "' was not found below " + prefix.string(),
               "build everything (cmake --build BUILD) or reinstall"};
}

namespace {

/// The file that `variable` names, or the first of `names` in PATH.
Result<fs::path> find_starter(const char* variable, std::initializer_list<const char*> names,
                              const Error& otherwise) {
  if (const char* set = std::getenv(variable); set != nullptr && *set != '\0') {
    const fs::path found = find_in_path(set);
    if (!found.empty()) return found;
    return Error{std::string{variable} + " names " + set + ", which is not an executable file",
                 std::string{"unset "} + variable + " or correct it"};
  }
  for (const char* name : names) {
    const fs::path found = find_in_path(name);
    if (!found.empty()) return found;
  }
  return otherwise;
}

}  // namespace

Result<fs::path> find_mpirun() {
  return find_starter("NPLUS1_MPIRUN", {"mpirun.mpich", "mpiexec.hydra", "mpirun"},
                      {"MPICH's mpirun is not installed", "apt-get install mpich, or set NPLUS1_MPIRUN"});
}

Result<fs::path> find_open_mpi_mpirun() {
  return find_starter(
      "NPLUS1_OPENMPI_MPIRUN", {"mpirun.openmpi", "orterun", "mpirun"},
      {"Open MPI's mpirun is not installed", "apt-get install openmpi-bin, or set NPLUS1_OPENMPI_MPIRUN"});
}

fs::path find_in_path(const std::string& name) {
  const auto executable = [](const fs::path& file) {
    return is_file(file) && access(file.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string::npos) return executable(name) ? fs::absolute(name) : fs::path{};
  const char* path = std::getenv("PATH");
  std::istringstream folders{path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin"};
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path candidate = fs::absolute(folder.empty() ? "." : folder) / name;
    if (executable(candidate)) return candidate;
  }
  return {};
}

}  // namespace nplus1::analyses
