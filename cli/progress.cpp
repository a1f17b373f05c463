#include "cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "cli/to_stderr.hpp"

namespace nplus1::cli {

std::function<void(std::size_t, std::size_t)> progress_of(std::string what, bool quiet) {
  if (quiet || isatty(STDERR_FILENO) == 0) return {};
  return [what = std::move(what)](std::size_t done, std::size_t all) {
    to_stderr("\rnplus1: {} of {} {}{}", done, all, what, done == all ? "\n" : "");
  };
}

}  // namespace nplus1::cli
