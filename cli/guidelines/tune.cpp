// `nplus1 guidelines tune`: a library to preload that runs the faster mock-up in place of a function, by
// profile, and the measurement that shows what it is good for.
#include <fmt/format.h>

#include <memory>

#include "analyses/guidelines/follow_up.hpp"
#include "cli/failure.hpp"
#include "cli/guidelines/guidelines.hpp"
#include "cli/guidelines/options.hpp"
#include "cli/guidelines/watch.hpp"
#include "cli/program.hpp"

namespace nplus1::cli {
namespace {

constexpr const char* kGuidelinesTuneExamples =
    "  nplus1 guidelines tune measured -o libtuned.so\n"
    "  mpirun -genv LD_PRELOAD $PWD/libtuned.so -np 8 ./app\n"
    "  tail libtuned.so                         shows what it replaces\n";

struct TuneWords {
  analyses::TuningOptions options;
  std::string budget = "2min";
  bool quiet = false;
};

void print_effects(const std::vector<analyses::TunedEffect>& effects) {
  fmt::print("\n{:<22} {:>8} {:>12} {:>12} {:>7}\n", "measured again", "bytes", "before", "tuned", "faster");
  for (const auto& [cell, e] : effects)
    fmt::print("MPI_{:<18} {:>8} {:>9.2f} us {:>9.2f} us {:>5.2f} x  {}\n", cell.original, cell.size,
               1e6 * e.before, 1e6 * e.after, e.before / e.after,
               e.removes_violation() ? "violation gone"
               : e.faster()          ? "better"
                                     : "no significant effect");
}

int tune(const TuneWords& words) {
  const double budget = parse_duration(words.budget);
  const analyses::TunedLibrary tuned = done_or_fail(
      [&] { return analyses::make_tuned_library(words.options); }, ExitCode::kNoInput, "no library was made");
  if (tuned.undecided) {
    print_undecided(*tuned.undecided);
    fmt::print("no pattern guideline of a collective was found violated: there is nothing to replace\n");
    return static_cast<int>(ExitCode::kOk);
  }
  fmt::print("{}: function, processes, sizes from and to, replaced by\n{}", tuned.library.string(),
             tuned.profile);
  print_effects(done_or_fail(
      [&] { return analyses::measure_tuned_library(tuned, budget, variants_watch(words.quiet)); },
      ExitCode::kNoInput, "nothing was compared"));
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace

void add_guidelines_tune(CLI::App& guidelines, const Registration& registration) {
  CLI::App* part = guidelines.add_subcommand("tune", "Make a library to preload that runs what is faster");
  set_manual(*part, {"nplus1 guidelines tune DIR -o LIB.so [options]", kGuidelinesTuneExamples});
  const auto words = std::make_shared<TuneWords>();
  part->add_option("folder", words->options.folder, "What nplus1 guidelines run measured")
      ->required()
      ->type_name("DIR");
  part->add_option("-o,--output", words->options.output, "The library (replaces it)")
      ->required()
      ->type_name("LIB.so");
  part->add_option("--library", words->options.library, "libnplus1-tuned.so, built for another MPI library")
      ->type_name("FILE");
  part->add_option("--budget", words->budget, "How long measuring its effect may take [2min]")
      ->type_name("TIME");
  part->add_flag("-q,--quiet", words->quiet, "No progress");
  part->callback([registration, words] { registration.chosen = [words] { return tune(*words); }; });
}

}  // namespace nplus1::cli
