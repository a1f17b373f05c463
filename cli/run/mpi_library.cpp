#include "cli/run/mpi_library.hpp"

#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "analyses/installation.hpp"
#include "support/processes/programs.hpp"

namespace nplus1::cli {
namespace {

constexpr std::chrono::seconds kPythonLimit{20};

/// With one dash or two, as mpirun takes them.
bool names_hosts(const std::string& word) {
  constexpr const char* kOptions[] = {"-host",        "-H",  "-hosts",    "-hostfile", "-machinefile",
                                      "-add-host",    "-rf", "-rankfile", "-f",        "-default-hostfile",
                                      "-add-hostfile"};
  return std::any_of(std::begin(kOptions), std::end(kOptions),
                     [&](const char* option) { return word == option || word == std::string{"-"} + option; });
}

/// A section's options are Hydra's (job.hpp); Open MPI says -x NAME=VALUE for -env.
Result<std::vector<std::string>> options_of(const Section& section) {
  std::vector<std::string> words;
  for (auto word = section.options.begin(); word != section.options.end();) {
    const std::string option = word->rfind("--", 0) == 0 ? word->substr(1) : *word;
    const auto values = section.options.end() - word - 1;
    if (option == "-env" && values >= 2) {
      words.insert(words.end(), {"-x", *(word + 1) + "=" + *(word + 2)});
      word += 3;
    } else if ((option == "-wdir" || option == "-wd" || option == "-path") && values >= 1) {
      words.insert(words.end(), {*word, *(word + 1)});
      word += 2;
    } else {
      return Error{"option " + *word +
                       " of a program after ':' is Hydra's, and Open MPI's mpirun has none of that name",
                   "use -n, -wdir, -path or -env there, and --mpi-args for the rest"};
    }
  }
  return words;
}

}  // namespace

const char* name_of(MpiLibrary library) {
  return library == MpiLibrary::kOpenMpi ? "Open MPI" : "MPICH";
}

Result<std::vector<std::string>> open_mpi_line(
    const std::string& preload, const std::vector<std::pair<std::string, std::string>>& environment,
    const std::vector<std::string>& mpi_words, const std::vector<Section>& sections) {
  const auto mpirun = analyses::find_open_mpi_mpirun();
  if (!mpirun) return mpirun.error();
  std::vector<std::string> line;
  if (!environment.empty()) line.emplace_back("/usr/bin/env");  // mpirun hands its environment on
  for (const auto& [name, value] : environment) line.push_back(name + "=" + value);
  line.push_back(mpirun.value().string());
  if (geteuid() == 0) line.emplace_back("--allow-run-as-root");
  line.emplace_back("--oversubscribe");
  line.insert(line.end(), mpi_words.begin(), mpi_words.end());
  for (const Section& section : sections) {
    if (&section != &sections.front()) line.emplace_back(":");
    const auto options = options_of(section);
    if (!options) return options.error();
    line.insert(line.end(), {"-x", "LD_PRELOAD=" + preload, "-np", std::to_string(section.ranks)});
    line.insert(line.end(), options.value().begin(), options.value().end());
    line.insert(line.end(), section.command.begin(), section.command.end());
  }
  return line;
}

std::string option_of_hosts(const std::vector<std::string>& mpi_words, const std::vector<Section>& sections) {
  const auto in = [](const std::vector<std::string>& words) {
    const auto found = std::find_if(words.begin(), words.end(), names_hosts);
    return found == words.end() ? std::string{} : *found;
  };
  std::string found = in(mpi_words);
  for (const Section& section : sections)
    if (found.empty()) found = in(section.options);
  return found;
}

std::filesystem::path mpi4py_of(const std::filesystem::path& interpreter,
                                const std::filesystem::path& folder) {
  constexpr const char* kQuestion =
      "import sys, importlib.util as u; sys.path = [sys.argv[1] if p == '' else p for p in sys.path]; "
      "s = u.find_spec('mpi4py'); print(u.find_spec('mpi4py.MPI').origin if s else '')";
  const processes::Output found =
      processes::capture({interpreter.string(), "-c", kQuestion, folder.string()}, kPythonLimit, false);
  if (found.exit_code != 0 || found.timed_out) return {};
  return found.text.substr(0, found.text.find('\n'));
}

}  // namespace nplus1::cli
