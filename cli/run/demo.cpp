// `nplus1 demo`: the main job on a bundled program with two planted problems.
#include <fmt/core.h>

#include <memory>

#include "analyses/installation.hpp"
#include "cli/failure.hpp"
#include "cli/program.hpp"
#include "cli/run/run.hpp"
#include "cli/to_stderr.hpp"
#include "cli/verbs.hpp"
#include "support/shell.hpp"

namespace nplus1::cli {
namespace {

constexpr const char* kProgram = "imbalance";
constexpr const char* kRanks = "16";
/// A gigabyte a second, sent one message after the other: where a sender may send to all at once (lsb), sending to
/// each in turn is no problem.
constexpr const char* kNetwork = "loggops:L=2us,o=1us,g=1us,G=1e-9";

constexpr const char* kBefore =
    "The demo runs a small simulation on 16 ranks. Two problems are planted in it:\n"
    "  - every fourth rank (3, 7, 11, 15) has three times the work of the others;\n"
    "  - rank 0 sends its parameters to each rank in turn, where MPI_Bcast would take log2(16) rounds.\n"
    "Row 0 of the density below is the second; the bars of compute time are the first.\n";

constexpr const char* kAfter =
    "\nWhat to try next (DIR: the folder of the results, above):\n"
    "  who waits for whom   nplus1 waitstates DIR\n"
    "  the broadcast        nplus1 collectives DIR\n"
    "  another network      nplus1 replay DIR --network lsb:latency=1e-4,bandwidth=1e8\n"
    "  exactly reproducible nplus1 run -n 16 --compute fixed:1e-3 -- {0}\n"
    "  your own program     nplus1 run -n 16 -- ./app\n"
    "  all options          nplus1 run --help\n";

int demonstrate(const RunOptions& options) {
  const auto program = analyses::find_example(kProgram);
  if (!program) {
    throw Failure{ExitCode::kUnavailable, program.error().what, kNothingStarted, program.error().remedy};
  }
  to_stderr("{}\n", kBefore);
  const int code = run(options, {program.value().string()});
  if (code == 0) to_stderr(kAfter, quote(program.value().string()));
  return code;
}

}  // namespace

void add_demo(const Registration& registration) {
  CLI::App* verb = registration.app.add_subcommand("demo", "Run a bundled program with two planted problems");
  set_manual(*verb, {"nplus1 demo [-o DIR]",
                     "  nplus1 demo            16 ranks, results in nplus1-imbalance-16-1/\n"});
  const auto options = std::make_shared<RunOptions>();
  options->ranks = kRanks;
  options->findings_s = 30;  // what to fix is what the demo is for, also on a busy machine
  give(*options, "--network", kNetwork);
  verb->add_option("-o,--output", options->output, "New folder for the results")->type_name("DIR");
  verb->callback(
      [registration, options] { registration.chosen = [options] { return demonstrate(*options); }; });
}

}  // namespace nplus1::cli
