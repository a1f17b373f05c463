// What a command runs, as results are named after it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace nplus1 {

[[nodiscard]] inline std::string file_name_of(std::string_view path) {
  return std::string{path.substr(path.rfind('/') + 1)};
}

/// "python", "python3", "python3.13t".
[[nodiscard]] inline bool is_python(std::string_view file_name) {
  constexpr std::string_view kPython = "python";
  if (file_name.substr(0, kPython.size()) != kPython) return false;
  const std::string_view version = file_name.substr(kPython.size());
  return version.empty() || (version.front() >= '0' && version.front() <= '9');
}

/// What an interpreter of Python's is given: a script or a module, or neither (`-c`, `-`, nothing).
struct PythonRuns {
  std::string script;
  std::string module;
  std::size_t behind = 0;  // the number of the first word behind it
};

/// `first`: the number of the first word of `command` that is an argument of the interpreter.
[[nodiscard]] inline PythonRuns python_runs(const std::vector<std::string>& command, std::size_t first) {
  // The last four are mpi4py's, behind `-m mpi4py`.
  constexpr std::array<std::string_view, 7> kTakesAWord{
      "-W", "-X", "--check-hash-based-pycs", "-p", "--prof", "-rc", "--rc"};
  for (std::size_t i = first; i < command.size(); ++i) {
    const std::string_view word = command[i];
    if (word.empty() || word == "-") return {};
    if (word.front() != '-') return {command[i], {}, i + 1};
    if (std::find(kTakesAWord.begin(), kTakesAWord.end(), word) != kTakesAWord.end()) {
      ++i;
      continue;
    }
    const std::string_view option = word.substr(0, 2);
    if (option == "--" || option == "-W" || option == "-X") continue;
    const std::size_t at = word.find_first_of("cm");  // also behind letters that take no value
    if (at == word.npos) continue;
    if (word[at] == 'c') return {};
    if (at + 1 < word.size()) return {{}, std::string{word.substr(at + 1)}, i + 1};
    return {{}, i + 1 < command.size() ? command[i + 1] : std::string{}, i + 2};
  }
  return {};
}

/// The file name of the program, or where that is an interpreter of Python's, of the script or module that it is given
/// (mpi4py is a way to start others: `python3 -m mpi4py solver.py`). `command` has at least the program.
[[nodiscard]] inline std::string program_name(const std::vector<std::string>& command) {
  const std::string program = file_name_of(command.front());
  if (!is_python(program)) return program;
  PythonRuns runs = python_runs(command, 1);
  if (runs.module == "mpi4py" || runs.module == "mpi4py.run") runs = python_runs(command, runs.behind);
  const std::string name = runs.script.empty() ? runs.module : file_name_of(runs.script);
  return name.empty() ? program : name;
}

}  // namespace nplus1
