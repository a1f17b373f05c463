#include "cli/run/output_name.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>

namespace nplus1::cli {
namespace {

std::string without_slashes(std::string text) {
  std::replace(text.begin(), text.end(), '/', '-');
  return text;
}

/// sbatch(1), qsub(1), bsub(1), flux-environment(7).
std::string job_number() {
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID"})
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0')
      return without_slashes(value);
  return std::to_string(getpid());
}

std::string now() {
  std::array<char, 32> text{};
  const std::time_t seconds = std::time(nullptr);
  std::tm parts{};
  localtime_r(&seconds, &parts);
  return {text.data(), std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%S", &parts)};
}

std::string host() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? without_slashes(name.data()) : "localhost";
}

}  // namespace

Result<std::string> expand_output_name(const std::string& pattern, std::int32_t ranks) {
  std::string expanded;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      expanded += pattern[i];
      continue;
    }
    const char letter = ++i < pattern.size() ? pattern[i] : '\0';
    if (letter == 'j')
      expanded += job_number();
    else if (letter == 't')
      expanded += now();
    else if (letter == 'n')
      expanded += std::to_string(ranks);
    else if (letter == 'h')
      expanded += host();
    else if (letter == '%')
      expanded += '%';
    else
      return Error{
          "--output: '%" + std::string(letter == '\0' ? 0 : 1, letter) + "' in '" + pattern +
              "' stands for nothing",
          "there are %j (job), %t (date and time), %n (ranks), %h (host), and %% for a percent sign"};
  }
  return expanded;
}

}  // namespace nplus1::cli
