#include "overlap/projection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "report/exact_time.hpp"

namespace nplus1::overlap {
namespace {

using Json = nlohmann::ordered_json;
constexpr double kPicosecond = 1e-12;

/// Computing of a thread between two places of its stream.
double computing_between(const SurveyedRank& rank, ThreadId thread, std::uint64_t behind,
                         std::uint64_t until) {
  const auto& lane = rank.of_thread[thread.index()];
  auto at = std::lower_bound(lane.begin(), lane.end(), behind + 1,
                             [&](std::uint32_t i, std::uint64_t o) { return rank.moments[i].ordinal < o; });
  std::int64_t sum = 0;
  for (; at != lane.end() && rank.moments[*at].ordinal <= until; ++at) sum += rank.moments[*at].compute_ps;
  return kPicosecond * static_cast<double>(sum);
}

ChainNumbers numbers_of(const Survey& survey, const Chain& chain,
                        const std::map<std::pair<std::int32_t, std::uint64_t>, std::uint64_t>& next) {
  ChainNumbers numbers;
  double messages = 0;
  for (const ChainInstance& instance : chain.instances) {
    const SurveyedRank& rank = survey.ranks()[static_cast<std::size_t>(instance.rank)];
    const MessageEnd& last = rank.ends[instance.members.back()];
    for (const std::uint32_t i : instance.members) {
      if (rank.ends[i].to_nobody()) continue;
      numbers.bytes +=
          static_cast<double>(rank.ends[i].receives() ? rank.ends[i].answer.size : rank.ends[i].event.size);
      ++messages;
    }
    numbers.hideable_s += computing_between(rank, last.event.thread, last.completed, instance.end);
    const auto follows = next.find({instance.rank, last.ordinal});
    if (follows != next.end())
      numbers.computing_s += computing_between(rank, last.event.thread, instance.end, follows->second);
  }
  const auto count = static_cast<double>(chain.instances.size());
  numbers.instances = count / static_cast<double>(std::max<std::uint64_t>(1, chain.ranks));
  numbers.bytes /= std::max(1.0, messages);
  numbers.hideable_s /= count;
  numbers.computing_s /= count;
  return numbers;
}

/// First message of the chain behind each chain, by rank and last message.
std::map<std::pair<std::int32_t, std::uint64_t>, std::uint64_t> followers(const Survey& survey,
                                                                          const Analysis& analysis) {
  std::map<std::pair<std::int32_t, std::uint64_t>, std::uint64_t> begins, next;  // begins: first -> last
  for (const Chain& chain : analysis.chains)
    for (const ChainInstance& i : chain.instances) {
      const auto& ends = survey.ranks()[static_cast<std::size_t>(i.rank)].ends;
      begins[{i.rank, ends[i.members.front()].ordinal}] = ends[i.members.back()].ordinal;
    }
  for (auto at = begins.begin(); at != begins.end(); ++at) {
    const auto behind = std::next(at);
    if (behind != begins.end() && behind->first.first == at->first.first)
      next[{at->first.first, at->second}] = behind->first.second;
  }
  return next;
}

Quantity quantity(const std::vector<ProjectedRun>& runs, const std::string& what, const std::string& unit,
                  double size, double ranks, const std::function<double(const ProjectedRun&)>& value) {
  std::vector<Point> points;
  for (const ProjectedRun& run : runs) points.push_back({run.size, run.ranks, value(run)});
  Quantity q{what, unit, fit(points), 0, {}};
  q.value = q.fit.best.at(size, ranks);
  q.spread = q.fit.spread(size, ranks);
  return q;
}

std::string with_unit(double value, const std::string& unit) {
  if (unit == "s") return report::readable(from_seconds(std::max(0.0, value)));
  return fmt::format("{:.4g}{}{}", value, unit.empty() ? "" : " ", unit);
}

std::string quantity_text(const Quantity& q) {
  std::string text = fmt::format("  {:<36} {:>10}   {}  (error {:.1f} %)\n", q.what,
                                 with_unit(q.value, q.unit), q.fit.best.text(), 100 * q.fit.best.error);
  for (const Model& m : q.fit.others)
    text += fmt::format("  {:>36} {:>10}   or {}  (error {:.1f} %)\n", "", "", m.text(), 100 * m.error);
  if (!q.fit.others.empty())
    text += fmt::format("  {:>36} {:>10}   from {} to {}\n", "", "", with_unit(q.spread.least, q.unit),
                        with_unit(q.spread.most, q.unit));
  return text;
}

std::string recomputed_text(const char* what, double value, const Fit::Spread& spread) {
  return fmt::format("  {:<36} {:>10}   from {} to {}\n", what, with_unit(value, "s"),
                     with_unit(spread.least, "s"), with_unit(spread.most, "s"));
}

Json json_of(const Model& m) {
  return {{"model", m.text()}, {"error", m.error}};
}

Json json_of(const std::optional<Fit::Spread>& spread) {
  if (!spread) return nullptr;
  return {{"least_s", spread->least}, {"most_s", spread->most}};
}

Json json_of(const Quantity& q) {
  Json others = Json::array();
  for (const Model& m : q.fit.others) others.push_back(json_of(m));
  return {{"what", q.what},          {"unit", q.unit},        {"value", q.value},
          {"least", q.spread.least}, {"most", q.spread.most}, {"best", json_of(q.fit.best)},
          {"others", others},        {"knee", q.fit.knee}};
}

void warn(Projection& p) {
  const Fit& f = p.time.fit;
  const auto few = [&p](const char* what) {
    p.warnings.push_back(
        fmt::format("There are fewer than {} {}: a model of so few says little.", kFewestValues, what));
  };
  if (f.few_sizes) few("sizes");
  if (f.few_ranks) few("numbers of ranks");
  std::string knees;
  for (const ProjectedChain& c : p.chains)
    for (const Quantity& q : c.quantities)
      if (q.fit.knee && q.unit == "s") knees = c.title;
  if (f.knee || !knees.empty())
    p.warnings.emplace_back(
        "The largest sizes take longer than the smaller ones let one expect, as where data no longer fit a "
        "cache: beyond them "
        "times are guesses.");
}

}  // namespace

ProjectedRun numbers_of(const Results& results, const Survey& survey, const Analysis& analysis, double size) {
  ProjectedRun run;
  run.source = results.recording;
  run.size = size;
  run.ranks = static_cast<double>(results.ranks);
  run.time_s = results.run_s();
  const auto next = followers(survey, analysis);
  for (const ChainFinding& f : results.chains) {
    const Chain& chain = analysis.chains[f.chain];
    ChainNumbers numbers = numbers_of(survey, chain, next);
    numbers.title = title(survey, chain.contexts);
    numbers.saving_s =
        std::max(0.0, results.saved_s(f.alone, Variant::kGrouped, results.progress).value_or(0));
    run.chains.emplace(chain_name(chain), std::move(numbers));
  }
  return run;
}

std::optional<double> Recomputed::Times::saving(const std::string& chain) const {
  const auto known = grouped.find(chain);
  if (known == grouped.end()) return std::nullopt;
  return std::max(0.0, as_written - known->second);
}

std::optional<Basis> basis_of(const std::vector<ProjectedRun>& runs, double ranks, std::string& why_not) {
  Basis basis;
  std::optional<double> largest;
  std::set<double> sizes;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].ranks != ranks) continue;
    basis.phases.push_back({runs[i].size, &runs[i].phases});
    sizes.insert(runs[i].size);
    if (largest && *largest >= runs[i].size) continue;
    largest = runs[i].size;
    basis.run = i;
  }
  if (sizes.size() < 2)
    why_not = fmt::format("fewer than two sizes were run on {:g} ranks", ranks);
  else
    why_not = differ(basis.phases);
  if (!why_not.empty()) return std::nullopt;
  return basis;
}

Projection project(std::vector<ProjectedRun> runs, double size, double ranks,
                   const std::optional<Recomputed>& recomputed, const std::string& not_recomputed) {
  Projection p;
  p.not_recomputed = not_recomputed;
  p.size = size;
  p.ranks = ranks;
  p.time =
      quantity(runs, "time of the run", "s", size, ranks, [](const ProjectedRun& r) { return r.time_s; });
  p.time_s = p.time.value;
  const auto range = [](double a, double b, double c) {
    return Fit::Spread{std::min({a, b, c}), std::max({a, b, c})};
  };
  if (recomputed) {
    p.time_s = recomputed->best.as_written;
    p.recomputed = range(p.time_s, recomputed->least.as_written, recomputed->most.as_written);
  }
  for (const auto& [id, numbers] : runs.front().chains) {
    const std::string& name = id;
    if (!std::all_of(runs.begin(), runs.end(),
                     [&](const ProjectedRun& r) { return r.chains.contains(name); }))
      continue;
    const auto of = [&](const char* what, const char* unit, double ChainNumbers::*field) {
      return quantity(runs, what, unit, size, ranks,
                      [&](const ProjectedRun& r) { return r.chains.at(name).*field; });
    };
    ProjectedChain chain;
    chain.id = id;
    chain.title = numbers.title;
    chain.quantities = {of("saving", "s", &ChainNumbers::saving_s),
                        of("bytes of a message", "bytes", &ChainNumbers::bytes),
                        of("times on a rank", "", &ChainNumbers::instances),
                        of("computing that may hide it", "s", &ChainNumbers::hideable_s),
                        of("computing until the next chain", "s", &ChainNumbers::computing_s)};
    chain.saving_s = chain.quantities.front().value;
    if (const auto saved = recomputed ? recomputed->best.saving(id) : std::nullopt) {
      chain.saving_s = *saved;
      chain.recomputed = range(*saved, recomputed->least.saving(id).value_or(*saved),
                               recomputed->most.saving(id).value_or(*saved));
    }
    chain.share = p.time_s > 0 ? chain.saving_s / p.time_s : 0;
    p.chains.push_back(std::move(chain));
  }
  std::stable_sort(p.chains.begin(), p.chains.end(),
                   [](const ProjectedChain& a, const ProjectedChain& b) { return a.saving_s > b.saving_s; });
  p.runs = std::move(runs);
  warn(p);
  return p;
}

std::string projection_text(const Projection& p) {
  std::string text =
      fmt::format("What {} runs let one expect at size {:g} on {:g} ranks; n: size, p: ranks\n\n",
                  p.runs.size(), p.size, p.ranks);
  if (p.recomputed) text += recomputed_text("time of the run, recomputed", p.time_s, *p.recomputed);
  text += quantity_text(p.time);
  for (const ProjectedChain& c : p.chains) {
    const double saving = c.saving_s;
    const double after = p.time_s - saving;
    text += fmt::format(
        "\n{}: saves {:.1f} % of the run{}\n", c.title, 100 * c.share,
        saving > 0 && after > 0 ? fmt::format(", which is {:.3g} times as fast", p.time_s / after) : "");
    if (c.recomputed) text += recomputed_text("saving, recomputed", c.saving_s, *c.recomputed);
    for (const Quantity& q : c.quantities) text += quantity_text(q);
  }
  if (p.chains.empty()) text += "\nNo chain is in all of these runs.\n";
  text += p.recomputed
              ? "\nRecomputed: a replay of the largest run with the computing and the bytes that models give "
                "for each of its calls.\n"
              : "\nSavings are models of the runs' savings, which know no limit: " + p.not_recomputed + ".\n";
  for (const std::string& warning : p.warnings) text += warning + "\n";
  return text;
}

std::string projection_json(const Projection& p) {
  Json json;
  json["schema"] = "nplus1-overlap-projection/1";
  json["size"] = p.size;
  json["ranks"] = p.ranks;
  json["runs"] = Json::array();
  for (const ProjectedRun& run : p.runs)
    json["runs"].push_back({{"recording", run.source},
                            {"size", run.size},
                            {"ranks", run.ranks},
                            {"virtual_time_s", run.time_s}});
  json["time"] = json_of(p.time);
  json["virtual_time_s"] = p.time_s;
  json["recomputed"] = json_of(p.recomputed);
  json["chains"] = Json::array();
  for (const ProjectedChain& c : p.chains) {
    Json quantities = Json::array();
    for (const Quantity& q : c.quantities) quantities.push_back(json_of(q));
    json["chains"].push_back({{"id", c.id},
                              {"title", c.title},
                              {"saving_s", c.saving_s},
                              {"saving_share", c.share},
                              {"recomputed", json_of(c.recomputed)},
                              {"quantities", quantities}});
  }
  json["warnings"] = p.warnings;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace nplus1::overlap
