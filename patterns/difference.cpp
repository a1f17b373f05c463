#include "patterns/difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

#include "patterns/first_screen.hpp"

namespace nplus1::patterns {
namespace {

using Amounts = std::map<std::string, std::int64_t>;

/// Sums of what a file claims may be anything.
void add(std::int64_t& amount, std::uint64_t more) {
  amount = static_cast<std::int64_t>(static_cast<std::uint64_t>(amount) + more);
}

/// Amounts by name of both runs, as changes; those that agree are left out.
std::vector<Change> changes(const Amounts& before, const Amounts& after, Unit unit) {
  std::map<std::string, Change> all;
  for (const auto& [name, amount] : before) all[name] = {name, unit, amount, 0};
  for (const auto& [name, amount] : after) {
    Change& change = all[name];
    change.what = name;
    change.unit = unit;
    change.after = amount;
  }
  std::vector<Change> result;
  for (auto& [name, change] : all)
    if (change.difference() != 0) result.push_back(std::move(change));
  return result;
}

void sort_by_difference(std::vector<Change>& changes) {
  std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return std::abs(a.difference()) > std::abs(b.difference());
  });
}

std::vector<Change> sorted(std::vector<Change> changes) {
  sort_by_difference(changes);
  return changes;
}

std::vector<Change> totals(const Patterns& a, const Patterns& b) {
  const RankTotals x = a.totals();
  const RankTotals y = b.totals();
  const auto count = [](const char* what, std::uint64_t before, std::uint64_t after,
                        Unit unit = Unit::kCount) {
    return Change{what, unit, static_cast<std::int64_t>(before), static_cast<std::int64_t>(after)};
  };
  const auto time = [](const char* what, Duration before, Duration after) {
    return Change{what, Unit::kTime, before.count(), after.count()};
  };
  return {count("ranks", a.ranks(), b.ranks()),
          count("point-to-point messages", x.messages_sent, y.messages_sent),
          count("point-to-point bytes", x.bytes_sent, y.bytes_sent, Unit::kBytes),
          count("collective calls", x.collective_calls, y.collective_calls),
          time(a.real_time && b.real_time   ? "real time"
               : a.real_time || b.real_time ? "time of the run"
                                            : "virtual time",
               a.virtual_time(), b.virtual_time()),
          time("computing, all ranks", x.compute, y.compute),
          time("in MPI, all ranks", x.mpi, y.mpi),
          time("waiting, all ranks", x.waiting, y.waiting)};
}

// layer, sender, receiver
using Pair = std::tuple<std::string, std::int32_t, std::int32_t>;
struct Traffic {
  std::int64_t messages[2]{};
  std::int64_t bytes[2]{};
};

void add_traffic(std::map<Pair, Traffic>& pairs, const Patterns& p, std::size_t run) {
  for (const Layer& layer : p.layers) {
    for (const MatrixRow& row : layer.rows) {
      for (const Cell& cell : row.cells) {
        Traffic& traffic = pairs[{layer.name, row.source, cell.destination}];
        traffic.messages[run] = static_cast<std::int64_t>(cell.messages);
        traffic.bytes[run] = static_cast<std::int64_t>(cell.bytes);
      }
    }
  }
}

std::vector<Change> pairs(const Patterns& a, const Patterns& b) {
  std::map<Pair, Traffic> pairs;
  add_traffic(pairs, a, 0);
  add_traffic(pairs, b, 1);
  std::vector<Change> result;
  for (const auto& [pair, t] : pairs) {
    const auto& [layer, from, to] = pair;
    const std::string what = fmt::format("{} {} -> {}", layer, from, to);
    if (t.messages[0] != t.messages[1])
      result.push_back({what, Unit::kCount, t.messages[0], t.messages[1]});
    else if (t.bytes[0] != t.bytes[1])
      result.push_back({what, Unit::kBytes, t.bytes[0], t.bytes[1]});
  }
  sort_by_difference(result);
  return result;
}

Amounts sizes(const Patterns& p) {
  Amounts amounts;
  for (const Layer& layer : p.layers) {
    for (const auto& [size, count] : layer.sizes.exact)
      add(amounts[fmt::format("{} of {} B", layer.name, size)], count);
    if (layer.sizes.others > 0) add(amounts[layer.name + " of other sizes"], layer.sizes.others);
  }
  return amounts;
}

bool same_sizes(const Patterns& a, const Patterns& b) {
  return std::equal(a.layers.begin(), a.layers.end(), b.layers.begin(), b.layers.end(),
                    [](const Layer& x, const Layer& y) { return x.name == y.name && x.sizes == y.sizes; });
}

std::string name_of(const CollectiveUse& use) {
  const std::string root = use.root ? fmt::format(", root {}", *use.root) : "";
  return fmt::format("{} on {}{}", use.name, use.comm_size, root);
}

Amounts collectives(const Patterns& p) {
  Amounts amounts;
  for (const auto* uses : {&p.collectives, &p.communicator_calls})
    for (const CollectiveUse& use : *uses) add(amounts[name_of(use)], use.calls());
  return amounts;
}

/// As many calls in all, but by other ranks.
bool same_callers(const Patterns& a, const Patterns& b) {
  std::map<std::string, std::vector<std::uint64_t>> calls[2];
  for (const std::size_t run : {0U, 1U})
    for (const auto* uses : {&(run == 0 ? a : b).collectives, &(run == 0 ? a : b).communicator_calls})
      for (const CollectiveUse& use : *uses) calls[run][name_of(use)] = use.calls_per_rank;
  return calls[0] == calls[1];
}

enum class Paths : std::uint8_t { kWhole, kNames };

/// A line's text without what every edit above it changes: the numbers. With names alone also without the folders, which
/// are others where the two runs are of two copies of the source tree.
std::string text_of(const CallSiteUse& site, Paths paths) {
  std::string text = site.call;
  for (const SiteFrame& f : site.frames) {
    const std::string& path = f.file.empty() ? f.module : f.file;
    text += "|" + f.function + (f.file.empty() ? "|at " : "|in ") +
            (paths == Paths::kWhole ? path : path.substr(path.rfind('/') + 1));
  }
  return text;
}

std::vector<std::uint64_t> numbers_of(const CallSiteUse& site) {
  std::vector<std::uint64_t> numbers;
  for (const SiteFrame& f : site.frames) numbers.push_back(f.file.empty() ? f.offset : f.line);
  return numbers;
}

using Sites = std::vector<const CallSiteUse*>;
using SitePair = std::pair<const CallSiteUse*, const CallSiteUse*>;  // one may be null

/// Sites with the same text, those of either run in the order of their lines. Those that are as many are the
/// same sites in that order; else the longest common sequence of those with as many calls is.
void align(const Sites& a, const Sites& b, std::vector<SitePair>& pairs) {
  const std::size_t n = a.size();
  const std::size_t m = b.size();
  constexpr std::size_t kMostAligned = 1000;
  const bool all = n == m || n > kMostAligned || m > kMostAligned;
  const auto equal = [&](std::size_t i, std::size_t j) {
    return all ? i == j : a[i]->calls == b[j]->calls || numbers_of(*a[i]) == numbers_of(*b[j]);
  };
  std::vector<std::vector<std::size_t>> longest(n + 1, std::vector<std::size_t>(all ? 0 : m + 1, 0));
  if (!all)
    for (std::size_t i = n; i-- > 0;)
      for (std::size_t j = m; j-- > 0;)
        longest[i][j] =
            equal(i, j) ? longest[i + 1][j + 1] + 1 : std::max(longest[i + 1][j], longest[i][j + 1]);
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < n && j < m) {
    if (equal(i, j))
      pairs.emplace_back(a[i++], b[j++]);
    else if (!all && longest[i + 1][j] < longest[i][j + 1])
      pairs.emplace_back(nullptr, b[j++]);
    else
      pairs.emplace_back(a[i++], nullptr);
  }
  for (; i < n; ++i) pairs.emplace_back(a[i], nullptr);
  for (; j < m; ++j) pairs.emplace_back(nullptr, b[j]);
}

/// The sites of both runs that have one text.
using SitesByText = std::map<std::string, std::pair<Sites, Sites>>;

SitesByText by_text(const Sites& before, const Sites& after, Paths paths) {
  SitesByText all;
  for (const CallSiteUse* site : before) all[text_of(*site, paths)].first.push_back(site);
  for (const CallSiteUse* site : after) all[text_of(*site, paths)].second.push_back(site);
  return all;
}

void align_all(SitesByText& all, std::vector<SitePair>& pairs) {
  for (auto& [text, sites] : all) {
    for (Sites* of_run : {&sites.first, &sites.second})
      std::stable_sort(of_run->begin(), of_run->end(),
                       [](const auto* x, const auto* y) { return numbers_of(*x) < numbers_of(*y); });
    align(sites.first, sites.second, pairs);
  }
}

Sites pointers_to(const std::vector<CallSiteUse>& sites) {
  Sites all;
  for (const CallSiteUse& site : sites) all.push_back(&site);
  return all;
}

/// The call sites of both runs, also where lines have moved; and those in files that only one run has, where a file of
/// the same name is in the other.
std::vector<SitePair> paired_sites(const Patterns& before, const Patterns& after) {
  SitesByText on_one_path =
      by_text(pointers_to(before.call_sites), pointers_to(after.call_sites), Paths::kWhole);
  Sites before_alone;
  Sites after_alone;
  for (auto it = on_one_path.begin(); it != on_one_path.end();) {
    auto& [of_before, of_after] = it->second;
    if (of_before.empty() || of_after.empty()) {
      before_alone.insert(before_alone.end(), of_before.begin(), of_before.end());
      after_alone.insert(after_alone.end(), of_after.begin(), of_after.end());
      it = on_one_path.erase(it);
    } else {
      ++it;
    }
  }
  SitesByText of_one_name = by_text(before_alone, after_alone, Paths::kNames);
  std::vector<SitePair> pairs;
  align_all(on_one_path, pairs);
  align_all(of_one_name, pairs);
  return pairs;
}

/// "MPI_Send at exchange (halo.c:58)", and where it is in the second run if that is elsewhere.
std::string name_of(const SitePair& pair) {
  const CallSiteUse& site = pair.first != nullptr ? *pair.first : *pair.second;
  const std::string name = site.call + " at " + place_of(site);
  if (pair.first == nullptr || pair.second == nullptr || numbers_of(*pair.first) == numbers_of(*pair.second))
    return name;
  const SiteFrame& now = pair.second->frames.front();
  return name + (now.file.empty() ? fmt::format(", then +{:#x}", now.offset)
                                  : fmt::format(", then line {}", now.line));
}

/// Of two runs of one program on one path: all sites with one name are one change.
template <class Amount>
std::vector<Change> site_changes(const std::vector<SitePair>& pairs, Unit unit, Amount amount) {
  std::map<std::string, Change> all;
  for (const SitePair& pair : pairs) {
    const std::string name = name_of(pair);
    Change& change = all.try_emplace(name, Change{name, unit, 0, 0}).first->second;
    if (pair.first != nullptr) change.before += amount(*pair.first);
    if (pair.second != nullptr) change.after += amount(*pair.second);
  }
  std::vector<Change> result;
  for (auto& [name, change] : all)
    if (change.difference() != 0) result.push_back(std::move(change));
  return sorted(std::move(result));
}

}  // namespace

Difference compare(const Patterns& before, const Patterns& after) {
  const auto calls = [](const CallSiteUse& site) { return static_cast<std::int64_t>(site.calls); };
  const auto time = [](const CallSiteUse& site) { return site.time.count(); };
  Difference d;
  d.totals = totals(before, after);
  d.pairs = pairs(before, after);
  d.sizes = sorted(changes(sizes(before), sizes(after), Unit::kCount));
  d.collectives = sorted(changes(collectives(before), collectives(after), Unit::kCount));
  const std::vector<SitePair> sites = paired_sites(before, after);
  d.sites_calls = site_changes(sites, Unit::kCount, calls);
  d.sites_time = site_changes(sites, Unit::kTime, time);
  d.same_pattern = before.ranks() == after.ranks() && d.pairs.empty() && same_sizes(before, after) &&
                   same_callers(before, after);
  return d;
}

}  // namespace nplus1::patterns
