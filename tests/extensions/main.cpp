#include "cli/verbs.hpp"

int main(int argc, char** argv) {
  return nplus1::cli::run_command_line(argc, argv);
}
