// `nplus1 guidelines`: does the MPI library keep its own promises? Its subverbs have files of their own.
#include "cli/guidelines/guidelines.hpp"

#include "cli/program.hpp"

namespace nplus1::cli {
namespace {

constexpr const char* kGuidelinesExamples =
    "  nplus1 guidelines run -n 8 -o DIR             measure collectives, and what could replace them\n"
    "  nplus1 guidelines check DIR                   judge what was measured\n"
    "  nplus1 guidelines confirm DIR                 measure what was found violated once more\n"
    "  nplus1 guidelines advise DIR                  try the library's settings on it\n"
    "  nplus1 guidelines tune DIR -o LIB.so          a library that runs what is faster instead\n"
    "  nplus1 guidelines check DIR --application R   what the violations cost a recorded program\n";

}  // namespace

void declare_catalogue(CLI::App& verb, analyses::CatalogueChoice& choice) {
  verb.add_option("--catalogue", choice.files, "More guidelines from this file; may be repeated")
      ->type_name("FILE");
  verb.add_option("--set", choice.sets,
                  "Only these sets of guidelines: pgmpi, tunelib, nonblocking, ... [all]")
      ->delimiter(',')
      ->type_name("SETS");
  verb.add_option("--functions", choice.functions,
                  "Only guidelines of these functions: Bcast,Gather,... [all]")
      ->delimiter(',')
      ->type_name("NAMES");
}

void add_guidelines(const Registration& registration) {
  CLI::App* verb = registration.app.add_subcommand(
      "guidelines", "Check whether the MPI library's functions are slower than others that do the same");
  set_manual(*verb, {"nplus1 guidelines VERB [options]", kGuidelinesExamples});
  add_guidelines_run(*verb, registration);
  add_guidelines_check(*verb, registration);
  add_guidelines_confirm(*verb, registration);
  add_guidelines_advise(*verb, registration);
  add_guidelines_tune(*verb, registration);
  verb->require_subcommand(1);
}

}  // namespace nplus1::cli
