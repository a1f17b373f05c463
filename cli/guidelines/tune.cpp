// `nplus1 guidelines tune`: a library to preload that runs the faster mock-up in place of a function, by
// profile, and the measurement that shows what it is good for.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>

#include "analyses/installation.hpp"
#include "cli/failure.hpp"
#include "cli/guidelines/guidelines.hpp"
#include "cli/guidelines/options.hpp"
#include "cli/guidelines/variants.hpp"
#include "cli/program.hpp"
#include "guidelines/algorithms.hpp"
#include "guidelines/tuned_file.hpp"
#include "guidelines/tuning.hpp"
#include "report/files.hpp"

namespace nplus1::cli {
namespace fs = std::filesystem;
namespace {

constexpr const char* kGuidelinesTuneExamples =
    "  nplus1 guidelines tune measured -o libtuned.so\n"
    "  mpirun -genv LD_PRELOAD $PWD/libtuned.so -np 8 ./app\n"
    "  tail libtuned.so                         shows what it replaces\n";
constexpr const char* kNothingMade = "no library was made";

struct TuneWords {
  std::string folder;
  std::string output;
  std::string library;
  std::string budget = "2min";
  bool quiet = false;
};

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

fs::path write_library(const TuneWords& words, const std::string& profile, bool open_mpi) {
  const fs::path source = words.library.empty() ? or_fail(analyses::find_tuned_library(open_mpi),
                                                          ExitCode::kUnavailable, kNothingMade)
                                                : fs::path{words.library};
  std::ifstream in{source, std::ios::binary};
  const std::string bytes{std::istreambuf_iterator<char>{in}, {}};
  if (bytes.empty())
    throw Failure{ExitCode::kNoInput, source.string() + " can't be read", kNothingMade, "correct --library"};
  or_fail(report::write_file(words.output, guidelines::with_profile(bytes, profile)), ExitCode::kCantCreate,
          kNothingMade);
  return fs::absolute(words.output);
}

void print_effects(const MeasuredFolder& measured, const std::vector<guidelines::Cell>& cells,
                   const guidelines::Samples& before, const guidelines::Samples& after) {
  fmt::print("\n{:<22} {:>8} {:>12} {:>12} {:>7}\n", "measured again", "bytes", "before", "tuned", "faster");
  for (const guidelines::Cell& cell : cells) {
    const Effect e = effect_of(cell, measured.measuring.launch.ranks, before, after);
    fmt::print("MPI_{:<18} {:>8} {:>9.2f} us {:>9.2f} us {:>5.2f} x  {}\n", cell.original, cell.size,
               1e6 * e.before, 1e6 * e.after, e.before / e.after,
               e.removes_violation() ? "violation gone"
               : e.faster()          ? "better"
                                     : "no significant effect");
  }
}

int tune(const TuneWords& words) {
  MeasuredFolder measured = open_measured(words.folder);
  measured.measuring.budget = parse_duration(words.budget);
  measured.measuring.quiet = words.quiet;
  auto cells = violated_patterns(measured);
  std::erase_if(cells, [](const auto& cell) { return !guidelines::can_be_replaced(cell.original); });
  const std::string profile = profile_of(measured.analysis);
  if (profile.empty()) {
    check_nothing_was_missed(measured);
    fmt::print("no pattern guideline of a collective was found violated: there is nothing to replace\n");
    return static_cast<int>(ExitCode::kOk);
  }
  const fs::path library = write_library(words, profile, guidelines::is_open_mpi(measured.library()));
  fmt::print("{}: function, processes, sizes from and to, replaced by\n{}", library.string(), profile);
  // As a fresh measurement each time: the library may be another.
  std::error_code error;
  fs::remove_all(measured.path / "tuned", error);
  const auto samples =
      measure_variants(measured, cells, {{"before", {}, {}}, {"after", {}, library.string()}}, "tuned");
  print_effects(measured, cells, samples[0], samples[1]);
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace

void add_guidelines_tune(CLI::App& guidelines, const Registration& registration) {
  CLI::App* part = guidelines.add_subcommand("tune", "Make a library to preload that runs what is faster");
  set_manual(*part, {"nplus1 guidelines tune DIR -o LIB.so [options]", kGuidelinesTuneExamples});
  const auto words = std::make_shared<TuneWords>();
  part->add_option("folder", words->folder, "What nplus1 guidelines run measured")
      ->required()
      ->type_name("DIR");
  part->add_option("-o,--output", words->output, "The library (replaces it)")
      ->required()
      ->type_name("LIB.so");
  part->add_option("--library", words->library, "libnplus1-tuned.so, built for another MPI library")
      ->type_name("FILE");
  part->add_option("--budget", words->budget, "How long measuring its effect may take [2min]")
      ->type_name("TIME");
  part->add_flag("-q,--quiet", words->quiet, "No progress");
  part->callback([registration, words] { registration.chosen = [words] { return tune(*words); }; });
}

}  // namespace nplus1::cli
