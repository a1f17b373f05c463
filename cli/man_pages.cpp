// Writes what is made of the declarations that --help shows: `nplus1-man-pages FOLDER` makes FOLDER/man and
// FOLDER/completions.
#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/completions.hpp"
#include "cli/program.hpp"
#include "cli/verbs.hpp"

namespace {

using nplus1::cli::manual_of;

/// For roff: backslashes, and lines that begin with a control character.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
      out += c;
    }
  }
  return out;
}

void print_options(std::ostream& out, const CLI::App& app) {
  out << ".SH OPTIONS\n";
  for (const CLI::Option* option : app.get_options()) {
    out << ".TP\n.B " << escaped(option->get_name(false, true)) << " " << escaped(option->get_type_name())
        << "\n"
        << escaped(option->get_description()) << "\n";
    if (!option->get_envname().empty()) out << "(environment: " << option->get_envname() << ")\n";
  }
}

void print_verbs(std::ostream& out, CLI::App& app, const std::string& name) {
  const auto verbs = nplus1::cli::verbs_of(app);
  if (verbs.empty()) return;
  out << ".SH VERBS\n";
  for (const CLI::App* verb : verbs) {
    out << ".TP\n.BR " << escaped(name + "-" + verb->get_name()) << " (1)\n"
        << escaped(verb->get_description()) << "\n";
  }
}

constexpr const char* kExitStatus =
    ".SH EXIT STATUS\nThat of the application's mpirun; or 64 usage, 65 program unsuitable, 66 program "
    "missing, "
    "69 a part of nplus1 or mpirun missing, 70 a bug, 73 the output folder can't be made; doctor: 1 when "
    "runs don't "
    "work here.\n";

bool print_page(const std::filesystem::path& folder, CLI::App& app, const std::string& name) {
  std::ofstream out{folder / (name + ".1")};
  const auto manual = manual_of(app);
  out << ".TH " << name << " 1 \"\" \"nplus1 " NPLUS1_VERSION "\"\n"
      << ".SH NAME\n"
      << escaped(name) << " \\- " << escaped(app.get_description()) << "\n"
      << ".SH SYNOPSIS\n"
      << escaped(manual.usage) << "\n"
      << ".SH EXAMPLES\n.nf\n"
      << escaped(manual.examples) << ".fi\n";
  print_verbs(out, app, name);
  print_options(out, app);
  out << kExitStatus;
  out.close();
  return !out.fail();
}

bool write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream out{file};
  out << text;
  out.close();
  return !out.fail();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  const std::filesystem::path folder = std::filesystem::path{argv[1]} / "man";
  const std::filesystem::path completions = std::filesystem::path{argv[1]} / "completions";
  for (const auto& needed : {folder, completions}) std::filesystem::create_directories(needed);
  CLI::App app;
  nplus1::cli::Action unused;
  nplus1::cli::describe_program(app);
  nplus1::cli::add_verbs({app, unused, {}, false});
  bool good = print_page(folder, app, "nplus1");
  for (CLI::App* verb : nplus1::cli::verbs_of(app)) {
    const std::string name = "nplus1-" + verb->get_name();
    good = print_page(folder, *verb, name) && good;
    for (CLI::App* subverb : nplus1::cli::verbs_of(*verb))
      good = print_page(folder, *subverb, name + "-" + subverb->get_name()) && good;
  }
  good = write(completions / "nplus1", nplus1::cli::bash_completions(app)) && good;
  good = write(completions / "_nplus1", nplus1::cli::zsh_completions(app)) && good;
  good = write(completions / "nplus1.fish", nplus1::cli::fish_completions(app)) && good;
  return good ? 0 : 73;
}
