#include "overlap/patch/compiler.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "support/processes/programs.hpp"

namespace nplus1::overlap::patch {
namespace fs = std::filesystem;
namespace {

/// Runs a program with its standard output and error read here, and no input.
processes::Output run(const std::vector<std::string>& command, const std::string& directory) {
  constexpr std::chrono::hours kPatience{1};
  constexpr int kNotStarted = 127;
  processes::Output output = processes::capture(command, kPatience, true, directory);
  if (output.exit_code < 0) output = {kNotStarted, "cannot start " + command[0], false};
  return output;
}

bool begins(std::string_view word, std::string_view with) {
  return word.substr(0, with.size()) == with;
}

bool has_suffix(const std::string& file, std::initializer_list<std::string_view> suffixes) {
  const std::string suffix = fs::path{file}.extension().string();
  return std::find(suffixes.begin(), suffixes.end(), suffix) != suffixes.end();
}

/// Flags whose value is the next word.
bool takes_word(std::string_view flag) {
  static constexpr std::array<std::string_view, 12> kFlags{"-I",       "-D",       "-U",      "-include",
                                                           "-imacros", "-isystem", "-iquote", "-idirafter",
                                                           "-x",       "-o",       "-MF",     "-MT"};
  return flag == "-MQ" || flag == "-Xpreprocessor" ||
         std::find(kFlags.begin(), kFlags.end(), flag) != kFlags.end();
}

/// What decides how the source reads: paths, macros, the language, and the options that change keywords or types.
bool matters_to_clang(std::string_view flag) {
  for (const std::string_view known : {"-I",
                                       "-D",
                                       "-U",
                                       "-include",
                                       "-imacros",
                                       "-isystem",
                                       "-iquote",
                                       "-idirafter",
                                       "-std=",
                                       "-ansi",
                                       "-x",
                                       "-fopenmp",
                                       "-pthread",
                                       "-funsigned-char",
                                       "-fsigned-char",
                                       "-fshort-enums",
                                       "-fno-exceptions",
                                       "-fexceptions",
                                       "-fgnu89-inline",
                                       "-m32",
                                       "-m64"})
    if (begins(flag, known)) return true;
  return false;
}

/// The include paths of an MPI compiler wrapper.
const std::vector<std::string>& wrapper_paths(const std::string& compiler) {
  static std::map<std::string, std::vector<std::string>> known;
  const auto [found, fresh] = known.try_emplace(compiler);
  if (fresh) {
    const processes::Output shown = run({compiler, "-show"}, "");
    if (shown.exit_code == 0)
      for (const std::string& word : split_words(shown.text))
        if (begins(word, "-I")) found->second.push_back(word);
  }
  return found->second;
}

/// A compile command without its input, its output and what only a whole compilation does.
std::vector<std::string> kept_flags(const std::vector<std::string>& words, const std::string& unit,
                                    const std::string& directory) {
  std::vector<std::string> flags;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool has_value = takes_word(word) && i + 1 < words.size();
    const bool output =
        begins(word, "-o") || begins(word, "-M") || word == "-c" || word == "-S" || word == "-E";
    const bool input =
        !begins(word, "-") && fs::weakly_canonical(fs::path{directory} / word) == fs::weakly_canonical(unit);
    if (!output && !input) flags.push_back(word);
    if (has_value) {
      ++i;
      if (!output) flags.push_back(words[i]);
    }
  }
  return flags;
}

std::string default_compiler(const std::string& unit) {
  return is_cpp(unit) ? "mpicxx.mpich" : "mpicc.mpich";
}

bool says_c89(const std::vector<std::string>& flags) {
  return std::any_of(flags.begin(), flags.end(), [](const std::string& flag) {
    return flag == "-ansi" || flag == "-std=c89" || flag == "-std=c90" || flag == "-std=gnu89" ||
           flag == "-std=gnu90" || begins(flag, "-std=iso9899:199");
  });
}

Result<Compilation> from_database(const Request& request, const std::string& unit) {
  const fs::path named = request.compile_commands;
  const fs::path file = fs::is_directory(named) ? named / "compile_commands.json" : named;
  if (std::error_code unknown; !fs::is_regular_file(file, unknown))
    return Error{file.string() + " is no file", "give --compile \"FLAGS\" in its place"};
  std::ifstream stream{file};
  const auto database = nlohmann::json::parse(stream, nullptr, false);
  if (!database.is_array())
    return Error{file.string() + " is no compilation database", "give --compile \"FLAGS\" in its place"};
  for (const auto& entry : database) {
    const std::string directory = entry.value("directory", "");
    if (fs::weakly_canonical(fs::path{directory} / entry.value("file", "")) != fs::weakly_canonical(unit))
      continue;
    std::vector<std::string> words = entry.contains("arguments")
                                         ? entry["arguments"].get<std::vector<std::string>>()
                                         : split_words(entry.value("command", ""));
    if (words.empty()) break;
    Compilation how{.compiler = words.front(), .flags = {}, .directory = directory};
    words.erase(words.begin());
    how.flags = kept_flags(words, unit, directory);
    return how;
  }
  return Error{file.string() + " does not say how " + unit + " is compiled",
               "give --compile \"FLAGS\" in its place"};
}

}  // namespace

std::vector<std::string> split_words(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  bool open = false;
  char quote = '\0';
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool escapes = c == '\\' && quote != '\'' && i + 1 < line.size();
    if (escapes) {
      word += line[++i];
      open = true;
    } else if (quote != '\0' ? c == quote : c == '"' || c == '\'') {
      quote = quote != '\0' ? '\0' : c;
      open = true;
    } else if (quote == '\0' && (c == ' ' || c == '\t' || c == '\n')) {
      if (open) words.push_back(std::exchange(word, {}));
      open = false;
    } else {
      word += c;
      open = true;
    }
  }
  if (open) words.push_back(word);
  return words;
}

bool is_fortran(const std::string& file) {
  return has_suffix(file, {".f", ".F", ".for", ".FOR", ".ftn", ".f77", ".f90", ".F90", ".f95", ".F95", ".f03",
                           ".F03", ".f08", ".F08"});
}

bool is_cpp(const std::string& file) {
  return has_suffix(file, {".cc", ".cpp", ".cxx", ".c++", ".C", ".CPP", ".cp", ".hpp", ".hxx", ".hh", ".H"});
}

std::vector<std::string> Compilation::for_libclang() const {
  std::vector<std::string> words{"-w"};
  if (!directory.empty()) words.push_back("-working-directory=" + directory);
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const bool has_value = takes_word(flags[i]) && i + 1 < flags.size();
    if (matters_to_clang(flags[i])) {
      words.push_back(flags[i]);
      if (has_value) words.push_back(flags[i + 1]);
    }
    if (has_value) ++i;
  }
  for (const std::string& path : wrapper_paths(compiler)) words.push_back(path);
  for (const std::string& path : wrapper_paths("mpicc.mpich")) words.push_back(path);
  return words;
}

Result<Compilation> compilation_of(const Request& request, const std::string& unit) {
  Compilation how{.compiler = default_compiler(unit), .flags = {}, .directory = {}};
  if (request.flags) {
    how.flags = split_words(*request.flags);
  } else if (!request.compile_commands.empty()) {
    auto found = from_database(request, unit);
    if (!found) return found.error();
    how = found.value();
  }
  if (!request.compiler.empty()) how.compiler = request.compiler;
  how.is_c89 = says_c89(how.flags);
  return how;
}

std::optional<std::string> complaint(const Compilation& how, const std::string& unit,
                                     const std::string& text) {
  std::string folder = (fs::temp_directory_path() / "nplus1-patch-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return "no temporary folder " + folder;
  // The same name, since flags and suffixes go by it; the source's own folder is where its includes are looked for.
  const fs::path copy = fs::path{folder} / fs::path{unit}.filename();
  std::ofstream{copy, std::ios::binary} << text;
  std::vector<std::string> command{how.compiler, "-fsyntax-only", "-iquote",
                                   fs::absolute(unit).parent_path().string()};
  command.insert(command.end(), how.flags.begin(), how.flags.end());
  command.push_back(copy.string());
  processes::Output outcome = run(command, how.directory);
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  if (outcome.exit_code == 0) return std::nullopt;
  return outcome.text.empty() ? how.compiler + " failed" : outcome.text;
}

}  // namespace nplus1::overlap::patch
