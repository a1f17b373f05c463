// `nplus1 guidelines run`: measures the catalogue's collectives and their mock-ups over R mpiruns, natively
// or on a simulated network.
#include <fmt/format.h>

#include <memory>

#include "analyses/guidelines/campaign.hpp"
#include "cli/failure.hpp"
#include "cli/guidelines/guidelines.hpp"
#include "cli/guidelines/options.hpp"
#include "cli/guidelines/watch.hpp"
#include "cli/program.hpp"
#include "cli/to_stderr.hpp"
#include "support/number_of.hpp"
#include "support/shell.hpp"

namespace nplus1::cli {
namespace {

constexpr const char* kGuidelinesRunExamples =
    "  nplus1 guidelines run -n 8 -o measured                       the default catalogue in 5 minutes\n"
    "  nplus1 guidelines run -n 8 --functions Reduce,Allreduce --sizes 8,1024,65536 -o some\n"
    "  nplus1 guidelines run -n 64 --mpi-args \"-f hosts\" --budget 1h -o cluster\n"
    "  nplus1 guidelines run -n 16 --simulate platform.xml -o simulated   on a network that isn't there\n"
    "An interrupted measurement goes on where it was when the same command is given again.\n";

struct RunWords {
  analyses::CampaignOptions campaign;
  MeasuringWords words;
  bool no_again = false;
};

void say(const analyses::CampaignPlan& plan) {
  const analyses::Measuring& measuring = plan.measuring;
  const guidelines::Allotment& allotment = plan.allotment;
  to_stderr("nplus1: {} at their sizes, in {}, {} of {}", number_of(plan.tests, "test"),
            number_of(plan.cells, "group"), number_of(measuring.mpiruns, "mpirun"),
            number_of(measuring.launch.ranks, "rank"));
  if (allotment.wanted > 0) to_stderr("; predicted: {:.0f} s", allotment.wanted);
  if (allotment.factor < 1)
    to_stderr(", cut to {:.0f} % of the repetitions for the budget of {:.0f} s", 100 * allotment.factor,
              measuring.budget);
  to_stderr("\n");
  if (plan.exceeds_budget())
    to_stderr(
        "nplus1: {} in each of {} are the least: they take about {:.0f} s, more than the "
        "budget of {:.0f} s; fewer --set, --functions, --sizes or --runs take less\n",
        number_of(measuring.how.criteria.least, "repetition"), number_of(measuring.mpiruns, "mpirun"),
        allotment.least, measuring.budget);
}

void say_it_took_longer(const analyses::MeasuredCampaign& campaign) {
  const analyses::Measuring& measuring = campaign.plan.measuring;
  to_stderr(
      "nplus1: it took {:.0f} s, not {:.0f} s: {} in each of {} are the least; fewer "
      "--set, --functions, --sizes or --runs take less\n",
      campaign.spent, measuring.budget, number_of(measuring.how.criteria.least, "repetition"),
      number_of(measuring.mpiruns, "mpirun"));
}

void say_what_drifted(const std::string& folder) {
  const auto drifts =
      done_or_fail([&] { return analyses::drifts_of(folder); }, ExitCode::kNoInput, kNothingShown);
  for (const guidelines::Drift& d : drifts)
    to_stderr("nplus1: {} of {} B takes {:.2f} times as long after {}, in {} of {}\n", d.test, d.size,
              d.ratio, number_of(d.after, "repetition"), d.changed, number_of(d.mpiruns, "mpirun"));
}

int run_guidelines(RunWords& run) {
  analyses::CampaignOptions& options = run.campaign;
  finish(run.words, options.measuring);
  options.again = !run.no_again;
  analyses::CampaignWatch watch{measuring_watch(run.words.quiet), {}};
  if (!run.words.quiet) watch.planned = say;
  const analyses::MeasuredCampaign campaign = done_or_fail(
      [&] { return analyses::measure_campaign(options, watch); }, ExitCode::kNoInput, "nothing was measured");
  if (!run.words.quiet && campaign.took_longer()) say_it_took_longer(campaign);
  for (const std::string& note : campaign.notes) to_stderr("nplus1: {}\n", note);
  if (!options.simulated()) say_what_drifted(options.folder);
  fmt::print("{}\nnplus1 guidelines check {}\n", campaign.file.string(), quote(options.folder));
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace

void add_guidelines_run(CLI::App& guidelines, const Registration& registration) {
  CLI::App* part = guidelines.add_subcommand("run", "Measure, natively or simulated");
  set_manual(*part, {"nplus1 guidelines run -n N -o DIR [options]", kGuidelinesRunExamples});
  const auto run = std::make_shared<RunWords>();
  declare_measuring(*part, run->campaign.measuring, run->words);
  part->add_option("-o,--output", run->campaign.folder,
                   "Folder for the measurements; one that was begun is gone on with")
      ->required()
      ->type_name("DIR");
  declare_catalogue(*part, run->campaign.catalogue);
  part->add_option("--sizes", run->campaign.sizes, "These sizes in bytes instead of the catalogue's")
      ->check(CLI::NonNegativeNumber)
      ->delimiter(',');
  part->add_flag("--no-again", run->no_again,
                 "Don't measure originals twice (A/A) to know the machine's own noise");
  part->add_option("--simulate", run->campaign.measuring.launch.simulate,
                   "A SimGrid platform or a network (lsb:..., loggops:...): measure in virtual time")
      ->type_name("PLATFORM|SPEC");
  part->add_option("--simulate-options", run->campaign.measuring.launch.simulate_options,
                   "More options of nplus1 run, e.g. \"--collectives openmpi\"")
      ->type_name("WORDS");
  part->callback([registration, run] { registration.chosen = [run] { return run_guidelines(*run); }; });
}

}  // namespace nplus1::cli
