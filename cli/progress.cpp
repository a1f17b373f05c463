#include "cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

namespace nplus1::cli {

std::function<void(std::size_t, std::size_t)> progress_of(std::string what, bool quiet) {
  if (quiet || isatty(STDERR_FILENO) == 0) return {};
  return [what = std::move(what)](std::size_t done, std::size_t all) {
    fmt::print(stderr, "\rnplus1: {} of {} {}{}", done, all, what, done == all ? "\n" : "");
  };
}

}  // namespace nplus1::cli
