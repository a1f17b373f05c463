#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "guidelines/findings_output.hpp"
#include "report/exact_time.hpp"
#include "report/page.hpp"
#include "support/number_of.hpp"

namespace nplus1::guidelines {
namespace {

using report::Page;
using List = std::vector<const Comparison*>;

constexpr std::size_t kMostShown = 15;
constexpr std::size_t kMostSizes = 14;  // columns of a table

std::string time_text(double seconds) {
  return seconds < 1e6 ? report::readable(from_seconds(seconds)) : std::string{"a time-out"};
}

std::string factor_text(double ratio) {
  return ratio < 1e300 ? fmt::format("{:.3g}", ratio) : std::string{"inf"};
}

/// A guideline's comparisons, sizes ascending, in the order of the analysis.
std::vector<std::pair<std::string, List>> by_guideline(const Analysis& analysis, int processes, Rule rule) {
  std::vector<std::pair<std::string, List>> rows;
  for (const Comparison& c : analysis.comparisons) {
    if (c.processes != processes || c.rule != rule) continue;
    const std::string label = title(c);
    auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.first == label; });
    if (row == rows.end()) row = rows.insert(rows.end(), {label, {}});
    row->second.push_back(&c);
  }
  return rows;
}

bool is_violated(const Comparison& c) {
  return c.verdict == Verdict::kViolated;
}

std::set<int> processes_of(const Analysis& analysis) {
  std::set<int> processes;
  for (const Comparison& c : analysis.comparisons) processes.insert(c.processes);
  return processes;
}

/// The paper's table 2: a guideline that is violated at any size counts once.
void counts(Page& page, const Analysis& analysis, int processes) {
  page.line("  {:<18}{:>9}   {}", "", "violated", "of");
  for (const Rule rule : {Rule::kMonotony, Rule::kSplit, Rule::kPattern}) {
    const auto rows = by_guideline(analysis, processes, rule);
    if (rows.empty()) continue;
    const auto violated = std::count_if(rows.begin(), rows.end(), [](const auto& row) {
      return std::any_of(row.second.begin(), row.second.end(),
                         [](const Comparison* c) { return is_violated(*c); });
    });
    page.line("  {:<18}{:>9}   {} {}", rule == Rule::kSplit ? "split-robustness" : name(rule), violated,
              rows.size(), rule == Rule::kPattern ? "guidelines" : "functions");
  }
}

std::string cell(const Comparison& c) {
  switch (c.verdict) {
    case Verdict::kHolds:
      return ".";
    case Verdict::kOpen:
      return "~";
    case Verdict::kUndecided:
      return "?";
    case Verdict::kViolated:
      break;
  }
  return mark(c) + (c.confirmed ? (*c.confirmed ? "+" : "-") : "");
}

/// Up to kMostSizes sizes; where there are more, those at which something is violated come first.
std::vector<std::uint64_t> columns(const Analysis& analysis, int processes) {
  std::set<std::uint64_t> sizes, telling;
  for (const Comparison& c : analysis.comparisons) {
    if (c.processes != processes) continue;
    sizes.insert(c.left.size);
    if (is_violated(c)) telling.insert(c.left.size);
  }
  for (auto at = sizes.begin(); at != sizes.end() && telling.size() < kMostSizes; ++at) telling.insert(*at);
  const std::set<std::uint64_t>& shown = sizes.size() <= kMostSizes ? sizes : telling;
  std::vector<std::uint64_t> list{shown.begin(), shown.end()};
  list.resize(std::min(list.size(), kMostSizes));
  return list;
}

std::string label_of(const std::string& text, std::size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 3) + "...";
}

/// "Reduce <= Reduce_scatter_block + Gather": short enough for a table.
std::string short_title(const Comparison& c) {
  if (c.rule != Rule::kPattern) return title(c);
  return fmt::format("{} <= {}", c.original, fmt::join(parts_of(c.right.test), " + "));
}

std::string row_text(const List& list, const std::vector<std::uint64_t>& sizes) {
  std::string cells;
  for (const std::uint64_t size : sizes) {
    const auto at =
        std::find_if(list.begin(), list.end(), [&](const Comparison* c) { return c->left.size == size; });
    cells += fmt::format("{:>6}", at == list.end() ? "" : cell(**at));
  }
  return cells;
}

/// The paper's table 4.
void size_table(Page& page, const Analysis& analysis, int processes, bool all_rows) {
  const auto sizes = columns(analysis, processes);
  constexpr std::size_t kLabel = 46;
  std::size_t shown = 0, hidden = 0;
  for (const Rule rule : {Rule::kPattern, Rule::kMonotony, Rule::kSplit}) {
    for (const auto& [label, list] : by_guideline(analysis, processes, rule)) {
      if (!all_rows &&
          std::none_of(list.begin(), list.end(), [](const Comparison* c) { return is_violated(*c); })) {
        ++hidden;
        continue;
      }
      if (shown++ == 0) {
        std::string head;
        for (const std::uint64_t size : sizes) head += fmt::format("{:>6}", size_text(size));
        page.line("");
        page.line("  {:<{}}{}", "at size (bytes)", kLabel, head);
      }
      page.line("  {:<{}}{}", label_of(short_title(*list.front()), kLabel), kLabel, row_text(list, sizes));
    }
  }
  std::set<std::uint64_t> measured;
  for (const Comparison& c : analysis.comparisons)
    if (c.processes == processes) measured.insert(c.left.size);
  if (measured.size() > sizes.size())
    page.line("  {} in the files",
              number_of(measured.size() - sizes.size(), "more size is", "more sizes are"));
  if (hidden > 0)
    page.line("  {} with no violation at any size {} not shown (--all shows them)", hidden,
              hidden == 1 ? "is" : "are");
}

std::string violation_text(const Comparison& c) {
  const std::string left = fmt::format("{}({})", c.original, size_text(c.left.size));
  std::string text =
      fmt::format("{:>6} x  {} on {}: {}, but {} takes {}", factor_text(c.ratio.estimate), left, c.processes,
                  time_text(c.left.seconds), c.bound, time_text(c.right.seconds));
  if (c.q)
    text +=
        fmt::format("; {:.3g} to {}, q = {:.2g} {}", c.ratio.low, factor_text(c.ratio.high), *c.q, mark(c));
  if (c.right.without_copies) text += fmt::format("; {} without copies", time_text(*c.right.without_copies));
  if (c.confirmed) text += *c.confirmed ? "; confirmed" : "; NOT confirmed";
  if (c.simulated)
    text += fmt::format("; simulated: {} x, {}", factor_text(c.simulated_ratio.value_or(0)),
                        *c.simulated == Verdict::kViolated ? "too" : "not");
  return text;
}

void strongest(Page& page, const Analysis& analysis) {
  List list;
  for (const Comparison& c : analysis.comparisons)
    if (is_violated(c)) list.push_back(&c);
  std::stable_sort(list.begin(), list.end(), [](const Comparison* a, const Comparison* b) {
    return std::pair{a->confirmed != false, a->ratio.estimate} >
           std::pair{b->confirmed != false, b->ratio.estimate};
  });
  if (list.empty()) return page.line("No guideline was found violated.");
  page.line("The strongest violations, of {}", list.size());
  for (std::size_t i = 0; i < std::min(list.size(), kMostShown); ++i)
    page.line("  {}", violation_text(*list[i]));
  if (list.size() > kMostShown) page.line("  and {} more in {}", list.size() - kMostShown, kViolationsFile);
}

std::size_t count(const Analysis& analysis, Verdict verdict) {
  return static_cast<std::size_t>(std::count_if(analysis.comparisons.begin(), analysis.comparisons.end(),
                                                [&](const Comparison& c) { return c.verdict == verdict; }));
}

std::string strangers_text(const std::vector<std::string>& names) {
  constexpr std::size_t kMostNames = 5;
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMostNames));
  return fmt::format("Measured, but in none of the chosen guidelines: {}{}",
                     fmt::join(names.begin(), end, ", "), names.size() > kMostNames ? ", ..." : "");
}

void limits(Page& page, const Analysis& analysis) {
  page.line("What this cannot say");
  const std::size_t undecided = count(analysis, Verdict::kUndecided);
  const std::size_t open = count(analysis, Verdict::kOpen);
  if (undecided > 0)
    page.line(
        "  ? {} comparisons could not have shown a violation: {} mpiruns, and a lone one among {} tests "
        "needs {}",
        undecided, analysis.fewest_runs, analysis.family, analysis.runs_needed);
  if (open > 0)
    page.line("  ~ {} comparisons are open: a slowdown of more than {:.3g} is neither shown nor excluded",
              open, analysis.judging.least_ratio);
  const Rate& null = analysis.null_hits;
  if (null.of > 0) {
    page.line(
        "  Originals against themselves: {} of {} have p <= {:.3g} ({:.3g} %; 95 % interval {:.2g} to {:.2g} "
        "%), {}",
        null.hits, null.of, analysis.judging.alpha,
        100 * static_cast<double>(null.hits) / static_cast<double>(null.of), 100 * null.low, 100 * null.high,
        null.low > analysis.judging.alpha ? "more than chance: this machine's noise makes false findings"
                                          : "as chance has it");
  } else if (!analysis.simulated_only) {
    page.line("  This machine's own false findings: no original was measured against itself");
  }
  if (analysis.unmeasured > 0)
    page.line("  {} not measured",
              number_of(analysis.unmeasured, "entry of the catalogue was", "entries of the catalogue were"));
  if (!analysis.strangers.empty()) page.line("  {}", strangers_text(analysis.strangers));
  for (const std::string& note : analysis.notes) page.line("  {}", note);
}

void agreement(Page& page, const Analysis& analysis) {
  page.line("Simulated and measured agree on {} of {} guidelines.", analysis.agreeing, analysis.compared);
  for (const std::string& title : analysis.only_measured) page.line("  only measured:  {}", title);
  for (const std::string& title : analysis.only_simulated) page.line("  only simulated: {}", title);
  page.line("");
}

void gains(Page& page, const ApplicationGains& application) {
  page.line("");
  page.line("What the application's own calls would gain");
  if (application.gains.empty()) page.line("  It runs into none of the violations.");
  for (std::size_t i = 0; i < std::min(application.gains.size(), kMostShown); ++i) {
    const Gain& gain = application.gains[i];
    const Comparison& c = *gain.violation;
    const bool estimated = c.rule == Rule::kSplit && !c.confirmed;
    page.line("  {:>9}  {:.6g} calls of {}({}) on {}: {} instead{}", time_text(std::max(gain.seconds, 0.0)),
              gain.calls, c.original, size_text(c.left.size), c.processes, c.bound,
              estimated ? " (an estimate until confirmed)" : "");
  }
  page.line("  {:>9}  in all, of {} that its measured calls take",
            time_text(std::max(application.seconds, 0.0)), time_text(application.measured_seconds));
  if (application.uncovered > 0)
    page.line(
        "  {:.6g} of its {:.6g} collective calls have no measurement (function, processes, size within a "
        "factor of 2)",
        application.uncovered, application.calls);
}

void heading(Page& page, const Analysis& analysis, const Context& context) {
  page.line("Performance guidelines: {}", context.source);
  const auto library = analysis.settings.find(kMpiLibrary);
  if (library != analysis.settings.end()) page.line("{}", label_of(library->second, 100));
  if (analysis.simulated_only) {
    page.line("Simulated times, compared exactly: a violation is a ratio above {:.3g}",
              analysis.judging.least_ratio);
  } else {
    page.line("{} tests, judged together at {:.3g}; at least {} mpiruns each", analysis.family,
              analysis.judging.alpha, analysis.fewest_runs);
  }
}

}  // namespace

std::string analysis_text(const Analysis& analysis, const Context& context) {
  Page page;
  heading(page, analysis, context);
  if (analysis.comparisons.empty()) {
    page.line("Nothing can be compared: no original was measured together with its mock-up or at two sizes.");
    return page.take();
  }
  for (const int processes : processes_of(analysis)) {
    page.line("");
    page.line("On {} processes", processes);
    counts(page, analysis, processes);
    size_table(page, analysis, processes, context.all_rows);
  }
  page.line(
      "  *, **, ***: violated, q <= .05, .01, .001 (+ confirmed, - not); . holds; ~ open; ? too few mpiruns");
  page.line("");
  strongest(page, analysis);
  page.line("");
  if (analysis.compared > 0) agreement(page, analysis);
  limits(page, analysis);
  if (context.application != nullptr) gains(page, *context.application);
  return page.take();
}

}  // namespace nplus1::guidelines
