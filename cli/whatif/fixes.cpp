// `nplus1 whatif --sweep`, and what a run says at its end: what there is to fix, ranked by the time that it would save.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "analyses/fixes.hpp"
#include "cli/fail_if.hpp"
#include "cli/failure.hpp"
#include "cli/progress.hpp"
#include "cli/replay/results.hpp"
#include "cli/to_stderr.hpp"
#include "cli/whatif/whatif.hpp"
#include "report/exact_time.hpp"
#include "support/number_of.hpp"
#include "support/shell.hpp"

namespace nplus1::cli {
namespace {

using analyses::Fixes;
using analyses::NotTried;
using hypothesis::Fix;

constexpr const char* kSweepNotFinished = "the sweep did not finish, nothing is written";
constexpr std::size_t kMostShown = 20;
constexpr std::size_t kMostBounds = 5;
/// Less than this share of the run is no saving.
constexpr double kLeastSaving = 1e-3;
/// What saves less than this share of the run is not worth a line of the run's summary.
constexpr double kWorthALine = 0.01;
constexpr std::size_t kMostLines = 3;

std::string saving_between(const Fixes& fixes, const Fix& fix) {
  return fmt::format("in nine cases of ten {:.1f} to {:.1f} %", 100 * fixes.share(fix.between_s->first),
                     100 * fixes.share(fix.between_s->second));
}

/// A line where the first fix could be another; else empty.
std::string order_text(const Fixes& fixes) {
  constexpr double kOften = 0.05;
  if (fixes.order_turns.value_or(0) < kOften) return {};
  return fmt::format(
      "Which of the first two saves more is not sure: with other samples of the clock it is the second in "
      "{:.0f} % of replays\n",
      100 * *fixes.order_turns);
}

/// Of a balance: what it would save besides, and nobody can promise.
std::string comes_and_goes(const Fixes& fixes, const Fix& f) {
  const double rest = f.saved_s - f.worth_s();
  if (!f.systematic_s || rest < kLeastSaving * fixes.virtual_time_s()) return {};
  return fmt::format(" (and {}, {:.1f} %, that comes and goes)", report::readable(from_seconds(rest)),
                     100 * fixes.share(rest));
}

std::string line_of(const Fixes& fixes, const Fix& f, const char* indent) {
  return fmt::format("{:>12} {:>6.1f} %  {}{}{}{}\n{:>24}{}{}\n", report::readable(from_seconds(f.worth_s())),
                     100 * fixes.share(f.worth_s()), indent, f.what, comes_and_goes(fixes, f),
                     f.finished ? "" : " (not all ranks end)", "", std::string(std::strlen(indent), ' '),
                     f.flags) +
         (f.between_s ? fmt::format("{:>24}{}{}\n", "", std::string(std::strlen(indent), ' '),
                                    saving_between(fixes, f))
                      : "");
}

/// What no change was tried for, and how it can be.
std::string not_looked_at(const Fixes& fixes) {
  constexpr double kWorthLooking = 0.05;
  if (fixes.not_looked_at < kWorthLooking) return {};
  return fmt::format(
      "{:>12} {:>6.1f} %  not looked at: communication that computing could hide (record again with "
      "--record-accesses, which MPICH's programs have)\n",
      "at most", 100 * fixes.not_looked_at);
}

/// One line a problem, the other changes that mend it below; then what is no advice.
std::string table(const std::string& source, const Fixes& fixes) {
  const hypothesis::Side& side = fixes.before;
  const double run = fixes.virtual_time_s();
  std::string text =
      fmt::format("{} on {}: {} of virtual time{}; what would save how much of it\n\n",
                  side.application.empty() ? "The program" : side.application, number_of(side.ranks, "rank"),
                  report::readable(from_seconds(run)), fixes.warm ? " with warm caches" : "");
  text += fmt::format("{:>12} {:>8}  {}\n", "saves", "", "by this change");
  std::size_t shown = 0;
  std::size_t less = 0;
  const auto worth_it = [&](const Fix& f) { return f.worth_s() >= kLeastSaving * run && f.worth_s() > 0; };
  for (const Fix& leader : fixes.all) {
    if (!leader.leads) continue;
    for (const bool others : {false, true})
      for (const Fix& f : fixes.all) {
        if (f.problem != leader.problem || f.leads == others) continue;
        if (!worth_it(f) || shown == kMostShown) {
          ++less;
          continue;
        }
        ++shown;
        text += line_of(fixes, f, others ? "or: " : "");
      }
  }
  if (shown == 0) text += "  nothing that was tried\n";
  text += order_text(fixes) + not_looked_at(fixes);
  if (less > 0) text += fmt::format("{} more would save less, or nothing\n", less);
  std::size_t bounds = 0;
  for (const Fix& f : fixes.all) {
    if (f.problem != 0 || !worth_it(f) || bounds == kMostBounds) continue;
    if (bounds++ == 0) text += "\nNo advice, but what something costs at most\n";
    text += line_of(fixes, f, "");
  }
  const auto failed = std::count_if(fixes.not_tried.begin(), fixes.not_tried.end(),
                                    [](const NotTried& n) { return n.failed; });
  if (failed > 0) text += fmt::format("\nReplays that failed: {}\n", failed);
  for (const NotTried& n : fixes.not_tried)
    if (n.failed) text += fmt::format("  {}: {}\n", n.what, n.reason);
  const auto late =
      std::count_if(fixes.not_tried.begin(), fixes.not_tried.end(), [](const NotTried& n) { return n.late; });
  if (const auto rest = static_cast<std::ptrdiff_t>(fixes.not_tried.size()) - failed - late; rest > 0)
    text += fmt::format("\n{}\n", number_of(rest, "change does not apply to this program; --json says why",
                                            "changes do not apply to this program; --json says why each"));
  if (late > 0)
    text += fmt::format("\n{} not tried: {}\n", number_of(late, "more change was", "more changes were"),
                        std::ranges::find_if(fixes.not_tried, &NotTried::late)->reason);
  if (fixes.left_out > 0) text += "\n" + left_out_text(fixes.rows, fixes.left_out);
  return text + fmt::format(
                    "\nEach alone, the rest as it was: nplus1 whatif {} FLAGS\nHow far to believe it\n  {}\n",
                    quote(source), side.trust);
}

/// What is said of changes whose turn did not come; empty if all were tried.
std::string late_ones(const Fixes& fixes, const std::string& source) {
  const auto late = std::ranges::count_if(fixes.not_tried, &NotTried::late);
  return late == 0 ? ""
                   : fmt::format("{:>24}for {} the time was up: nplus1 whatif {} --sweep tries all\n", "",
                                 number_of(late, "more change", "more changes"), quote(source));
}

/// Computing that is uneven, but not by rank or step every time: no advice, and said so that nobody looks for it.
std::string noise_of(const Fixes& fixes) {
  if (!fixes.random_s || fixes.share(*fixes.random_s) < kWorthALine) return {};
  return fmt::format(
      "{:>12} {:>6.1f} %  no advice: uneven computing that comes and goes, noise of this host or of the "
      "program "
      "(nplus1 run --repeat tells more)\n",
      report::readable(from_seconds(*fixes.random_s)), 100 * fixes.share(*fixes.random_s));
}

/// Files are no message and no computing: what they cost is said where it is much, though no change of ours makes it less.
std::string files_of(const Fixes& fixes) {
  constexpr double kMuch = 0.05;
  const auto most = std::ranges::find(fixes.all, "storage", &Fix::kind);  // what saves most comes first
  if (most == fixes.all.end() || fixes.share(most->saved_s) < kMuch) return {};
  return fmt::format("{:>12} {:>6.1f} %  no advice: {}\n", "at most", 100 * fixes.share(most->saved_s),
                     most->what);
}

analyses::FixOptions options_of(const WhatIfWords& words) {
  analyses::FixOptions options;
  options.replay = words.replay;
  options.deterministic = words.deterministic;
  options.reenactment_deviation = words.reenactment_deviation;
  return options;
}

}  // namespace

std::string first_fixes_text(const Fixes& fixes, const std::string& source) {
  if (fixes.virtual_time_s() <= 0)
    return "What to fix: the run takes no virtual time, so nothing could save any\n";
  std::string text;
  std::size_t lines = 0;
  for (const hypothesis::Fix& fix : fixes.all) {
    if (!fix.leads || fixes.share(fix.worth_s()) < kWorthALine || lines == kMostLines) continue;
    ++lines;
    text += fmt::format("{:>12} {:>6.1f} %  {}{}\n", report::readable(from_seconds(fix.worth_s())),
                        100 * fixes.share(fix.worth_s()), fix.what,
                        fix.between_s ? " (" + saving_between(fixes, fix) + ")" : std::string{});
  }
  const std::string noise = noise_of(fixes);
  if (fixes.all.empty() && !late_ones(fixes, source).empty())
    return fmt::format(
        "What to fix: the time for it was up before a change was tried; nplus1 whatif {} --sweep has no "
        "limit\n",
        quote(source));
  if (lines == 0)
    return fmt::format("What to fix: of {} tried, none saves 1 %\n", number_of(fixes.all.size(), "change")) +
           noise + files_of(fixes) + late_ones(fixes, source) + not_looked_at(fixes);
  if (lines < kMostLines)
    text += fmt::format("{:>24}of {} tried, no other problem's saves 1 %\n", "",
                        number_of(fixes.all.size(), "change"));
  return fmt::format("What to fix first, and what it would save{} (more: nplus1 whatif {} --sweep)\n",
                     fixes.warm ? ", with warm caches" : "", quote(source)) +
         text + order_text(fixes) + noise + files_of(fixes) + late_ones(fixes, source) + not_looked_at(fixes);
}

int sweep_hypotheses(const WhatIfWords& words) {
  const auto conditions = conditions_of(words.fail_if);
  const analyses::FixOptions options = options_of(words);
  const Fixes fixes = or_fail(analyses::find_fixes(options, progress_of("replays", words.replay.quiet)),
                              ExitCode::kNoInput, kSweepNotFinished);
  if (!words.replay.quiet)
    for (const std::string& note : fixes.notes) to_stderr("nplus1: {}\n", note);
  report::html::Documents documents;
  documents.add("fixes", fixes.json);
  write_results(words.replay, kWhatIfFile, fixes.json, documents);
  fmt::print("{}", table(words.replay.source, fixes));
  if (conditions.empty()) return static_cast<int>(ExitCode::kOk);
  fmt::print("Judged by --fail-if: {}\n",
             fixes.best ? "after " + fixes.all.front().what : "the run as it was; no change saves anything");
  return judge(conditions,
               or_fail(analyses::after_the_best(options, fixes), ExitCode::kNoInput, kSweepNotFinished));
}

}  // namespace nplus1::cli
