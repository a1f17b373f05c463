// `nplus1 guidelines advise`: tries the MPI library's own algorithm settings where a guideline is violated,
// and reports those that were measured to help.
#include <fmt/format.h>

#include <memory>

#include "analyses/guidelines/follow_up.hpp"
#include "cli/failure.hpp"
#include "cli/guidelines/guidelines.hpp"
#include "cli/guidelines/options.hpp"
#include "cli/guidelines/watch.hpp"
#include "cli/program.hpp"
#include "cli/to_stderr.hpp"
#include "support/shell.hpp"

namespace nplus1::cli {
namespace {

constexpr const char* kGuidelinesAdviseExamples =
    "  nplus1 guidelines run -n 8 -o measured\n"
    "  nplus1 guidelines advise measured      each setting is measured, none is only believed\n";

struct AdviseWords {
  std::string folder;
  std::string budget = "5min";
  bool quiet = false;
};

void print_advice(const analyses::FunctionAdvice& one) {
  if (one.sizes.empty())
    fmt::print("\n{}: no settings are known; the program itself can call what is faster\n", one.function);
  else
    fmt::print("\nMPI_{}: {} settings of the library's\n{}", one.function, one.sizes.front().tried.size(),
               advice_text(one.sizes));
}

int advise(const AdviseWords& words) {
  const double budget = parse_duration(words.budget);
  const analyses::AdviceWatch watch{variants_watch(words.quiet), print_advice};
  const analyses::Advised advised =
      done_or_fail([&] { return analyses::advise_settings(words.folder, budget, watch); }, ExitCode::kNoInput,
                   "nothing was measured");
  if (advised.undecided) {
    print_undecided(*advised.undecided);
    fmt::print("no pattern guideline was found violated: there is nothing to advise\n");
    return static_cast<int>(ExitCode::kOk);
  }
  to_stderr("wrote {}\n", advised.file.string());
  if (!advised.all_removed)
    fmt::print(
        "\nWhere no setting helps, a library to preload may: nplus1 guidelines tune {} -o libtuned.so\n",
        quote(words.folder));
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace

void add_guidelines_advise(CLI::App& guidelines, const Registration& registration) {
  CLI::App* part =
      guidelines.add_subcommand("advise", "Try the MPI library's settings where a guideline is violated");
  set_manual(*part, {"nplus1 guidelines advise DIR [options]", kGuidelinesAdviseExamples});
  const auto words = std::make_shared<AdviseWords>();
  part->add_option("folder", words->folder, "What nplus1 guidelines run measured")
      ->required()
      ->type_name("DIR");
  part->add_option("--budget", words->budget, "How long all settings may take [5min]")->type_name("TIME");
  part->add_flag("-q,--quiet", words->quiet, "No progress");
  part->callback([registration, words] { registration.chosen = [words] { return advise(*words); }; });
}

}  // namespace nplus1::cli
