#include "cli/run/waiting_teams.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <thread>

#include "analyses/installation.hpp"
#include "cli/run/elf_file.hpp"
#include "cli/run/mpi_library.hpp"

namespace nplus1::cli {
namespace {

constexpr std::string_view kTold[] = {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"};

bool says_how(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return std::any_of(std::begin(kTold), std::end(kTold),
                       [&](std::string_view name) { return word.starts_with(name); });
  });
}

bool has_regions(const Section& section) {
  if (section.command.empty()) return false;
  const std::string& program = section.command.front();
  const auto facts = read_elf(program.find('/') == std::string::npos ? analyses::find_in_path(program)
                                                                     : std::filesystem::path{program});
  return facts && std::any_of(facts->imported.begin(), facts->imported.end(),
                              [](const std::string& name) { return name.starts_with("GOMP_parallel"); });
}

}  // namespace

std::optional<std::pair<std::string, std::string>> how_teams_wait(const std::vector<Section>& sections,
                                                                  const std::vector<std::string>& mpi_words) {
  const bool told =
      says_how(mpi_words) ||
      std::any_of(std::begin(kTold), std::end(kTold),
                  [](std::string_view name) { return std::getenv(std::string{name}.c_str()) != nullptr; }) ||
      std::any_of(sections.begin(), sections.end(), [](const Section& s) { return says_how(s.options); });
  if (told || !option_of_hosts(mpi_words, sections).empty()) return std::nullopt;
  const auto cores = static_cast<std::int32_t>(std::max(1U, std::thread::hardware_concurrency()));
  if (total_ranks(sections) < cores) return std::nullopt;  // with the simulator's, each process has one
  if (std::none_of(sections.begin(), sections.end(), has_regions)) return std::nullopt;
  return std::pair{std::string{kTold[0]}, std::string{"passive"}};
}

}  // namespace nplus1::cli
