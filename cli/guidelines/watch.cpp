#include "cli/guidelines/watch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/to_stderr.hpp"
#include "support/shell.hpp"

namespace nplus1::cli {
namespace {

std::string readable_duration(double seconds) {
  const auto s = static_cast<long>(seconds + 0.5);
  return s >= 60 ? fmt::format("{} min {} s", s / 60, s % 60) : fmt::format("{} s", s);
}

void show_step(const analyses::MeasuringStep& step) {
  to_stderr("\r\x1b[Knplus1: {} of {}, {}: about {} left", step.done, step.all, step.what,
            readable_duration(step.left));
  if (step.done == step.all) to_stderr("\r\x1b[K");
}

}  // namespace

analyses::MeasuringWatch measuring_watch(bool quiet) {
  analyses::MeasuringWatch watch;
  watch.prints = [](const std::string& line) { to_stderr("{}\n", line); };
  if (quiet) return watch;
  watch.starts = [](const std::vector<std::string>& line) { to_stderr("nplus1: {}\n", join_quoted(line)); };
  if (isatty(STDERR_FILENO) != 0) watch.step = show_step;
  return watch;
}

analyses::VariantsWatch variants_watch(bool quiet) {
  return {measuring_watch(quiet), [](const std::string& variant, const std::string& note) {
            to_stderr("nplus1: {}: {}\n", variant, note);
          }};
}

void print_undecided(const analyses::Undecided& undecided) {
  if (undecided.comparisons > 0)
    fmt::print("{} comparisons are undecided, with {} mpiruns: a violation would show from {} on (--runs)\n",
               undecided.comparisons, undecided.mpiruns, undecided.needed);
}

}  // namespace nplus1::cli
