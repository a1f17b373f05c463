#include "cli/outer_job.hpp"
#include "cli/verbs.hpp"

int main(int argc, char** argv) {
  nplus1::cli::leave_outer_job(argv);
  return nplus1::cli::run_command_line(argc, argv);
}
