#include "cli/run/program_check.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <regex>
#include <sstream>

#include "analyses/installation.hpp"
#include "cli/failure.hpp"
#include "cli/run/elf_file.hpp"
#include "cli/to_stderr.hpp"
#include "support/processes/programs.hpp"
#include "support/program_name.hpp"
#include "support/shell.hpp"

namespace nplus1::cli {
namespace fs = std::filesystem;
namespace {

constexpr std::chrono::seconds kLoaderLimit{20};

[[noreturn]] void missing(const std::string& program, const std::string& why, const std::string& next) {
  throw Failure{ExitCode::kNoInput, fmt::format("program '{}' {}", program, why), kNothingStarted, next};
}

[[noreturn]] void unsuitable(const fs::path& program, const std::string& why, const std::string& consequence,
                             const std::string& next) {
  throw Failure{ExitCode::kUnsuitable, fmt::format("program '{}' {}", program.string(), why),
                consequence + "; " + kNothingStarted, next};
}

/// Where the program is, or why it can't be run.
fs::path locate(const std::string& program) {
  if (program.find('/') == std::string::npos) {
    fs::path found = analyses::find_in_path(program);
    if (!found.empty()) return found;
    struct stat here {};
    const bool exists = stat(program.c_str(), &here) == 0;
    missing(program, "was not found in PATH",
            exists ? fmt::format("there is one in this folder: say ./{}", program)
                   : "check the name, or give a path");
  }
  struct stat status {};
  if (stat(program.c_str(), &status) != 0) missing(program, std::strerror(errno), "check the path");
  if (S_ISDIR(status.st_mode)) missing(program, "is a folder", "name the program inside it");
  if (!S_ISREG(status.st_mode)) missing(program, "is not a regular file", "name an executable file");
  if (access(program.c_str(), X_OK) != 0) {
    missing(program, "is not executable", fmt::format("chmod +x {}, or check the path", quote(program)));
  }
  return fs::absolute(program);
}

void refuse_privileged(const fs::path& program) {
  struct stat status {};
  if (stat(program.c_str(), &status) != 0) return;
  const bool setid = (status.st_mode & (S_ISUID | S_ISGID)) != 0;
  const bool capable = getxattr(program.c_str(), "security.capability", nullptr, 0) > 0;
  if (!setid && !capable) return;
  unsuitable(
      program, setid ? "is setuid or setgid" : "has file capabilities",
      "the loader ignores LD_PRELOAD for such programs, so nplus1 would see nothing",
      setid ? "run a copy without these bits (cp, then chmod ug-s)" : "run a copy of it (cp drops them)");
}

void refuse_foreign(const fs::path& program, const ElfFacts& facts) {
  if (!facts.is_64_bit || !facts.little_endian || facts.machine != own_machine()) {
    unsuitable(program, facts.is_64_bit ? "was built for another machine" : "is a 32-bit program",
               "nplus1's library can't be loaded into it", "build it for this machine, 64 bits");
  }
  if (facts.interpreter.empty()) {
    unsuitable(program, "is statically linked", "it ignores LD_PRELOAD, so nplus1 would see nothing",
               "link it without -static");
  }
  if (facts.contains_mpi) {
    unsuitable(program, "contains an MPI library (it was linked statically)",
               "its MPI calls never leave the program, so nplus1 would see nothing",
               "link it with a shared one (mpicc.mpich, libmpich.so; mpicc.openmpi, libmpi.so)");
  }
}

/// The libraries that the loader would load, one "name => path" a line; nothing of the program is executed.
std::string loader_list(const fs::path& program, const ElfFacts& facts) {
  return processes::capture({facts.interpreter, "--list", program.string()}, kLoaderLimit, true).text;
}

std::vector<fs::path> paths_in(const std::string& list) {
  std::vector<fs::path> paths;
  std::istringstream lines{list};
  for (std::string line; std::getline(lines, line);) {
    const auto begin = line.find('/'), end = line.rfind(" (0x");
    if (begin != std::string::npos && end != std::string::npos && begin < end)
      paths.emplace_back(line.substr(begin, end - begin));
  }
  return paths;
}

/// MPICH's ABI by its several names: libmpich.so.12 (Debian), libmpi.so.12 (MPICH, Intel MPI, MVAPICH), and Cray's, one for each
/// compiler (libmpi_cray.so.12, libmpi_gnu_91.so.12).
bool is_mpich(const std::string& library) {
  if (library.rfind("libmpich", 0) == 0 || library == "libmpi.so.12") return true;
  constexpr std::array kCompilers{"cray", "gnu", "intel", "nvidia", "pgi", "aocc", "amd"};
  return library.find(".so.12") != std::string::npos &&
         std::any_of(kCompilers.begin(), kCompilers.end(), [&](const char* compiler) {
           return library.rfind(std::string{"libmpi_"} + compiler, 0) == 0;
         });
}

/// What Open MPI's library brings along; that of 1.10 is called as MPICH's.
bool is_part_of_open_mpi(const std::string& library) {
  return library.rfind("libopen-rte.so", 0) == 0 || library.rfind("libopen-pal.so", 0) == 0;
}

bool is_open_mpi(const std::string& library) {
  return library == "libmpi.so.40" || library.rfind("libmpi_mpifh.so.40", 0) == 0;
}

bool is_other_mpi(const std::string& library) {
  return library.rfind("libmpi.so", 0) == 0 || library.rfind("libmpi_mpifh.so", 0) == 0 ||
         library.rfind("libmpi_abi.so", 0) == 0 ||  // MPI-5's
         library.rfind("libmsmpi", 0) == 0 || library.rfind("libmpi_ibm.so", 0) == 0;
}

/// "PROGRAM: error while loading shared libraries: LIBRARY: cannot open shared object file: ..."
void refuse_missing_library(const fs::path& program, const std::string& list) {
  constexpr std::string_view kSign = "error while loading shared libraries: ";
  const auto at = list.find(kSign);
  if (at == std::string::npos) return;
  const auto start = at + kSign.size();
  const std::string reason = list.substr(start, list.find('\n', start) - start);
  unsuitable(program, fmt::format("can't be loaded: {}", reason), "it would not run without nplus1 either",
             "install the library, or add its folder to LD_LIBRARY_PATH");
}

[[noreturn]] void refuse_other_mpi(const fs::path& program, const std::string& library) {
  unsuitable(program, fmt::format("is linked with another MPI ({})", library),
             "nplus1 works with MPICH and its ABI, and with Open MPI 4",
             "build it with mpicc.mpich, mpicxx.mpich or mpifort.mpich");
}

/// Judges the list: refuses another MPI; no library where there is none. Of two the program takes each function from the one that
/// the loader finds first: MPICH's counts, as its programs may have libraries that are linked with Open MPI.
CheckedProgram judge_libraries(const fs::path& program, const std::string& list) {
  std::string mpich, open_mpi;
  bool called_as_open_mpis = false, of_open_mpi = false;
  std::istringstream lines{list};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    std::string library;
    words >> library;
    of_open_mpi = of_open_mpi || is_part_of_open_mpi(library);
    if (is_mpich(library)) {
      mpich = library;
      called_as_open_mpis = called_as_open_mpis || library == "libmpi.so.12";
    } else if (is_open_mpi(library)) {
      open_mpi = library;
    } else if (is_other_mpi(library)) {
      refuse_other_mpi(program, library);
    }
  }
  if (of_open_mpi && called_as_open_mpis) refuse_other_mpi(program, "libmpi.so.12 of Open MPI 1.10");
  if (!mpich.empty() && !open_mpi.empty())
    return {MpiLibrary::kMpich,
            fmt::format(
                "'{}' and what it is linked with need two MPI libraries, {} and {}: calls meant for one may "
                "reach the other, without nplus1 too; link all of it with the same",
                program.string(), mpich, open_mpi)};
  if (!mpich.empty()) return {MpiLibrary::kMpich, {}};
  if (!open_mpi.empty()) return {MpiLibrary::kOpenMpi, {}};
  return {};
}

/// "#!/usr/bin/python3 -u", "#!/usr/bin/env python3": the interpreter's path; empty if it is none of Python's, or not there.
fs::path python_of_script(const fs::path& script) {
  std::ifstream file{script};
  std::string line;
  if (!std::getline(file, line) || line.rfind("#!", 0) != 0) return {};
  std::istringstream words{line.substr(2)};
  std::string interpreter;
  words >> interpreter;
  if (fs::path{interpreter}.filename() == "env") words >> interpreter;
  return is_python(file_name_of(interpreter)) ? analyses::find_in_path(interpreter) : fs::path{};
}

/// A shell script that starts a job itself, as packages install it in the program's place: what it calls, or empty. Only the
/// first 64 KiB are looked at.
std::string launcher_in_script(const fs::path& script) {
  std::string head(std::size_t{64} << 10, '\0');  // archives that unpack themselves go on for long
  std::ifstream file{script};
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  std::istringstream lines{head};
  std::string line;
  if (!std::getline(lines, line) || line.rfind("#!", 0) != 0) return {};
  static const std::regex shell{R"(^#!\s*\S*(/|env\s+)(ba|da|k|z)?sh\b)"};
  if (!std::regex_search(line, shell)) return {};
  static const std::regex launcher{
      R"((?:^|[;&|(`]|\b(?:exec|time|then|do|else|env))\s*((?:\S*/)?(?:mpirun|mpiexec|orterun|prun|srun)(?:\.\w+)?)(?=\s))"};
  constexpr std::size_t kLongest = 4096;  // of a line: what is longer is no command, and std::regex recurses
  while (std::getline(lines, line)) {
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string::npos || line[first] == '#' || line.size() > kLongest) continue;
    if (std::smatch found; std::regex_search(line, found, launcher)) return found[1];
  }
  return {};
}

/// Where Python looks for modules first: in its script's folder, links followed. Empty: in the current one, as for -c and -m.
fs::path folder_of_script(const fs::path& script) {
  std::error_code failed;
  const fs::path real = fs::canonical(script, failed);
  if (failed) return {};
  return fs::is_directory(real, failed) ? real : real.parent_path();
}

std::optional<MpiLibrary> library_of_python(const fs::path& interpreter, const fs::path& script) {
  const fs::path module = interpreter.empty() ? fs::path{} : mpi4py_of(interpreter, folder_of_script(script));
  if (module.empty()) return std::nullopt;
  const auto facts = read_elf(interpreter);  // the loader is the interpreter's
  const auto of_env = facts ? facts : read_elf("/usr/bin/env");
  if (!of_env) return std::nullopt;
  return judge_libraries(module, loader_list(module, *of_env)).library;
}

}  // namespace

CheckedProgram check_program(const std::string& program, const std::vector<std::string>& arguments) {
  const fs::path path = locate(program);
  refuse_privileged(path);
  const auto facts = read_elf(path);
  const bool interpreter = is_python(path.filename().string());  // itself, or a script that chooses one
  if (!facts) {                                                  // what else a script starts is not looked at
    const std::string launcher = launcher_in_script(path);
    return {
        interpreter ? library_of_python(path, python_runs(arguments, 0).script)
                    : library_of_python(python_of_script(path), path),
        launcher.empty()
            ? std::string{}
            : fmt::format(
                  "'{}' is a script that calls {} itself, and each rank would; put `nplus1 run --` before "
                  "the {} in it, or give nplus1 that line",
                  path.string(), launcher, launcher)};
  }
  refuse_foreign(path, *facts);
  const std::string list = loader_list(path, *facts);
  refuse_missing_library(path, list);
  if (CheckedProgram checked = judge_libraries(path, list); checked.library) return checked;
  if (interpreter)
    if (const auto library = library_of_python(path, python_runs(arguments, 0).script)) return {library, {}};
  return {
      std::nullopt,
      fmt::format(
          "program '{}' is not linked with MPI; it can be observed only if it starts or loads an MPI program",
          path.string())};
}

ProgramFiles files_of_program(const std::string& program) {
  ProgramFiles result;
  const bool library =
      fs::path{program}.filename().string().find(".so") != std::string::npos && fs::exists(program);
  if (!library) result.note = check_program(program).warning;
  const fs::path path = library ? fs::absolute(program) : locate(program);
  auto facts = read_elf(path);
  if (!facts && library) missing(program, "is no library that can be read", "check the path");
  result.files.push_back(path);
  if (!facts) return result;
  if (library) facts->interpreter = read_elf("/proc/self/exe")->interpreter;
  for (fs::path& file : paths_in(loader_list(path, *facts))) result.files.push_back(std::move(file));
  return result;
}

std::optional<MpiLibrary> check_programs(const std::vector<Section>& sections, bool elsewhere) {
  std::optional<MpiLibrary> library;
  for (const Section& section : sections) {
    try {
      const std::string& program = section.command.front();
      const CheckedProgram checked =
          check_program(program, {section.command.begin() + 1, section.command.end()});
      if (!checked.warning.empty()) to_stderr("nplus1: note: {}\n", checked.warning);
      if (library && checked.library && *library != *checked.library)
        unsuitable(program,
                   fmt::format("is linked with {}, and one before it with {}", name_of(*checked.library),
                               name_of(*library)),
                   "one mpirun cannot start both", "build all programs of the job with the same MPI");
      if (checked.library) library = checked.library;
    } catch (const Failure& failure) {
      const bool mpirun_knows = elsewhere || !section.options.empty();
      if (!mpirun_knows || failure.code() != ExitCode::kNoInput) throw;
    }
  }
  return library;
}

}  // namespace nplus1::cli
