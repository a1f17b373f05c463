// `nplus1 check`: which of a program's MPI functions take virtual time, said before anything runs.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/failure.hpp"
#include "cli/machine/mpi_imports.hpp"
#include "cli/program.hpp"
#include "cli/run/program_check.hpp"
#include "cli/to_stderr.hpp"
#include "cli/verbs.hpp"
#include "report/files.hpp"

namespace nplus1::cli {
namespace fs = std::filesystem;
namespace {

constexpr const char* kCheckSchema = "nplus1-check/1";
constexpr std::size_t kWidth = 100;

struct CallsWords {
  std::string program;
  std::string json;
};

/// What the kinds of functions.txt are called.
std::string title_of(std::string_view kind) {
  static const std::map<std::string_view, std::string> titles{
      {"spawn", "dynamic processes"},
      {"fault-tolerance", "fault tolerance"},
  };
  const auto found = titles.find(kind);
  return found == titles.end() ? std::string{kind} : found->second;
}

/// Names after a title, in lines that fit a screen.
void print_names(const std::string& title, const std::vector<std::string>& names) {
  if (names.empty()) return;
  fmt::print("{}: {}\n", title, names.size());
  std::string line = "   ";
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (line.size() + names[i].size() + 2 > kWidth) {
      fmt::print("{}\n", line);
      line = "   ";
    }
    line += ' ' + names[i] + (i + 1 < names.size() ? "," : "");
  }
  fmt::print("{}\n", line);
}

std::vector<std::string> names_of(const MpiImports& found, Treatment treatment, std::string_view kind = {}) {
  std::vector<std::string> names;
  for (const MpiFunction& f : found.functions)
    if (f.treatment == treatment && (kind.empty() || f.kind == kind)) names.emplace_back(f.name);
  return names;
}

void print(const CallsWords& words, const MpiImports& found) {
  const auto counted = names_of(found, Treatment::kUnmodelled);
  if (found.functions.empty() && found.unknown.empty()) {
    fmt::print("{} imports no MPI function.\n", words.program);
  } else {
    fmt::print("{} can call {} MPI functions.\n", words.program,
               found.functions.size() + found.unknown.size());
  }
  print_names("Modelled, in virtual time", names_of(found, Treatment::kModelled));
  print_names("Local, at the CPU time that they take", names_of(found, Treatment::kLocal));
  std::map<std::string_view, int> kinds;
  for (const MpiFunction& f : found.functions)
    if (f.treatment == Treatment::kUnmodelled) ++kinds[f.kind];
  for (const auto& [kind, count] : kinds)
    print_names(fmt::format("Not modelled, passed on to MPI and counted ({})", title_of(kind)),
                names_of(found, Treatment::kUnmodelled, kind));
  print_names("Not known to this version, and not seen", found.unknown);
  if (found.of.size() > 1) {
    std::vector<std::string> files;
    for (const fs::path& file : found.of) files.push_back(file.string());
    print_names("Called from", files);
  }
  if (found.loads_more)
    fmt::print("It may load further libraries while it runs (dlopen): what those call is not listed here.\n");
  if (counted.empty() && found.unknown.empty() && !found.functions.empty())
    fmt::print("All of its communication takes virtual time.\n");
  else if (!counted.empty())
    fmt::print("A run prints the share of virtual time that calls which are not modelled have taken.\n");
}

std::string json_of(const CallsWords& words, const MpiImports& found) {
  nlohmann::ordered_json json;
  json["schema"] = kCheckSchema;
  json["program"] = words.program;
  json["modelled"] = names_of(found, Treatment::kModelled);
  json["local"] = names_of(found, Treatment::kLocal);
  json["unmodelled"] = nlohmann::ordered_json::array();
  for (const MpiFunction& f : found.functions)
    if (f.treatment == Treatment::kUnmodelled)
      json["unmodelled"].push_back({{"name", f.name}, {"kind", f.kind}});
  json["unknown"] = found.unknown;
  json["files"] = nlohmann::ordered_json::array();
  for (const fs::path& file : found.of) json["files"].push_back(file.string());
  json["loads_more"] = found.loads_more;
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

int check_calls(const CallsWords& words) {
  const ProgramFiles files = files_of_program(words.program);
  if (!files.note.empty()) to_stderr("nplus1: note: {}\n", files.note);
  const MpiImports found = mpi_imports(files.files);
  print(words, found);
  if (!words.json.empty()) {
    const auto written = report::write_file(words.json, json_of(words, found));
    if (!written)
      throw Failure{ExitCode::kCantCreate, written.error().what, "nothing was written",
                    written.error().remedy};
  }
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace

void add_check(const Registration& registration) {
  CLI::App* verb = registration.app.add_subcommand(
      "check", "Say which of a program's MPI functions take virtual time, without running it");
  set_manual(*verb, {"nplus1 check PROGRAM [--json FILE]", "  nplus1 check ./app\n"});
  const auto words = std::make_shared<CallsWords>();
  verb->add_option("PROGRAM", words->program, "A program, or a shared library")->required();
  verb->add_option("--json", words->json, "Also write the lists to this file (replaces it)")
      ->type_name("FILE");
  verb->callback([registration, words] { registration.chosen = [words] { return check_calls(*words); }; });
}

}  // namespace nplus1::cli
