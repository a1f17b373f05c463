#include "overlap/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "events/mpi_call.hpp"

namespace nplus1::overlap {
namespace {

Place place_of_frame(const events::Frame& frame) {
  return {frame.function, frame.file, frame.line,
          frame.module.empty() && frame.line != 0 ? std::string{}
                                                  : fmt::format("{}+{:#x}", frame.module, frame.offset)};
}

std::string base_name(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

/// Each once, with how often it is there: the first six, and how many more.
template <class Text>
std::string listed(const std::vector<Context>& contexts, const Text& text_of) {
  constexpr std::size_t kMost = 6;
  std::vector<std::pair<std::string, std::size_t>> calls;
  std::map<std::string, std::size_t> known;
  for (const Context& context : contexts) {
    const auto [at, first] = known.try_emplace(text_of(context), calls.size());
    if (first) calls.emplace_back(at->first, 0);
    ++calls[at->second].second;
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, calls.size()); ++i) {
    text += (i == 0 ? "" : ", ") + calls[i].first;
    if (calls[i].second > 1) text += fmt::format(" ({} times)", calls[i].second);
  }
  if (calls.size() > kMost) text += fmt::format(" and {} more", calls.size() - kMost);
  return text;
}

}  // namespace

const char* name(Variant variant) {
  switch (variant) {
    case Variant::kGrouped:
      return "grouped";
    case Variant::kMerged:
      return "merged";
    case Variant::kPerRequest:
      return "per_request";
    case Variant::kOneWait:
      return "one_wait";
  }
  return "";
}

const char* name(ProgressKind kind) {
  return kind == ProgressKind::kWeak ? "weak" : "asynchronous";
}

double Results::run_s() const {
  const auto& run = as_written[static_cast<std::size_t>(progress)];
  return run ? run->makespan_s : 0;
}

std::optional<double> Results::saved_s(const Replays& replays, Variant variant, ProgressKind kind) const {
  const auto& before = as_written[static_cast<std::size_t>(kind)];
  const auto& after = replays[static_cast<std::size_t>(variant)][static_cast<std::size_t>(kind)];
  if (!before || !after || !before->finished || !after->finished) return std::nullopt;
  return before->makespan_s - after->makespan_s;
}

std::optional<Variant> Results::best(const ChainFinding& finding) const {
  std::optional<Variant> best;
  double most = 0;
  for (const Variant v : {Variant::kGrouped, Variant::kMerged, Variant::kPerRequest})
    if (const auto saved = saved_s(finding.alone, v, progress); saved && *saved > most) {
      most = *saved;
      best = v;
    }
  return best;
}

double Results::saving_s(const ChainFinding& finding) const {
  const auto variant = best(finding);
  return variant ? *saved_s(finding.alone, *variant, progress) : 0;
}

std::optional<double> Results::bound(ProgressKind kind) const {
  const auto& as_is = as_written[static_cast<std::size_t>(kind)];
  const auto& moved = all[static_cast<std::size_t>(Variant::kPerRequest)][static_cast<std::size_t>(kind)];
  if (!moved || !moved->finished || moved->whole.transfer == 0) return std::nullopt;
  const double legal = moved->whole.share();
  return as_is && as_is->finished ? std::max(legal, as_is->whole.share()) : legal;
}

std::optional<TwoReplays> Results::two_replays() const {
  const auto& as_is = as_written[static_cast<std::size_t>(ProgressKind::kAsynchronous)];
  if (!as_is || !at_once || !as_is->finished || !at_once->finished || at_once->whole.transfer == 0)
    return std::nullopt;
  TwoReplays two;
  const auto transfer = static_cast<double>(at_once->whole.transfer);
  two.share = static_cast<double>(as_is->whole.hidden) / transfer;
  two.visible_share = 1 - static_cast<double>(as_is->visible()) / transfer;
  if (as_is->whole.transfer > 0)
    two.ratio = static_cast<double>(at_once->whole.transfer) / static_cast<double>(as_is->whole.transfer);
  two.added = at_once->in_mpi - as_is->in_mpi;
  two.transfer = as_is->whole.hidden - at_once->whole.hidden;
  two.longer = at_once->whole.transfer - as_is->whole.transfer;
  two.partners = two.added - two.transfer - two.longer;
  return two;
}

void sort_by_saving(Results& results) {
  std::stable_sort(results.chains.begin(), results.chains.end(),
                   [&](const ChainFinding& a, const ChainFinding& b) {
                     return results.saving_s(a) > results.saving_s(b);
                   });
}

Place place_of_site(const Survey& survey, std::uint32_t site) {
  const events::CallPath* path = survey.names().call_path(CallSiteId{site});
  if (path == nullptr || path->frames.empty()) return {"", "", 0, "?"};
  return place_of_frame(path->frames.front());
}

Place place_of_call(const Survey& survey, const Context& context) {
  Place place = place_of_site(survey, context.site);
  place.function = events::name(static_cast<events::MpiCall>(context.call));
  return place;
}

std::vector<NotDeferrableLine> not_deferrable_lines(const Survey& survey, const Analysis& analysis) {
  std::vector<NotDeferrableLine> lines;
  std::map<std::tuple<std::string, std::string, std::uint32_t, std::string, std::string>, std::size_t> known;
  for (const NotDeferrable& n : analysis.not_deferrable) {
    const Place place = place_of_call(survey, n.context);
    const auto [at, first] =
        known.try_emplace({place.function, place.file, place.line, place.address, n.reason}, lines.size());
    if (first) lines.push_back({place, n.reason, 0});
    lines[at->second].count += n.count;
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const auto& a, const auto& b) { return a.count > b.count; });
  return lines;
}

Efficiency::Standing one_path_for_each_line(const Survey& survey) {
  Efficiency::Standing standing;
  std::map<std::pair<std::string, std::uint32_t>, std::uint32_t> first;
  for (const auto& [id, path] : survey.names().call_paths()) {
    const Place place = place_of_site(survey, id.value);
    if (place.file.empty() || place.line == 0) continue;
    standing[id.value] = first.try_emplace({place.file, place.line}, id.value).first->second;
  }
  return standing;
}

std::string short_text(const Place& place) {
  if (!place.file.empty() && place.line > 0) return fmt::format("{}:{}", base_name(place.file), place.line);
  return base_name(place.address);
}

std::string title(const Survey& survey, const std::vector<Context>& contexts) {
  return listed(contexts, [&](const Context& context) {
    const Place place = place_of_call(survey, context);
    return fmt::format("{} at {}", place.function, short_text(place));
  });
}

std::string title_with_callers(const Survey& survey, const std::vector<Context>& contexts) {
  std::map<std::string, std::set<std::uint32_t>> reached;  // by the call's place: its call paths
  const auto text_of = [&](const Context& context) {
    const Place place = place_of_call(survey, context);
    return fmt::format("{} at {}", place.function, short_text(place));
  };
  for (const Context& context : contexts) reached[text_of(context)].insert(context.site);
  return listed(contexts, [&](const Context& context) {
    const std::string text = text_of(context);
    const auto caller = caller_of(survey, context);
    if (reached[text].size() < 2 || !caller) return text;
    const bool same_file = caller->file == place_of_call(survey, context).file;
    return fmt::format("{} (from {})", text, same_file ? std::to_string(caller->line) : short_text(*caller));
  });
}

std::optional<Place> caller_of(const Survey& survey, const Context& context) {
  const events::CallPath* path = survey.names().call_path(CallSiteId{context.site});
  if (path == nullptr || path->frames.size() < 2 || path->frames[1].line == 0) return std::nullopt;
  return place_of_frame(path->frames[1]);
}

std::string chain_name(const Chain& chain) {
  return fmt::format("{:016x}", chain.id);
}

bool has_source_lines(const Survey& survey, const Analysis& analysis) {
  return std::any_of(analysis.chains.begin(), analysis.chains.end(), [&](const Chain& c) {
    return std::any_of(c.contexts.begin(), c.contexts.end(), [&](const Context& context) {
      const Place place = place_of_site(survey, context.site);
      return !place.file.empty() && place.line > 0;
    });
  });
}

}  // namespace nplus1::overlap
