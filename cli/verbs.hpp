// The verbs of `nplus1`: a verb is one file that defines add_VERB(), and one line in verbs.cpp.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace nplus1::cli {

/// What the chosen verb does once the command line is understood; returns the exit code.
using Action = std::function<int()>;

/// What a verb gets to declare itself with.
struct Registration {
  CLI::App& app;                                 // add_subcommand() here
  Action& chosen;                                // the subcommand's callback sets this
  const std::vector<std::string>& after_dashes;  // the words after the first `--`
  bool has_dashes;
};

void add_run(const Registration& registration);
void add_report(const Registration& registration);
void add_patterns(const Registration& registration);
void add_where(const Registration& registration);
void add_collectives(const Registration& registration);
void add_replay(const Registration& registration);
void add_clock(const Registration& registration);
void add_calibrate(const Registration& registration);
void add_guidelines(const Registration& registration);
void add_waitstates(const Registration& registration);
void add_overlap(const Registration& registration);
void add_map(const Registration& registration);
void add_whatif(const Registration& registration);
void add_diff(const Registration& registration);
void add_check(const Registration& registration);
void add_doctor(const Registration& registration);
void add_convert(const Registration& registration);
void add_demo(const Registration& registration);

/// Declares all verbs, in the order in which --help lists them.
void add_verbs(const Registration& registration);

/// All verbs of the command, chosen or not.
[[nodiscard]] std::vector<CLI::App*> verbs_of(CLI::App& app);

/// The whole program. Prints messages; never throws.
[[nodiscard]] int run_command_line(int argc, char** argv);

}  // namespace nplus1::cli
