#include <algorithm>
#include <cmath>

#include "patterns/difference.hpp"
#include "report/exact_time.hpp"
#include "report/page.hpp"

namespace nplus1::patterns {
namespace {

using report::Page;

constexpr std::size_t kMostChanges = 10;
constexpr std::size_t kWidestName = 44;

std::string amount(std::int64_t value, Unit unit) {
  switch (unit) {
    case Unit::kBytes:
      return report::readable_bytes(static_cast<double>(value));
    case Unit::kTime:
      return report::readable(Duration{value});
    case Unit::kCount:
      break;
  }
  return std::to_string(value);
}

std::string relative(const Change& c) {
  if (c.difference() == 0) return "same";
  if (c.before == 0) return "new";
  if (c.after == 0) return "gone";
  const double percent = 100 * static_cast<double>(c.difference()) / static_cast<double>(c.before);
  constexpr double kMostPercent = 1000;  // beyond that a factor is easier to read
  if (std::abs(percent) >= kMostPercent)
    return fmt::format("x {:.3g}", static_cast<double>(c.after) / static_cast<double>(c.before));
  return std::abs(percent) < 0.05 ? "< 0.1 %" : fmt::format("{:+.1f} %", percent);
}

void add_change(Page& page, const Change& c) {
  page.line("  {:<{}} {:>12} {:>12} {:>10}", c.what, kWidestName, amount(c.before, c.unit),
            amount(c.after, c.unit), relative(c));
}

void add_list(Page& page, const char* title, const std::vector<Change>& changes) {
  if (changes.empty()) return;
  page.line("");
  page.line("{}: {} differ{}", title, changes.size(),
            changes.size() > kMostChanges ? ", the greatest first" : "");
  for (std::size_t i = 0; i < std::min(kMostChanges, changes.size()); ++i) add_change(page, changes[i]);
}

}  // namespace

std::string difference_text(const Difference& d, const std::string& before, const std::string& after) {
  Page page;
  page.line("{}: {} and {}",
            d.same_pattern ? "Same communication pattern" : "Different communication patterns", before,
            after);
  page.line("");
  page.line("{:<{}} {:>12} {:>12} {:>10}", "", kWidestName + 2, "first", "second", "change");
  for (const Change& change : d.totals) add_change(page, change);
  add_list(page, "Pairs of ranks (messages, or bytes where only these differ)", d.pairs);
  add_list(page, "Collective calls", d.collectives);
  add_list(page, "Messages by size", d.sizes);
  add_list(page, "Calls by call site", d.sites_calls);
  add_list(page, "Time by call site", d.sites_time);
  return page.take();
}

}  // namespace nplus1::patterns
