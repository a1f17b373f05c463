#include <algorithm>
#include <filesystem>

#include "hypothesis/waitstates/report.hpp"
#include "patterns/first_screen.hpp"
#include "report/exact_time.hpp"
#include "report/page.hpp"
#include "support/number_of.hpp"
#include "support/time_sum.hpp"

namespace nplus1::hypothesis {
namespace {

using report::Page;
using report::readable;

constexpr std::size_t kMostRows = 10;
constexpr std::size_t kBarWidth = 20;

double share(Duration part, Duration whole) {
  return whole > Duration::zero() ? seconds(part) / seconds(whole) : 0;
}

std::string percent(double part) {
  return fmt::format("{:.1f} %", 100 * part);
}

std::string percent(const std::optional<double>& part) {
  return part ? percent(*part) : "-";
}

std::string time_text(double seconds) {
  return readable(from_seconds(seconds));
}

std::string worst_state(const Tally& t) {
  const auto worst = std::max_element(t.states.begin(), t.states.end());
  if (*worst == Duration::zero() || t.transfer() > *worst) return "transfer";
  return kWaitStateTitles[static_cast<std::size_t>(worst - t.states.begin())];
}

void add_head(Page& page, const WaitStateResults& r) {
  page.line("{} on {}: {} of virtual time", r.application.empty() ? "The run" : r.application,
            number_of(r.ranks.size(), "rank"), readable(r.virtual_time));
  if (!r.network.empty()) page.line("  network {}", r.network);
}

void add_efficiencies(Page& page, const Efficiencies& e) {
  page.line("");
  page.line("Efficiencies (POP)");
  page.line("  parallel efficiency           {:>8}", percent(e.parallel));
  page.line("    load balance (mean / most)  {:>8}", percent(e.load_balance));
  page.line("    communication efficiency    {:>8}", percent(e.communication));
  page.line("      serialisation             {:>8}   waiting for others, even on an ideal network",
            percent(e.serialisation));
  page.line("      transfer                  {:>8}   latency and bandwidth", percent(e.transfer));
  if (!e.note.empty()) page.line("  {}", e.note);
}

void add_states(Page& page, const WaitStateResults& r, report::TextStyle style) {
  const Duration all = added(r.total.waiting, r.total.polling);
  const Duration run = r.virtual_time * static_cast<std::int64_t>(r.thread_computing.size());
  page.line("");
  page.line("Waiting: {} in all, {} of the ranks' time", readable(all), percent(share(all, run)));
  const auto line = [&](const char* name, Duration time) {
    if (time == Duration::zero()) return;
    page.line("  {:<22}{:>10} {:>8}  {}", name, readable(time), percent(share(time, all)),
              report::bar(share(time, all), kBarWidth, style));
  };
  for (std::size_t s = 0; s < kWaitStates; ++s) {
    line(kWaitStateTitles[s], r.total.states[s]);
    if (s == static_cast<std::size_t>(WaitState::kLateSender))
      line("  of it in wrong order", r.total.wrong_order);
  }
  line("transfer and the rest", r.total.transfer());
}

void add_activities(Page& page, const WaitStateResults& r) {
  page.line("");
  page.line("{:<12}{:>9}  {:<20}{}", "Where waited", "calls", "mostly", "call path");
  std::size_t shown = 0;
  for (const Activity& a : r.activities) {
    const Duration waited = added(a.tally.waiting, a.tally.polling);
    if (waited == Duration::zero() || ++shown > kMostRows) break;
    page.line("  {:>10}{:>9}  {:<20}{}", readable(waited), a.tally.calls, worst_state(a.tally),
              activity_title(a));
  }
}

void add_causes(Page& page, const WaitStateResults& r) {
  if (r.causes.empty()) return;
  page.line("");
  page.line("{:<12}{:>10}{:>12}{:>7}  {}", "Who caused it", "directly", "further on", "rank", "activity");
  for (std::size_t i = 0; i < std::min(kMostRows, r.causes.size()); ++i) {
    const Cause& c = r.causes[i];
    page.line("  {:>10}{:>11}{:>12}{:>7}  {}", time_text(c.delay.total()), time_text(c.delay.direct),
              time_text(c.delay.propagated), c.rank, activity_title(r.activities[c.activity]));
  }
  if (r.causes.size() > kMostRows) page.line("  {} more in the JSON.", r.causes.size() - kMostRows);
}

void add_critical_path(Page& page, const WaitStateResults& r) {
  std::vector<const Activity*> order;
  for (const Activity& a : r.activities)
    if (a.tally.on_critical_path > Duration::zero()) order.push_back(&a);
  std::stable_sort(order.begin(), order.end(), [](const Activity* a, const Activity* b) {
    return a->tally.on_critical_path > b->tally.on_critical_path;
  });
  page.line("");
  page.line("Critical path (ends at rank {})", r.last_rank);
  page.line("  {:>10}{:>9}{:>12}  {}", "on it", "share", "imbalance", "activity");
  for (std::size_t i = 0; i < std::min(kMostRows, order.size()); ++i) {
    const Activity& a = *order[i];
    page.line("  {:>10}{:>9}{:>12}  {}", readable(a.tally.on_critical_path),
              percent(share(a.tally.on_critical_path, r.virtual_time)), readable(a.critical_imbalance),
              activity_title(a));
  }
}

void add_ranks(Page& page, const WaitStateResults& r) {
  std::vector<std::size_t> order(r.ranks.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return r.ranks[a].on_critical_path > r.ranks[b].on_critical_path;
  });
  if (order.size() > kMostRows) order.resize(kMostRows);
  page.line("");
  page.line("{:>6}{:>12}{:>12}{:>12}{:>20}", "rank", "on path", "computing", "waiting", "makes others wait");
  for (const std::size_t rank : order) {
    const Tally& t = r.ranks[rank];
    page.line("{:>6}{:>12}{:>12}{:>12}{:>20}", rank, readable(t.on_critical_path), readable(t.computing),
              readable(added(t.waiting, t.polling)), time_text(t.delay.total()));
  }
  if (r.ranks.size() > order.size()) page.line("  The {} with most time on the path.", order.size());
}

}  // namespace

std::string activity_title(const Activity& a) {
  patterns::CallSiteUse site;
  for (const events::Frame& f : a.frames)
    site.frames.push_back({f.function, f.file, f.line, f.module, f.offset});
  const std::string place = patterns::place_of(site);
  const std::string region = a.region.empty() ? "" : fmt::format(" in region {}", a.region);
  if (!a.computing()) return fmt::format("{} at {}{}", a.kind, place, region);
  if (!a.region.empty()) return "computing" + region;
  const bool named =
      !site.frames.empty() && !site.frames.front().function.empty();  // "before main" would be another place
  return fmt::format("computing before the call {} {}", named ? "in" : "at", place);
}

std::string wait_states_text(const WaitStateResults& results, report::TextStyle style) {
  Page page;
  add_head(page, results);
  if (results.efficiencies) add_efficiencies(page, *results.efficiencies);
  add_states(page, results, style);
  add_activities(page, results);
  add_causes(page, results);
  add_critical_path(page, results);
  add_ranks(page, results);
  if (results.unresolved_calls > 0)
    page.line("{} waited for something that is not in the recording.",
              number_of(results.unresolved_calls, "call"));
  return page.take();
}

}  // namespace nplus1::hypothesis
