#include "cli/guidelines_verb.hpp"

#include "cli/program.hpp"

namespace nplus1::cli {

CLI::App& guidelines_verb(const Registration& registration) {
  constexpr const char* kName = "guidelines";
  for (CLI::App* verb : verbs_of(registration.app)) {
    if (verb->get_name() == kName) return *verb;
  }
  CLI::App* verb = registration.app.add_subcommand(
      kName, "Does the MPI library keep its own promises? Measure performance guidelines, judge, and tune");
  set_manual(
      *verb,
      {"nplus1 guidelines PART [options]",
       "  nplus1 guidelines run -n 8 -o measured      measures each collective and what could replace it\n"
       "  nplus1 guidelines check measured            judges: which collectives are slower than that\n"});
  verb->require_subcommand(1);
  return *verb;
}

}  // namespace nplus1::cli
