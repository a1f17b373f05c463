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

/// "python", "python3", "python3.11".
[[nodiscard]] inline bool is_python(std::string_view file_name) {
  constexpr std::string_view kPython = "python";
  return file_name.substr(0, kPython.size()) == kPython &&
         file_name.find_first_not_of("0123456789.", kPython.size()) == std::string_view::npos;
}

/// The file name of the program, or where that is an interpreter of Python's, of the script or module that it is given
/// (`python3 -u solver.py`, `python3 -m solver`; mpi4py is a way to start others: `python3 -m mpi4py solver.py`).
/// `command` has at least the program.
[[nodiscard]] inline std::string program_name(const std::vector<std::string>& command) {
  constexpr std::array<std::string_view, 7> kTakesAWord{
      "-W", "-X", "--check-hash-based-pycs", "-p", "--prof", "-prof", "-rc"};
  const std::string program = file_name_of(command.front());
  if (!is_python(program)) return program;
  for (std::size_t i = 1; i < command.size(); ++i) {
    std::string_view word = command[i];
    if (word.substr(0, 2) == "-c" || word == "-" || word.empty()) return program;
    if (word.substr(0, 2) == "-m") {
      word = word.size() > 2 ? word.substr(2) : i + 1 < command.size() ? std::string_view{command[++i]} : "";
      if (word == "mpi4py" || word == "mpi4py.run") continue;
      return word.empty() ? program : file_name_of(word);
    }
    if (std::find(kTakesAWord.begin(), kTakesAWord.end(), word) != kTakesAWord.end())
      ++i;
    else if (word.front() != '-')
      return file_name_of(word).empty() ? program : file_name_of(word);
  }
  return program;
}

}  // namespace nplus1
