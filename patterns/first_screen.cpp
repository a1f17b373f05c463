#include "patterns/first_screen.hpp"

#include <algorithm>
#include <filesystem>

#include "events/function_name.hpp"
#include "patterns/size_counts.hpp"
#include "report/exact_time.hpp"
#include "report/heatmap.hpp"
#include "report/page.hpp"
#include "support/number_of.hpp"
#include "support/time_sum.hpp"

namespace nplus1::patterns {
namespace {

using report::Page;
using report::readable;
using report::readable_bytes;

constexpr std::size_t kMostRows = 16;
constexpr std::size_t kMostSites = 10;
constexpr std::size_t kMostSitesByBytes = 5;
constexpr std::size_t kMostListed = 12;
constexpr std::size_t kBarWidth = 40;
constexpr std::size_t kMostRanksListed = 32;

double ratio(Duration part, Duration whole) {
  return whole > Duration::zero() ? seconds(part) / seconds(whole) : 0;
}

std::string percent(double part) {
  return fmt::format("{:.1f} %", 100 * part);
}

std::string size_text(std::uint64_t bytes) {
  return readable_bytes(static_cast<double>(bytes));
}

void add_head(Page& page, const Patterns& p) {
  page.line("{} on {}: {} of {} time{}", p.application.empty() ? "The run" : p.application,
            number_of(p.ranks(), "rank"), readable(p.virtual_time()), p.real_time ? "real" : "virtual",
            p.complete ? "" : " (INCOMPLETE: not all ranks reached MPI_Finalize)");
  if (!p.network.empty()) page.line("  network {}", p.network);
}

void add_file(Page& page, std::string_view name, const FileCounts& c, const std::string& waiting) {
  page.line("  {:<32}{:>11}{:>9}{:>11}{:>9}{:>10}{:>10}", name, size_text(c.bytes_read), c.reads,
            size_text(c.bytes_written), c.writes, readable(c.time), waiting);
}

/// The files with the most bytes; of a run in which nobody followed which file a call is about, all together.
void add_files(Page& page, const Patterns& p) {
  if (!p.io || p.io->totals().time == Duration::zero()) return;
  constexpr std::size_t kFilesShown = 8;
  page.line("");
  page.line("{:<34}{:>11}{:>9}{:>11}{:>9}{:>10}{:>10}", "Files (MPI-IO)", "read", "in calls", "written",
            "in calls", "time", "waiting");
  if (p.io->files.empty()) return add_file(page, "all files", p.io->totals(), "-");
  for (std::size_t i = 0; i < std::min(kFilesShown, p.io->files.size()); ++i) {
    const auto& [name, counts] = p.io->files[i];
    add_file(page, std::filesystem::path{name}.filename().string(), counts, readable(counts.waiting));
  }
  const std::size_t more =
      p.io->files.size() + p.io->files_left_out - std::min(kFilesShown, p.io->files.size());
  if (more > 0) page.line("  and {} more", more);
}

struct Spread {
  std::size_t least = 0;
  std::size_t most = 0;
  double mean = 0;
};

template <class Value>
Spread spread(const std::vector<RankTotals>& ranks, Value value) {
  Spread s;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    if (value(ranks[r]) < value(ranks[s.least])) s.least = r;
    if (value(ranks[r]) > value(ranks[s.most])) s.most = r;
    s.mean += static_cast<double>(value(ranks[r]));
  }
  s.mean /= static_cast<double>(ranks.size());
  return s;
}

void add_time_line(Page& page, const Patterns& p, const char* name, Duration RankTotals::*column) {
  const auto value = [column](const RankTotals& r) { return (r.*column).count(); };
  const Spread s = spread(p.rank, value);
  const double excess = s.mean > 0 ? static_cast<double>(value(p.rank[s.most])) / s.mean - 1 : 0;
  const auto named = [](std::size_t rank) { return fmt::format("(rank {})", rank); };
  page.line("  {:<15}{:>9} {:>9} {:<12}{:>9} {:<12}{:>9}", name,
            readable(Duration{static_cast<std::int64_t>(s.mean)}), readable(p.rank[s.least].*column),
            named(s.least), readable(p.rank[s.most].*column), named(s.most), percent(excess));
}

void add_times(Page& page, const Patterns& p) {
  page.line("");
  page.line("Time per rank         mean     least                 most             most/mean - 1");
  add_time_line(page, p, "computing", &RankTotals::compute);
  add_time_line(page, p, "in MPI", &RankTotals::mpi);
  add_time_line(page, p, "  of it waiting", &RankTotals::waiting);
  const Imbalance imbalance = p.imbalance();
  if (imbalance.most_loaded_rank && imbalance.compute >= 0.005) {
    page.line("  Balanced computing would end at most {} earlier ({} of the run).",
              readable(imbalance.compute_time), percent(ratio(imbalance.compute_time, p.virtual_time())));
  }
  if (p.unmodelled.calls > 0) {
    page.line("  {} not modelled: {} of the virtual time.",
              number_of(p.unmodelled.calls, "call was", "calls were"), percent(p.unmodelled.share));
  }
}

/// One bar: computing, MPI without waiting, waiting, and what is left of the run.
std::string stacked(const std::vector<Duration>& parts, Duration whole, report::TextStyle style) {
  constexpr const char* kUnicode[] = {"█", "▒", "░"};
  constexpr const char* kAscii[] = {"#", "+", "."};
  std::string text;
  Duration sum{};
  std::size_t drawn = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    sum_up(sum, parts[i]);
    const auto until = static_cast<std::size_t>(std::clamp(ratio(sum, whole), 0.0, 1.0) * kBarWidth + 0.5);
    for (; drawn < until; ++drawn) text += style.unicode ? kUnicode[i] : kAscii[i];
  }
  return text + std::string(kBarWidth - drawn, ' ');
}

RankTotals mean_of(const Patterns& p, std::size_t first, std::size_t end) {
  RankTotals sum;
  TimeSum compute, mpi, waiting;
  for (std::size_t r = first; r < end; ++r) {
    compute += p.rank[r].compute;
    mpi += p.rank[r].mpi;
    waiting += p.rank[r].waiting;
    sum.messages_sent += p.rank[r].messages_sent;
    sum.bytes_sent += p.rank[r].bytes_sent;
  }
  const auto n = static_cast<std::int64_t>(end - first);
  return {{},
          compute.mean_of(n),
          mpi.mean_of(n),
          waiting.mean_of(n),
          sum.messages_sent / (end - first),
          sum.bytes_sent / (end - first)};
}

void add_ranks(Page& page, const Patterns& p, report::TextStyle style) {
  const std::size_t per_row = (p.ranks() + kMostRows - 1) / kMostRows;
  page.line("");
  page.line(
      "{:<47}{:>10}{:>10}  {:>9} {:>11}",
      style.unicode ? "  rank  █ computing  ▒ in MPI  ░ waiting" : "  rank  # computing  + in MPI  . waiting",
      "computing", "waiting", "messages", "bytes sent");
  for (std::size_t r = 0; r < p.ranks(); r += per_row) {
    const RankTotals mean = mean_of(p, r, std::min(p.ranks(), r + per_row));
    page.line("  {:>5} {} {:>9} {:>9}  {:>9} {:>11}", r,
              stacked({mean.compute, mean.mpi - mean.waiting, mean.waiting}, p.virtual_time(), style),
              readable(mean.compute), readable(mean.waiting), mean.messages_sent, size_text(mean.bytes_sent));
  }
  if (per_row > 1) page.line("  Each line is the mean of {} ranks, from the one named.", per_row);
}

void add_layer(Page& page, const Layer& layer) {
  const auto size = [](const auto& value) {
    return value ? readable_bytes(static_cast<double>(*value)) : "-";
  };
  page.line("  {:<20}{:>12}{:>13}{:>14}{:>13}", layer.name, layer.messages, size_text(layer.bytes),
            size(layer.sizes.least), size(layer.sizes.most));
}

void add_traffic(Page& page, const Patterns& p) {
  page.line("");
  page.line("{:<22}{:>12}{:>13}{:>14}{:>13}", "Traffic by layer", "messages", "bytes", "smallest", "largest");
  for (const Layer& layer : p.layers) add_layer(page, layer);
  if (p.wire) {
    add_layer(page, *p.wire);
    page.line("  wire: all that travels, collectives as the messages of {}.", p.wire_collectives);
  }
  const RankTotals sum = p.totals();
  const auto n = static_cast<double>(p.ranks());
  page.line("  Per rank: {:.6g} point-to-point messages, {:.6g} collective calls.",
            static_cast<double>(sum.messages_sent) / n, static_cast<double>(sum.collective_calls) / n);
  const Spread s = spread(p.rank, [](const RankTotals& r) { return r.partners; });
  page.line("  Partners of a rank: {} (rank {}) to {} (rank {}), mean {:.4g}.", p.rank[s.least].partners,
            s.least, p.rank[s.most].partners, s.most, s.mean);
  if (p.unplaced_messages > 0)
    page.line("  {} in no layer.",
              number_of(p.unplaced_messages, "collective call on an unknown communicator is",
                        "collective calls on unknown communicators are"));
}

void add_collectives(Page& page, const Patterns& p) {
  if (p.collectives.empty()) return;
  std::vector<const CollectiveUse*> uses;
  for (const CollectiveUse& use : p.collectives) uses.push_back(&use);
  std::stable_sort(uses.begin(), uses.end(),
                   [](const CollectiveUse* a, const CollectiveUse* b) { return a->time > b->time; });
  page.line("");
  page.line("{:<26}{:>8}{:>6}{:>11}{:>12}{:>11}{:>10}", "Collectives", "members", "root", "operations",
            "bytes", "time", "waiting");
  for (std::size_t i = 0; i < std::min(uses.size(), kMostListed); ++i) {
    const CollectiveUse& use = *uses[i];
    page.line("  {:<24}{:>8}{:>6}{:>11}{:>12}{:>11}{:>10}", use.name, use.comm_size,
              use.root ? std::to_string(*use.root) : "-", use.operations(), size_text(use.bytes),
              readable(use.time), readable(use.waiting));
  }
  if (uses.size() > kMostListed) page.line("  ... and {}", number_of(uses.size() - kMostListed, "more kind"));
}

void add_sizes(Page& page, const Patterns& p, const ScreenOptions& options) {
  const Layer layer = combine(p, options.layers);
  const Sizes& sizes = options.elements && layer.elements ? *layer.elements : layer.sizes;
  if (layer.messages == 0) return;
  page.line("");
  page.line("Sizes in {}, {}", options.elements ? "elements" : "bytes", layer.name);
  const std::uint64_t most = *std::max_element(sizes.buckets.begin(), sizes.buckets.end());
  if (most == 0) return page.line("  not known");  // a rank's table of sizes was full, or a file says so
  std::size_t first = 0;
  std::size_t end = kSizeBuckets;
  while (sizes.buckets[first] == 0) ++first;
  while (sizes.buckets[end - 1] == 0) --end;
  for (std::size_t b = first; b < end; ++b) {
    const auto limit = bucket_limit(b);
    const std::string upper = !limit             ? "more"
                              : options.elements ? fmt::format("<= {}", *limit)
                                                 : "<= " + readable_bytes(static_cast<double>(*limit));
    page.line("  {:<11}{:>12} {}", upper, sizes.buckets[b],
              report::bar(static_cast<double>(sizes.buckets[b]) / static_cast<double>(most), kBarWidth,
                          options.style));
  }
  auto common = sizes.exact;
  std::stable_sort(common.begin(), common.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string list;
  for (std::size_t i = 0; i < std::min<std::size_t>(5, common.size()); ++i)
    list += fmt::format("{}{} ({} x)", i == 0 ? "" : ", ", common[i].first, common[i].second);
  page.line("  Most common: {}{}", list, common.size() > 5 ? ", ..." : "");
}

template <class Before>
std::vector<const CallSiteUse*> sites_by(const Patterns& p, Before before) {
  std::vector<const CallSiteUse*> sites;
  for (const CallSiteUse& site : p.call_sites) sites.push_back(&site);
  std::stable_sort(sites.begin(), sites.end(),
                   [before](const CallSiteUse* a, const CallSiteUse* b) { return before(*a, *b); });
  return sites;
}

constexpr std::string_view kCalledFrom = ", called from ", kFrom = ", from ";

/// Whole callers only, as many as the line has room for; then at the cost of the function's name.
std::string fitting(std::string place) {
  constexpr std::size_t kRoom = 32;
  while (place.size() > kRoom) {
    const std::size_t last = std::max(place.rfind(kCalledFrom) + 1, place.rfind(kFrom) + 1);
    if (last == 0) break;
    place.replace(last - 1, place.npos, ")");
  }
  const std::size_t line = place.find(" (");
  if (place.size() <= kRoom || line == std::string::npos || place.size() - line + 2 > kRoom) return place;
  return place.substr(0, kRoom - (place.size() - line) - 2) + ".." + place.substr(line);
}

void add_sites_by_time(Page& page, const Patterns& p) {
  const auto sites = sites_by(p, [](const auto& a, const auto& b) { return a.time > b.time; });
  if (sites.empty() || sites.front()->time <= Duration::zero()) return;
  const Duration all = p.totals().mpi;
  page.line("");
  page.line("Call sites by time    time  of MPI   waiting     calls      mean  place");
  for (std::size_t i = 0; i < std::min(kMostSites, sites.size()); ++i) {
    const CallSiteUse& s = *sites[i];
    if (s.time <= Duration::zero()) break;
    page.line("  {:<15}{:>9} {:>7} {:>9} {:>9} {:>9}  {}", s.call, readable(s.time),
              percent(ratio(s.time, all)), readable(s.waiting), s.calls,
              readable(s.time / static_cast<std::int64_t>(std::max<std::uint64_t>(s.calls, 1))),
              fitting(place_of(s)));
  }
}

void add_sites_by_bytes(Page& page, const Patterns& p) {
  const auto sites = sites_by(p, [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  if (sites.empty() || sites.front()->bytes == 0) return;
  page.line("");
  page.line("Call sites by bytes           bytes     calls        mean   place");
  for (std::size_t i = 0; i < std::min(kMostSitesByBytes, sites.size()); ++i) {
    const CallSiteUse& s = *sites[i];
    if (s.bytes == 0 || s.calls == 0) break;
    page.line("  {:<22}{:>11}{:>10}{:>12}   {}", s.call, size_text(s.bytes), s.calls,
              readable_bytes(static_cast<double>(s.bytes) / static_cast<double>(s.calls)),
              fitting(place_of(s)));
  }
}

void add_heatmaps(Page& page, const Patterns& p, const ScreenOptions& options) {
  const Layer layer = combine(p, options.layers);
  const std::size_t per_cell = report::ranks_per_cell(p.ranks());
  const std::string cells = per_cell > 1 ? fmt::format(", {} ranks a cell", per_cell) : "";
  const auto add = [&](const char* what, std::uint64_t Cell::*field) {
    page.line("");
    page.line("{}, {} (row = sender, column = receiver; dark = much{})", what, layer.name, cells);
    for (const std::string& line : report::heatmap(matrix_of(layer, p.ranks(), field), options.style))
      page.line("{}", line);
  };
  add("Messages", &Cell::messages);
  add("Bytes", &Cell::bytes);
}

void add_renumbering(Page& page, const Renumbering& advice) {
  page.line("");
  page.line("Renumbering for {}: {} x hops instead of {}, {} less", advice.topology,
            size_text(advice.hop_bytes_after), size_text(advice.hop_bytes), percent(advice.saving()));
  const std::size_t n = advice.place_of_rank.size();
  if (n > kMostRanksListed)
    return page.line("  The new places are in the JSON (--json FILE), key renumbering.");
  std::string ranks = "  rank      ";
  std::string places = "  should be ";
  for (std::size_t r = 0; r < n; ++r) {
    const auto end = r + 1 == n || r % 16 == 15;
    ranks += fmt::format("{:>4}", r);
    places += fmt::format("{:>4}", advice.place_of_rank[r]);
    if (!end) continue;
    page.line("{}", std::exchange(ranks, "  rank      "));
    page.line("{}", std::exchange(places, "  should be "));
  }
}

}  // namespace

namespace {

std::string line_of(const SiteFrame& f) {
  return fmt::format("{}:{}", std::filesystem::path{f.file}.filename().string(), f.line);
}

/// ", called from solver.c:40, from line 71": a file is named once.
std::string callers(const std::vector<SiteFrame>& frames) {
  std::string text;
  for (std::size_t i = 1; i < frames.size() && !frames[i].file.empty(); ++i) {
    const bool same_file = frames[i].file == frames[i - 1].file;
    text += std::string{i == 1 ? kCalledFrom : kFrom} +
            (same_file ? fmt::format("line {}", frames[i].line) : line_of(frames[i]));
  }
  return text;
}

}  // namespace

std::string place_of(const CallSiteUse& site) {
  if (site.frames.empty()) return "unknown";
  const SiteFrame& f = site.frames.front();
  const std::string function = f.function.empty() ? "" : events::spoken_name(f.function) + " ";
  if (!f.file.empty()) return fmt::format("{}({}{})", function, line_of(f), callers(site.frames));
  if (f.module.empty()) return f.function.empty() ? "unknown" : f.function;
  const std::string address =
      fmt::format("{}+{:#x}", std::filesystem::path{f.module}.filename().string(), f.offset);
  return function.empty() ? address : function + "(" + address + ")";
}

std::string first_screen(const Patterns& patterns, const ScreenOptions& options) {
  Page page;
  add_head(page, patterns);
  if (patterns.ranks() == 0) return page.take();
  add_times(page, patterns);
  add_ranks(page, patterns, options.style);
  add_traffic(page, patterns);
  add_files(page, patterns);
  add_collectives(page, patterns);
  add_sizes(page, patterns, options);
  add_sites_by_time(page, patterns);
  add_sites_by_bytes(page, patterns);
  if (options.heatmap) add_heatmaps(page, patterns, options);
  if (patterns.renumbering) add_renumbering(page, *patterns.renumbering);
  return page.take();
}

}  // namespace nplus1::patterns
