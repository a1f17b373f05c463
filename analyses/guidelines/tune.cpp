// A library to preload that runs the faster mock-up in place of a function, by profile, and the measurement that shows what
// it is good for.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "analyses/guidelines/catalogue.hpp"
#include "analyses/guidelines/follow_up.hpp"
#include "analyses/installation.hpp"
#include "guidelines/algorithms.hpp"
#include "guidelines/tuned_file.hpp"
#include "guidelines/tuning.hpp"
#include "report/files.hpp"
#include "support/stopped.hpp"

namespace nplus1::analyses {
namespace fs = std::filesystem;
namespace {

constexpr const char* kNothingMade = "no library was made";

/// Mock-ups that came with nplus1, of collectives: the library has no others.
bool is_in_library(const guidelines::Catalogue& shipped, const std::string& mock_up) {
  return guidelines::can_be_replaced(guidelines::original_of(mock_up)) &&
         std::any_of(shipped.guidelines.begin(), shipped.guidelines.end(),
                     [&](const guidelines::Guideline& g) { return g.mock_up == mock_up; });
}

std::string profile_of(const guidelines::Analysis& analysis) {
  const guidelines::Catalogue shipped = catalogue_of({});
  std::string text;
  for (const auto& range :
       tuned_ranges(analysis, [&](const std::string& mock_up) { return is_in_library(shipped, mock_up); }))
    text +=
        fmt::format("{} {} {} {} {}\n", range.original, range.processes, range.from, range.to, range.mock_up);
  return text;
}

fs::path write_library(const TuningOptions& options, const std::string& profile, bool open_mpi) {
  const fs::path source = options.library.empty()
                              ? need(find_tuned_library(open_mpi), Fault::kUnavailable, kNothingMade)
                              : fs::path{options.library};
  std::ifstream in{source, std::ios::binary};
  const std::string bytes{std::istreambuf_iterator<char>{in}, {}};
  if (bytes.empty())
    throw Stopped{{source.string() + " can't be read", "correct --library", Fault::kInput}, kNothingMade};
  need(report::write_file(options.output, guidelines::with_profile(bytes, profile)), Fault::kOutput,
       kNothingMade);
  return fs::absolute(options.output);
}

}  // namespace

TunedLibrary make_tuned_library(const TuningOptions& options) {
  TunedLibrary tuned;
  const std::string name = fs::absolute(options.output).string();
  if (name.find_first_of(" :\t\n") != name.npos)
    throw Stopped{{name + " can't be preloaded: in LD_PRELOAD blanks and colons are between libraries",
                   "choose a file without them, in a folder without them, with -o", Fault::kUsage},
                  kNothingMade};
  tuned.measured = open_measured(options.folder);
  tuned.cells = violated_patterns(tuned.measured);
  std::erase_if(tuned.cells, [](const auto& cell) {
    return cell.size == 0 || !guidelines::can_be_replaced(cell.original);
  });
  tuned.profile = profile_of(tuned.measured.analysis);
  if (tuned.profile.empty())
    tuned.undecided = undecided_in(tuned.measured);
  else
    tuned.library = write_library(options, tuned.profile, guidelines::is_open_mpi(tuned.measured.library()));
  return tuned;
}

std::vector<TunedEffect> measure_tuned_library(const TunedLibrary& tuned, double budget,
                                               const VariantsWatch& watch) {
  MeasuredFolder measured = tuned.measured;
  measured.measuring.budget = budget;
  // As a fresh measurement each time: the library may be another.
  std::error_code error;
  fs::remove_all(measured.path / "tuned", error);
  const auto times = measure_variants(
      measured, tuned.cells, {{"before", {}, {}}, {"after", {}, tuned.library.string()}}, "tuned", watch);
  if (!times[1].failure.empty())
    throw Stopped{
        {fmt::format("with {}, {}", tuned.library.string(), times[1].failure),
         "nplus1 guidelines confirm measures the mock-ups again; whoever built the MPI library should know",
         Fault::kUnavailable},
        "the library is of no use here: do not preload it"};
  std::vector<TunedEffect> effects;
  for (const guidelines::Cell& cell : tuned.cells)
    effects.push_back(
        {cell, effect_of(cell, measured.measuring.launch.ranks, times[0].samples, times[1].samples)});
  return effects;
}

}  // namespace nplus1::analyses
