#include "hypothesis/whatif/text.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "events/limits.hpp"
#include "hypothesis/waitstates/kinds.hpp"
#include "report/exact_time.hpp"
#include "report/page.hpp"
#include "support/units.hpp"

namespace nplus1::hypothesis {
namespace {

using report::Page;

constexpr std::size_t kMostActivities = 10;

std::string time_text(double seconds) {
  return report::readable(events::rounded_within(1e12 * seconds));
}

void add_times(Page& page, const Side& before, const Side& after) {
  const auto line = [&](const char* title, const char* metric) {
    const double a = before.metric(metric).value_or(0);
    const double b = after.metric(metric).value_or(0);
    page.line("{:<28}{:>12}{:>12}{:>12}", title, time_text(a), time_text(b), change_text(a, b));
  };
  line("virtual time", "virtual_time_s");
  line("waiting, all ranks", "waiting_s");
}

void add_efficiencies(Page& page, const Side& before, const Side& after) {
  const std::pair<const char*, const char*> rows[] = {
      {"parallel efficiency", "parallel_efficiency"},
      {"  load balance (mean/most)", "load_balance"},
      {"  communication efficiency", "communication_efficiency"},
      {"    serialisation", "serialisation"},
      {"    transfer", "transfer"}};
  const auto percent = [](std::optional<double> part) {
    return part ? fmt::format("{:.1f} %", 100 * *part) : std::string{"-"};
  };
  for (const auto& [title, metric] : rows) {
    const auto a = before.metric(metric);
    const auto b = after.metric(metric);
    if (a || b) page.line("{:<28}{:>12}{:>12}", title, percent(a), percent(b));
  }
}

void add_states(Page& page, const Side& before, const Side& after) {
  page.line("");
  page.line("Waiting");
  const auto line = [&](const char* title, std::string_view metric) {
    const double a = before.metric(metric).value_or(0);
    const double b = after.metric(metric).value_or(0);
    if (a != 0 || b != 0)
      page.line("  {:<26}{:>12}{:>12}{:>12}", title, time_text(a), time_text(b), change_text(a, b));
  };
  for (std::size_t i = 0; i < kWaitStates; ++i)
    line(kWaitStateTitles[i], std::string{kWaitStateNames[i]} + "_s");
  line("transfer and the rest", "transfer_s");
}

void add_activities(Page& page, const Side& before, const Side& after) {
  std::map<std::string, std::pair<double, double>> waited;
  for (const SideActivity& a : before.activities) waited[a.title].first += a.waited;
  for (const SideActivity& a : after.activities) waited[a.title].second += a.waited;
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [title, times] : waited) order.emplace_back(-std::max(times.first, times.second), title);
  std::sort(order.begin(), order.end());
  page.line("");
  page.line("Where it waits");
  for (std::size_t i = 0; i < std::min(kMostActivities, order.size()); ++i) {
    const auto& [a, b] = waited[order[i].second];
    if (a == 0 && b == 0) break;
    page.line("  {:<26}{:>12}{:>12}{:>12}  {}", "", time_text(a), time_text(b), change_text(a, b),
              order[i].second);
  }
}

}  // namespace

std::string change_text(double before, double after) {
  if (before == after) return "same";
  if (before == 0) return "new";
  const double change = 100 * (after - before) / before;
  return std::abs(change) >= 1000 ? fmt::format("x {:.3g}", after / before)
                                  : fmt::format("{:+.1f} %", change);
}

std::string comparison_text(const Side& before, const Side& after, const std::string& left,
                            const std::string& right) {
  Page page;
  for (const auto& [side, name] : {std::pair{&before, &left}, std::pair{&after, &right}})
    if (side->stuck > 0)
      page.line("{}: {} rank{} for what never comes, so that its numbers are of the time until then", *name,
                side->stuck, side->stuck == 1 ? " waits" : "s wait");
  page.line("{:<28}{:>12}{:>12}{:>12}", "", left, right, "change");
  add_times(page, before, after);
  add_efficiencies(page, before, after);
  add_states(page, before, after);
  add_activities(page, before, after);
  return page.take();
}

}  // namespace nplus1::hypothesis
