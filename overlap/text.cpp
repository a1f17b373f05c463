// The results of `nplus1 overlap` for a terminal.
#include <fmt/format.h>

#include <algorithm>

#include "overlap/results.hpp"
#include "report/exact_time.hpp"
#include "support/number_of.hpp"

namespace nplus1::overlap {
namespace {

constexpr std::size_t kMostChains = 12;
constexpr std::size_t kMostSites = 8;
constexpr std::size_t kMostLines = 10;

std::string readable_seconds(double s) {
  return s < 0 ? "-" + report::readable(from_seconds(-s)) : report::readable(from_seconds(s));
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

/// "12.3 us, with weak progress 11 us".
std::string both(const Results& r, const Replays& replays, Variant v) {
  const auto asynchronous = r.saved_s(replays, v, ProgressKind::kAsynchronous);
  const auto weak = r.saved_s(replays, v, ProgressKind::kWeak);
  if (!asynchronous && !weak) return "not known: the replay does not end";
  if (asynchronous && weak && std::abs(*asynchronous - *weak) < 1e-12) return readable_seconds(*asynchronous);
  return fmt::format("{}; with MPI's weak progress {}", asynchronous ? readable_seconds(*asynchronous) : "?",
                     weak ? readable_seconds(*weak) : "?");
}

std::string ending(const Chain& chain, const Survey& survey) {
  const std::string where = short_text(place_of_site(survey, chain.ending_site));
  switch (chain.ends()) {
    case EndedBy::kTouch:
      return fmt::format(
          "its data are {} at {}{}", chain.touch.write ? "written" : "used", where,
          chain.touch.known()
              ? fmt::format(" ({}byte {})", chain.touch.inexact ? "page of " : "", chain.touch.offset)
              : "");
    case EndedBy::kOverlap:
      return fmt::format("the message at {} uses the same memory", where);
    case EndedBy::kCall:
      return fmt::format("the call at {} needs it complete", where);
    case EndedBy::kFinalize:
      return "nothing uses its data before the end of the program";
  }
  return "";
}

bool replayed(const Replays& replays, Variant v) {
  const auto& of = replays[static_cast<std::size_t>(v)];
  return of[0].has_value() || of[1].has_value();
}

/// What one wait in the source saves, where some instances could wait for longer.
std::string one_wait_text(const Results& r, const ChainFinding& f) {
  const std::string where =
      f.one_wait->where == WaitsAt::kBeforeLine
          ? fmt::format("before {}, where some of them use their data",
                        short_text({"", f.one_wait->line.file, f.one_wait->line.line, ""}))
          : "behind the calls, since their function does not use the data";
  return fmt::format("with one wait for all ranks and times ({}): saves {}", where,
                     replayed(f.alone, Variant::kOneWait) ? both(r, f.alone, Variant::kOneWait) : "nothing");
}

std::string chain_text(const Results& r, const ChainFinding& f, const Survey& survey,
                       const Analysis& analysis) {
  const Chain& chain = analysis.chains[f.chain];
  const double saving = r.saving_s(f);
  std::string text = fmt::format("{:>12} {:>8}  {}\n", readable_seconds(saving), percent(r.share(saving)),
                                 title_with_callers(survey, chain.contexts));
  const auto line = [&text](const std::string& words) { text += fmt::format("{:>23}{}\n", "", words); };
  line(fmt::format("chain {}: {} on {}, {} each; until {}", chain_name(chain),
                   number_of(chain.instances.size(), "time"), number_of(chain.ranks, "rank"),
                   number_of(chain.requests, "request"), ending(chain, survey)));
  if (f.parts.size() > 1)
    line(fmt::format("with {} of ranks or times that make some of its calls alone",
                     number_of(f.parts.size() - 1, "chain")));
  if (replayed(f.alone, Variant::kGrouped))
    line("started where it is and waited for there: saves " + both(r, f.alone, Variant::kGrouped));
  if (f.one_wait && !f.waits_as_grouped && f.one_wait->where != WaitsAt::kEndOfBlock)
    line(one_wait_text(r, f));
  if (replayed(f.alone, Variant::kMerged))
    line(fmt::format(
        "together with {}: saves {}",
        chain.merges.empty() ? "what can be started with those parts" : title(survey, chain.merges),
        both(r, f.alone, Variant::kMerged)));
  if (replayed(f.alone, Variant::kPerRequest))
    line("each request posted as early and waited for as late as is legal: saves " +
         both(r, f.alone, Variant::kPerRequest));
  if (!f.measured.empty()) line("measured on the machine's own MPI: " + f.measured);
  if (!f.not_patched.empty()) line("no patch: " + f.not_patched);
  return text;
}

std::string chains_text(const Results& r, const Survey& survey, const Analysis& analysis) {
  if (analysis.chains.empty()) return "No message could be started earlier or waited for later.\n";
  std::string text;
  std::size_t shown = 0, less = 0;
  for (const ChainFinding& f : r.chains) {
    if (!r.is_finding(f) || shown == kMostChains) {
      ++less;
      continue;
    }
    if (shown++ == 0) text += fmt::format("{:>12} {:>8}  {}\n", "saves", "", "if it were non-blocking");
    text += chain_text(r, f, survey, analysis);
  }
  if (shown == 0)
    text += fmt::format("No chain of messages alone would save {} of the run.\n", percent(r.at_least));
  if (less > 0)
    text += fmt::format("{} more would save less than {} each (--at-least; --json has them)\n",
                        number_of(less, "chain"), percent(r.at_least));
  if (r.not_priced > 0)
    text += fmt::format("{} too little time to be tried (--most)\n",
                        number_of(r.not_priced, "more takes", "more take"));
  if (r.chains.size() > 1 && replayed(r.all, Variant::kGrouped))
    text += fmt::format("All chains together: {}; each request as early and as late as is legal: {}\n",
                        both(r, r.all, Variant::kGrouped), both(r, r.all, Variant::kPerRequest));
  return text;
}

/// The check by a second replay, in sentences.
std::string two_replays_text(const TwoReplays& two) {
  const auto part = [](std::int64_t ps) { return readable_seconds(seconds(Duration{ps})); };
  const double change = 100 * (two.ratio - 1);
  std::string text = "  Checked by a second replay, in which each non-blocking call is waited for at once:\n";
  text += std::abs(change) < 0.005 ? std::string{"    its messages are in transfer for as long"}
                                   : fmt::format("    its messages are in transfer for {:.2f} % {} time",
                                                 std::abs(change), change > 0 ? "more" : "less");
  text += fmt::format("; of that, the program as it is hides {}\n", percent(two.share));
  text += fmt::format(
      "    its ranks are in MPI for {} longer: {} of transfer that computing hides now,\n"
      "    {}{} because transfers take {}, {} of waiting for others that computing hides now\n",
      part(two.added), part(two.transfer), two.longer < 0 ? "less by " : "", part(std::abs(two.longer)),
      two.longer < 0 ? "less time" : "longer", part(two.partners));
  return text;
}

/// What would be hidden if everything were moved as far as is legal.
std::string bound_text(const Results& r) {
  const auto bound = r.bound(ProgressKind::kAsynchronous);
  if (!bound) return {};
  if (*bound <= r.efficiency.whole.share())
    return "  Its data allow no more: nothing more is hidden with each request posted as early and waited "
           "for as late as "
           "is legal\n";
  std::string text = fmt::format(
      "  Its data would allow {}, with each request posted as early and waited for as late as is legal",
      percent(*bound));
  if (const auto weak = r.bound(ProgressKind::kWeak))
    text += fmt::format(" ({} with MPI's weak progress)", percent(*weak));
  return text + "\n";
}

std::string efficiency_text(const Results& r, const Survey& survey) {
  const EfficiencyResult& e = r.efficiency;
  if (e.whole.transfer == 0) return "\nNo message was in transfer for any time that computing could hide.\n";
  std::string text = fmt::format(
      "\nOverlap efficiency: for {} of the time that messages are in transfer, their ranks compute\n",
      percent(e.whole.share()));
  if (e.non_blocking.transfer > 0)
    text +=
        fmt::format("  Of the messages of non-blocking calls alone: {}\n", percent(e.non_blocking.share()));
  if (const auto two = r.two_replays()) text += two_replays_text(*two);
  text += bound_text(r);
  std::vector<std::pair<std::uint32_t, Hidden>> sites{e.sites.begin(), e.sites.end()};
  std::stable_sort(sites.begin(), sites.end(),
                   [](const auto& a, const auto& b) { return a.second.transfer > b.second.transfer; });
  text += fmt::format("{:>12} {:>8}  {}\n", "in transfer", "hidden", "posted at");
  for (std::size_t i = 0; i < std::min(kMostSites, sites.size()); ++i)
    text += fmt::format("{:>12} {:>8}  {}\n", report::readable(Duration{sites[i].second.transfer}),
                        percent(sites[i].second.share()), short_text(place_of_site(survey, sites[i].first)));
  if (sites.size() > kMostSites) text += fmt::format("{:>23}and {} more\n", "", sites.size() - kMostSites);
  return text;
}

std::string races_text(const Survey& survey, const Analysis& analysis) {
  if (analysis.races.empty()) return "";
  std::string text = "\nTouched before its request was waited for: an error in the program\n";
  for (std::size_t i = 0; i < std::min(kMostLines, analysis.races.size()); ++i) {
    const Race& race = analysis.races[i];
    text +=
        fmt::format("  {} {} byte {} of what {} at {} {} ({} time{}{})\n",
                    short_text(place_of_site(survey, race.touch.site)), race.touch.write ? "writes" : "reads",
                    race.touch.offset, place_of_call(survey, race.request).function,
                    short_text(place_of_call(survey, race.request)), race.receive ? "receives" : "sends",
                    race.count, race.count == 1 ? "" : "s",
                    race.touch.inexact ? "; only the page is known, so it may be no error" : "");
  }
  return text;
}

std::string not_deferrable_text(const Survey& survey, const Analysis& analysis) {
  const auto lines = not_deferrable_lines(survey, analysis);
  if (lines.empty()) return "";
  std::string text = "\nCannot be deferred\n";
  for (std::size_t i = 0; i < std::min(kMostLines, lines.size()); ++i) {
    const NotDeferrableLine& n = lines[i];
    text += fmt::format("  {} at {} ({} time{}): {}\n", n.place.function, short_text(n.place), n.count,
                        n.count == 1 ? "" : "s", n.reason);
  }
  if (lines.size() > kMostLines) text += fmt::format("  and {} more (--json)\n", lines.size() - kMostLines);
  return text;
}

}  // namespace

std::string overlap_text(const Results& results, const Survey& survey, const Analysis& analysis) {
  std::string text =
      fmt::format("{} on {}: {} of virtual time on {}\n\n",
                  results.application.empty() ? "The program" : results.application,
                  number_of(results.ranks, "rank"), readable_seconds(results.run_s()), results.network);
  if (results.accesses) text += chains_text(results, survey, analysis);
  text += efficiency_text(results, survey);
  if (!results.accesses) return text;
  return text + races_text(survey, analysis) + not_deferrable_text(survey, analysis);
}

}  // namespace nplus1::overlap
