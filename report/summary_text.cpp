// The terminal summary. Everything has a bounded number of lines, whatever the number of ranks.
#include <algorithm>

#include "report/exact_time.hpp"
#include "report/heatmap.hpp"
#include "report/page.hpp"
#include "report/results.hpp"
#include "report/trust.hpp"
#include "support/number_of.hpp"
#include "support/time_sum.hpp"

namespace nplus1::report {
namespace {

constexpr std::size_t kMostBars = 16;
constexpr std::size_t kBarWidth = 40;
constexpr std::size_t kMostCollectives = 12;
constexpr std::size_t kSideBySide = 16;  // two heatmaps of so many ranks fit 80 columns

std::string upper_limit(const SizeBucket& bucket) {
  return bucket.upper ? fmt::format("<= {}", readable_bytes(static_cast<double>(count(*bucket.upper))))
                      : "more";
}

void add_head(Page& page, const RunSummary& s) {
  page.line("nplus1: {} on {}{}", s.application.empty() ? "the run" : s.application,
            number_of(s.ranks, "rank"),
            s.complete ? "" : " (INCOMPLETE: the program did not reach MPI_Finalize everywhere)");
  page.line("  virtual time  {:<12} wall time {}", readable(s.virtual_time),
            readable(from_seconds(s.wall_time_s)));
  page.line("  network       {}", s.network);
  page.line("  clock         {}{}; compute {}; protocol {}", s.clock,
            s.clock_reason.empty() ? "" : " (" + s.clock_reason + ")", s.compute, s.protocol);
}

void add_one_sided(Page& page, const RunSummary& s) {
  if (s.one_sided.empty()) return;
  std::string kinds;
  std::uint64_t transfers = 0, bytes = 0;
  for (const OneSidedCount& count : s.one_sided) {
    kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", count.operation, count.transfers);
    transfers += count.transfers;
    bytes += count.bytes;
  }
  page.line("One-sided: {}, {} ({})", number_of(transfers, "transfer"),
            readable_bytes(static_cast<double>(bytes)), kinds);
}

/// MPI-IO, and what the ranks' own reads and writes came to: every process has some, of its libraries.
void add_io(Page& page, const RunSummary& s) {
  if (!s.io) return;
  constexpr std::uint64_t kMuch = 1U << 20U;
  const auto size = [](std::uint64_t bytes) { return readable_bytes(static_cast<double>(bytes)); };
  const bool uses_mpi_io = s.io->files + s.io->reads + s.io->writes > 0;
  if (uses_mpi_io)
    page.line("Files: {} read in {}, {} written in {}, {}; {} in MPI-IO, {} of it waiting for others",
              size(s.io->bytes_read), number_of(s.io->reads, "call"), size(s.io->bytes_written), s.io->writes,
              number_of(s.io->files, "file"), readable(s.io->time), readable(s.io->waiting));
  if (!s.io->system) return;
  const auto& own = *s.io->system;
  if (uses_mpi_io || own.bytes_read + own.bytes_written >= kMuch)
    page.line("  read(), write() and their like, which take no virtual time: {} read, {} written",
              size(own.bytes_read), size(own.bytes_written));
}

void add_densities(Page& page, const RunSummary& s, TextStyle style) {
  page.line("");
  add_one_sided(page, s);
  add_io(page, s);
  if (s.messages.total() == 0) return page.line("Point-to-point: no messages");
  page.line("Point-to-point: {}, {} (row = sender, column = receiver; dark = much)",
            number_of(s.messages.total(), "message"), readable_bytes(static_cast<double>(s.bytes.total())));
  const auto messages = heatmap(s.messages, style);
  const auto bytes = heatmap(s.bytes, style);
  if (s.ranks > kSideBySide) {
    page.line("  messages{}",
              ranks_per_cell(s.ranks) > 1 ? fmt::format(", {} ranks a cell", ranks_per_cell(s.ranks)) : "");
    for (const std::string& line : messages) page.line("{}", line);
    page.line("  bytes");
    for (const std::string& line : bytes) page.line("{}", line);
    return;
  }
  const std::size_t column = 6 + 2 * std::max<std::size_t>(s.ranks, 6);
  page.line("{:<{}}{}", "  messages", column, "  bytes");
  for (std::size_t i = 0; i < messages.size(); ++i) {
    page.line("{}{}{}", messages[i], std::string(column - std::min(column, display_width(messages[i])), ' '),
              bytes[i]);
  }
}

void add_sizes(Page& page, const RunSummary& s) {
  std::string sizes;
  for (const SizeBucket& bucket : s.message_sizes) {
    if (bucket.count > 0)
      sizes += fmt::format("{}{}: {}", sizes.empty() ? "" : ",  ", upper_limit(bucket), bucket.count);
  }
  if (!sizes.empty()) page.line("  sizes  {}", sizes);
}

void add_collectives(Page& page, const RunSummary& s) {
  if (s.collectives.empty()) return;
  page.line("");
  page.line("Collectives                members   root   calls per rank");
  for (std::size_t i = 0; i < std::min(kMostCollectives, s.collectives.size()); ++i) {
    const CollectiveCount& c = s.collectives[i];
    const auto [least, most] = std::minmax_element(c.calls_per_rank.begin(), c.calls_per_rank.end());
    const bool any = least != c.calls_per_rank.end();
    page.line("  {:<24} {:>7} {:>6}   {}", c.name, c.comm_size, c.root ? std::to_string(*c.root) : "-",
              !any              ? "0"
              : *least == *most ? std::to_string(*most)
                                : fmt::format("{} to {}", *least, *most));
  }
  if (s.collectives.size() > kMostCollectives) {
    page.line("  ... and {} in summary.json",
              number_of(s.collectives.size() - kMostCollectives, "more kind"));
  }
}

/// Mean of each group of ranks that shares a bar.
std::vector<Duration> grouped(const std::vector<Duration>& times, std::size_t per_bar) {
  std::vector<Duration> means;
  for (std::size_t at = 0; at < times.size(); at += per_bar) {
    const auto end = times.begin() + static_cast<std::ptrdiff_t>(std::min(at + per_bar, times.size()));
    const auto begin = times.begin() + static_cast<std::ptrdiff_t>(at);
    means.push_back(time_sum(begin, end).mean_of(end - begin));
  }
  return means;
}

void add_compute(Page& page, const RunSummary& s, TextStyle style) {
  const auto& times = s.compute_time;
  if (times.empty()) return;
  const Duration most = *std::max_element(times.begin(), times.end());
  if (most <= Duration::zero()) return;
  const Duration mean = time_sum(times.begin(), times.end()).mean_of(std::ssize(times));
  const std::size_t per_bar = (times.size() + kMostBars - 1) / kMostBars;
  page.line("");
  page.line("Compute time: mean {}, most {}{}", readable(mean), readable(most),
            per_bar > 1 ? fmt::format("; bars: means of {} ranks", per_bar) : "");
  page.line("  imbalance (most / mean - 1) {:.1f} %, load balance (mean / most) {:.1f} %",
            100 * (seconds(most) / seconds(mean) - 1), 100 * seconds(mean) / seconds(most));
  const auto means = grouped(times, per_bar);
  for (std::size_t i = 0; i < means.size(); ++i) {
    page.line("{:>5} {} {}", i * per_bar, bar(seconds(means[i]) / seconds(most), kBarWidth, style),
              readable(means[i]));
  }
}

void add_links(Page& page, const RunSummary& s) {
  if (!s.links.empty()) page.line("");
  for (const std::string& line : s.links) page.line("{}", line);
}

void add_trust(Page& page, const RunSummary& s) {
  page.line("");
  page.line("Trust: {} of {} observed, {}; unmodelled calls {} ({:.1f} % of virtual time)",
            s.trust.active_ranks, number_of(s.ranks, "rank"), number_of(s.trust.events, "event"),
            s.unmodelled.calls, 100 * s.unmodelled.share);
  for (const std::string& doubt : doubts(s.trust)) page.line("  {}", doubt);
  for (const std::string& note : s.notes) page.line("  {}", note);
}

void add_recording(Page& page, const RunSummary& s) {
  if (!s.recording) return;
  const Recording& r = *s.recording;
  page.line("Recording: {} in {}/, {}", number_of(r.events, "event"), r.path,
            readable_bytes(static_cast<double>(r.bytes)));
  if (r.dropped > 0)
    page.line("  {} not in it; with them it would be some {}",
              number_of(r.dropped, "more event is", "more events are"),
              readable_bytes(static_cast<double>(r.expected_bytes)));
  const double ranks_time = s.wall_time_s * s.ranks;
  if (r.hashing_s > 0 && ranks_time > 0)
    page.line("  payload hashing: {}, {:.1f} % of the ranks' time", readable(from_seconds(r.hashing_s)),
              100 * r.hashing_s / ranks_time);
}

}  // namespace

std::string summary_text(const RunSummary& summary, const std::string& folder, TextStyle style) {
  Page page;
  add_head(page, summary);
  add_densities(page, summary, style);
  add_sizes(page, summary);
  add_collectives(page, summary);
  add_compute(page, summary, style);
  add_links(page, summary);
  add_trust(page, summary);
  add_recording(page, summary);
  if (!folder.empty()) page.line("Report: {}/report.html; for programs: *.json and *.csv beside it", folder);
  return page.take();
}

}  // namespace nplus1::report
