#include "cli/run/findings_text.hpp"

#include <fmt/format.h>

#include "cli/whatif/whatif.hpp"
#include "support/shell.hpp"

namespace nplus1::cli {
namespace {

std::string left_out(const analyses::Findings& found, bool on_platform) {
  return fmt::format(
      "What to fix first is not looked for by itself{}: it would take too much of the run's time. nplus1 "
      "whatif {} "
      "--sweep does\n",
      on_platform ? ", as each replay on the platform drives SimGrid"
                  : fmt::format(" in a recording of {:.1f} MB", 1e-6 * static_cast<double>(found.bytes)),
      quote(found.source));
}

}  // namespace

std::string fixes_text(const analyses::Findings& found, const std::string& source) {
  if (found.fixes) return first_fixes_text(*found.fixes, source);
  switch (found.why_none) {
    case analyses::NoFixes::kTooLarge:
    case analyses::NoFixes::kTooLargeForPlatform:
      return left_out(found, found.why_none == analyses::NoFixes::kTooLargeForPlatform);
    case analyses::NoFixes::kNoNetwork:
      return fmt::format(
          "No changes are tried: the recording names no network (nplus1 whatif {} --network lsb ... does)\n",
          quote(found.source));
    case analyses::NoFixes::kNotAsked:
      break;
  }
  return {};
}

std::string trouble_text(const analyses::Findings& found) {
  if (!found.trouble) return {};
  return fmt::format(
      "nplus1: the recording cannot be read: {}\n  so:   wait states, hand-written collectives and what to "
      "fix are not looked for\n  next: {}\n",
      found.trouble->what, found.trouble->remedy);
}

}  // namespace nplus1::cli
