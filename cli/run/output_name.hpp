// What may stand for something in the name of the result folder: `--output 'nplus1-%j-%t'`. Any thread.
#pragma once

#include <cstdint>
#include <string>

#include "support/result.hpp"

namespace nplus1::cli {

/// %j the job's number (of Slurm, PBS, LSF or Flux; else this process's), %t date and time (20261123T220500, local), %n the
/// number of ranks, %h this host's name, %% a percent sign. Another letter is an error. What comes from outside may be no
/// path: "/" in it becomes "-".
[[nodiscard]] Result<std::string> expand_output_name(const std::string& pattern, std::int32_t ranks);

}  // namespace nplus1::cli
