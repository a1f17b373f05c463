#include "cli/run/launcher_line.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string_view>

#include "analyses/installation.hpp"
#include "cli/run/launcher_options.hpp"
#include "support/processes/programs.hpp"

namespace nplus1::cli {
namespace fs = std::filesystem;
namespace {

using Words = std::vector<std::string>;

constexpr std::chrono::seconds kVersionLimit{10};
constexpr std::int32_t kNotSaid = 0;
constexpr std::string_view kPreload = "LD_PRELOAD";

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// mpirun and mpiexec are names of many: a link's target says which, else the program itself.
Result<LauncherKind> kind_of_mpirun(const fs::path& found) {
  std::error_code none;
  const std::string file = fs::canonical(found, none).filename().string();
  if (contains(file, "hydra") || contains(file, "mpich")) return LauncherKind::kHydra;
  if (contains(file, "openmpi") || file == "orterun") return LauncherKind::kOpenMpi;
  if (file == "prterun") return LauncherKind::kPrrte;
  const std::string said = processes::capture({found.string(), "--version"}, kVersionLimit, true).text;
  if (contains(said, "HYDRA build details")) return LauncherKind::kHydra;
  if (contains(said, "Open MPI")) return LauncherKind::kOpenMpi;
  return Error{found.string() + " is neither MPICH's mpirun nor Open MPI's, as far as it says",
               "nplus1 run -n N -- PROGRAM starts the program by the MPI library's own mpirun"};
}

std::string without_dashes(const std::string& word) {
  return word.substr(std::min(word.find_first_not_of('-'), word.size()));
}

/// The words of one section, from left to right.
class Reader {
 public:
  Reader(const LauncherOptions& known, const Words& words) : known_{known}, words_{words} {
    section_.ranks = kNotSaid;
  }

  Result<Section> read() {
    while (at_ < words_.size() && words_[at_].size() > 1 && words_[at_].front() == '-') {
      if (known_.getopt && words_[at_] == "--") {
        ++at_;
        break;
      }
      const auto taken = known_.getopt && words_[at_][1] != '-' ? take_letters() : take_word();
      if (!taken) return taken.error();
    }
    if (at_ >= words_.size())
      return Error{std::string{"the line of "} + known_.name + " names no program",
                   "write it as it is without nplus1: nplus1 run -- mpirun -n 4 ./app"};
    section_.command.assign(words_.begin() + static_cast<std::ptrdiff_t>(at_), words_.end());
    return std::move(section_);
  }

 private:
  [[nodiscard]] Error not_understood(const std::string& option) const {
    const char* how = known_.getopt
                          ? "write it as --NAME=VALUE, which is understood whatever it is, or leave it out"
                          : "nplus1 run -n N --mpi-args 'OPTIONS' -- PROGRAM hands any options on";
    return {"option " + option + " of " + known_.name + " is not understood", how};
  }

  [[nodiscard]] std::optional<Error> set_ranks(const std::string& text) {
    const auto ranks = parse_ranks(text);
    if (!ranks) return ranks.error();
    section_.ranks = ranks.value();
    return std::nullopt;
  }

  /// Moves the word at at_ and `values` more.
  Result<bool> keep(std::size_t values) {
    if (at_ + values >= words_.size())
      return Error{"option " + words_[at_] + " of " + known_.name + " lacks its value",
                   "write it as " + std::string{known_.name} + " expects it"};
    const auto from = words_.begin() + static_cast<std::ptrdiff_t>(at_);
    section_.options.insert(section_.options.end(), from, from + static_cast<std::ptrdiff_t>(values + 1));
    at_ += values + 1;
    return true;
  }

  Result<bool> take_ranks(const std::string& value, std::size_t words) {
    if (const auto error = set_ranks(value)) return *error;
    at_ += words;
    return true;
  }

  /// -np 4, --hosts a,b, --ntasks=4
  Result<bool> take_word() {
    const std::string& word = words_[at_];
    const std::size_t equals = word.find('=');
    const bool joined = equals != std::string::npos;
    const auto found = known_.options.find(without_dashes(word.substr(0, equals)));
    if (found == known_.options.end() || found->second == Takes::kRefused)
      return joined && found == known_.options.end() && known_.getopt ? keep(0) : not_understood(word);
    if (found->second == Takes::kRanks) {
      if (joined) return take_ranks(word.substr(equals + 1), 1);
      return at_ + 1 < words_.size() ? take_ranks(words_[at_ + 1], 2) : keep(1);
    }
    if (joined) return keep(0);
    return keep(values_after(found->second));
  }

  [[nodiscard]] std::size_t values_after(Takes takes) const {
    if (takes == Takes::kVariable)
      return at_ + 1 < words_.size() && words_[at_ + 1].find('=') != std::string::npos ? 1 : 2;
    return takes == Takes::kTwo ? 2 : takes == Takes::kOne ? 1 : 0;
  }

  /// -n16, -lun 16: letters, of which the last may have a value.
  Result<bool> take_letters() {
    const std::string word = words_[at_];
    for (std::size_t i = 1; i < word.size(); ++i) {
      const auto found = known_.options.find(word.substr(i, 1));
      if (found == known_.options.end() || found->second == Takes::kRefused) return not_understood(word);
      if (found->second == Takes::kNothing) continue;
      const bool last = i + 1 == word.size();
      if (found->second != Takes::kRanks) return keep(last && found->second == Takes::kOne ? 1 : 0);
      if (last && at_ + 1 == words_.size()) return keep(1);
      if (i > 1) section_.options.push_back(word.substr(0, i));
      return last ? take_ranks(words_[at_ + 1], 2) : take_ranks(word.substr(i + 1), 1);
    }
    return keep(0);
  }

  const LauncherOptions& known_;
  const Words& words_;
  std::size_t at_ = 0;
  Section section_;
};

/// A rank's own libraries are named to nplus1, which puts its own before them.
std::optional<Error> preloads_itself(const Section& section) {
  for (const std::string& word : section.options) {
    const std::size_t at = word.find(kPreload);
    if (at == std::string::npos) continue;
    const std::size_t end = at + kPreload.size();
    const bool whole = (at == 0 || word[at - 1] == ',' || word[at - 1] == '=') &&
                       (end == word.size() || word[end] == '=' || word[end] == ',');
    if (whole)
      return Error{"the launcher's line sets LD_PRELOAD, which nplus1 needs to see the ranks",
                   "set LD_PRELOAD for nplus1 itself: ranks get it, behind nplus1's library"};
  }
  return std::nullopt;
}

/// What srun does where it is not told.
std::int32_t ranks_of_allocation(LauncherKind kind) {
  const char* const text = kind == LauncherKind::kSlurm ? std::getenv("SLURM_NTASKS") : nullptr;
  const auto ranks = text == nullptr ? Result<std::int32_t>{kNotSaid} : parse_ranks(text);
  return ranks ? ranks.value() : kNotSaid;
}

std::optional<Error> settle_ranks(LauncherLine& line, std::optional<std::int32_t> asked) {
  std::vector<Section>& sections = line.sections;
  const LauncherKind kind = line.launcher.kind;
  for (std::size_t i = 1; i < sections.size(); ++i)  // as Hydra counts
    if (sections[i].ranks == kNotSaid && kind == LauncherKind::kHydra) sections[i].ranks = 1;
  if (sections.size() == 1 && sections[0].ranks == kNotSaid)
    sections[0].ranks = asked.value_or(ranks_of_allocation(kind));
  if (std::any_of(sections.begin(), sections.end(), [](const Section& s) { return s.ranks == kNotSaid; }))
    return Error{
        std::string{"the line of "} + options_of(kind).name + " does not say how many ranks there are",
        "say it there with -n, or before it: nplus1 run -n 16 -- " + line.launcher.words.front() + " ..."};
  const std::int32_t total = total_ranks(sections);
  if (total > kMaxRanks)
    return Error{"the sections together have more than " + std::to_string(kMaxRanks) + " ranks", "use fewer"};
  if (asked && *asked != total)
    return Error{"nplus1 run is told of " + std::to_string(*asked) + " ranks, and the line of " +
                     options_of(kind).name + " starts " + std::to_string(total),
                 "leave out nplus1's -n: the launcher's own counts"};
  return std::nullopt;
}

Words names_of(const EnvironmentVariables& environment, const Words& handed_on) {
  Words names;
  for (const auto& [name, value] : environment) names.push_back(name);
  names.insert(names.end(), handed_on.begin(), handed_on.end());
  return names;
}

/// srun has one list of variables: the user's, taken out of `options`, with ours behind. ALL where there is none.
Result<std::string> export_of_srun(Words& options, const std::string& preload, const Words& names) {
  const char* const usual = std::getenv("SLURM_EXPORT_ENV");
  std::string list = usual != nullptr && *usual != '\0' ? usual : "ALL";
  for (auto option = options.begin(); option != options.end();) {
    const bool apart = *option == "--export";
    if (!apart && option->rfind("--export=", 0) != 0) {
      ++option;
      continue;
    }
    list = apart ? *(option + 1) : option->substr(std::string_view{"--export="}.size());
    option = options.erase(option, option + (apart ? 2 : 1));
  }
  if (list == "NONE" || list == "NIL")
    return Error{"srun is to hand no variables to the ranks (--export=" + list +
                     ", or SLURM_EXPORT_ENV), which nplus1 needs to reach them",
                 "name what they need instead, e.g. --export=PATH,HOME"};
  if (contains(preload, ","))
    return Error{"srun cannot hand on LD_PRELOAD with a comma in it: " + preload,
                 "install nplus1 at a path without commas"};
  for (const std::string& name : names) list += "," + name;
  return "--export=" + list + ",LD_PRELOAD=" + preload;
}

/// What hands variables to the ranks, in the launcher's words.
Result<Words> handing_on(LauncherKind kind, Words& options, const std::string& preload, const Words& names) {
  if (kind == LauncherKind::kSlurm) {
    const auto list = export_of_srun(options, preload, names);
    if (!list) return list.error();
    return Words{list.value()};
  }
  if (kind == LauncherKind::kFlux)
    return Words{"--env=LD_PRELOAD=" + preload};  // the rest is handed on anyway
  Words words;
  if (kind == LauncherKind::kPrrte)  // on this host, Open MPI's mpirun hands on its whole environment
    for (const std::string& name : names) words.insert(words.end(), {"-x", name});
  words.insert(words.end(), {"-x", "LD_PRELOAD=" + preload});
  return words;
}

}  // namespace

namespace {

/// By the name alone, which says nothing of mpirun.
std::optional<LauncherKind> kind_of_name(const std::string& name) {
  static const std::map<std::string_view, LauncherKind> names{{"srun", LauncherKind::kSlurm},
                                                              {"flux", LauncherKind::kFlux},
                                                              {"prun", LauncherKind::kPrrte},
                                                              {"prterun", LauncherKind::kPrrte},
                                                              {"mpiexec.hydra", LauncherKind::kHydra},
                                                              {"mpirun.hydra", LauncherKind::kHydra},
                                                              {"mpiexec.mpich", LauncherKind::kHydra},
                                                              {"mpirun.mpich", LauncherKind::kHydra},
                                                              {"mpiexec.openmpi", LauncherKind::kOpenMpi},
                                                              {"mpirun.openmpi", LauncherKind::kOpenMpi},
                                                              {"orterun", LauncherKind::kOpenMpi}};
  const auto found = names.find(name);
  return found == names.end() ? std::nullopt : std::optional{found->second};
}

}  // namespace

Result<std::optional<Launcher>> launcher_of(const Words& words) {
  const std::string name = words.empty() ? "" : fs::path{words.front()}.filename().string();
  auto kind = kind_of_name(name);
  const bool many = name == "mpirun" || name == "mpiexec";
  if (!kind && !many) return std::optional<Launcher>{};
  if (kind == LauncherKind::kFlux && (words.size() < 2 || words[1] != "run"))
    return Error{
        "of flux, only flux run starts a job that nplus1 can watch",
        "nplus1 run -- flux run -n 16 ./app; in a batch script, before the line that starts the program"};
  const fs::path found = analyses::find_in_path(words.front());
  if (found.empty())
    return Error{"launcher " + words.front() + " was not found", "check PATH, or give a path",
                 Fault::kUnavailable};
  if (many) {
    const auto asked = kind_of_mpirun(found);
    if (!asked) return asked.error();
    kind = asked.value();
  }
  Launcher launcher{*kind, {words.front()}};
  if (kind == LauncherKind::kFlux) launcher.words.push_back(words[1]);
  return std::optional{std::move(launcher)};
}

Result<LauncherLine> take_apart(const Launcher& launcher, const Words& words,
                                std::optional<std::int32_t> ranks) {
  const LauncherOptions& known = options_of(launcher.kind);
  LauncherLine line{launcher, {}};
  for (auto start = words.begin();;) {
    const auto colon = known.sections ? std::find(start, words.end(), ":") : words.end();
    const Words own{start, colon};
    auto section = Reader{known, own}.read();
    if (!section) return section.error();
    if (const auto error = preloads_itself(section.value())) return *error;
    line.sections.push_back(std::move(section).value());
    if (colon == words.end()) break;
    start = colon + 1;
  }
  if (const auto error = settle_ranks(line, ranks)) return *error;
  return line;
}

Result<Words> observed_line(const LauncherLine& line, const std::string& preload,
                            const EnvironmentVariables& environment, const Words& handed_on) {
  Words words;
  if (!environment.empty()) words.emplace_back("/usr/bin/env");
  for (const auto& [name, value] : environment) words.push_back(name + "=" + value);
  words.insert(words.end(), line.launcher.words.begin(), line.launcher.words.end());
  for (const Section& section : line.sections) {
    if (&section != &line.sections.front()) words.emplace_back(":");
    Words options = section.options;
    const auto ours = handing_on(line.launcher.kind, options, preload, names_of(environment, handed_on));
    if (!ours) return ours.error();
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), ours.value().begin(), ours.value().end());
    words.insert(words.end(), {"-n", std::to_string(section.ranks)});
    words.insert(words.end(), section.command.begin(), section.command.end());
  }
  return words;
}

}  // namespace nplus1::cli
