#include "cli/machine/mpi_imports.hpp"

#include <array>
#include <cctype>
#include <map>
#include <set>

#include "cli/run/elf_file.hpp"

namespace nplus1::cli {
namespace fs = std::filesystem;
namespace {

constexpr std::array kFunctions{
#include "cli/machine/mpi_functions.inc"
};

std::string lower(std::string_view text) {
  std::string result{text};
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// Fortran's compilers write a name in one case, with underscores behind it; the bindings of mpi_f08 with words
/// of their own before those.
std::string stem_of(std::string_view symbol) {
  std::string name = lower(symbol);
  const std::size_t end = name.find_last_not_of('_');
  if (end == std::string::npos || end + 1 == name.size()) return {};  // a C name has no underscore there
  name.resize(end + 1);
  for (const std::string_view ending : {"_f08ts", "_f08", "_cdesc"})
    if (name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
  return name;
}

const std::map<std::string, const MpiFunction*>& by_lower_name() {
  static const auto functions = [] {
    std::map<std::string, const MpiFunction*> all;
    for (const MpiFunction& f : kFunctions) all.emplace(lower(f.name), &f);
    return all;
  }();
  return functions;
}

bool begins_as_mpi(std::string_view symbol) {
  if (symbol.starts_with('P')) symbol.remove_prefix(1);
  return symbol.starts_with("MPI_") || symbol.starts_with("MPIX_");
}

}  // namespace

std::optional<MpiFunction> mpi_function_of(std::string_view symbol) {
  std::string name = begins_as_mpi(symbol) ? lower(symbol) : stem_of(symbol);
  if (name.starts_with("pmpi")) name.erase(0, 1);
  const auto found = by_lower_name().find(name);
  if (found == by_lower_name().end()) return std::nullopt;
  return *found->second;
}

MpiImports mpi_imports(const std::vector<fs::path>& files) {
  MpiImports result;
  std::map<std::string_view, MpiFunction> functions;
  std::set<std::string> unknown;
  for (const fs::path& file : files) {
    const auto facts = read_elf(file);
    if (!facts || facts->contains_mpi || facts->binds_fortran) continue;
    bool calls = false, loads = false;
    for (const std::string& name : facts->imported) {
      loads = loads || name == "dlopen";
      if (const auto function = mpi_function_of(name)) {
        functions.emplace(function->name, *function);
        calls = true;
      } else if (begins_as_mpi(name)) {
        unknown.insert(name);
        calls = true;
      }
    }
    if (calls) result.of.push_back(file);
    result.loads_more = result.loads_more || (loads && (calls || file == files.front()));
  }
  for (const auto& [name, function] : functions) result.functions.push_back(function);
  result.unknown.assign(unknown.begin(), unknown.end());
  return result;
}

}  // namespace nplus1::cli
