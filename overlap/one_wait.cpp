#include "overlap/one_wait.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace nplus1::overlap {
namespace {

/// The path's frame that is in the same function as `where`: the line there that leads to it.
std::optional<events::Frame> frame_in(const Survey& survey, std::uint32_t site, const events::Frame& where) {
  const events::CallPath* path = survey.names().call_path(CallSiteId{site});
  if (path == nullptr) return std::nullopt;
  for (const events::Frame& f : path->frames)
    if (f.function == where.function && f.file == where.file && f.line > 0) return f;
  return std::nullopt;
}

/// The thread's moments behind the instance's last call, in their order.
class Behind {
 public:
  Behind(const SurveyedRank& rank, const ChainInstance& instance) : rank_{rank} {
    std::uint64_t last = 0;
    for (const std::uint32_t i : instance.members) last = std::max(last, rank.ends[i].completed);
    const ThreadId thread = rank.ends[instance.members.front()].event.thread;
    lane_ = &rank.of_thread[thread.index()];
    at_ = std::upper_bound(
        lane_->begin(), lane_->end(), last,
        [&rank](std::uint64_t ordinal, std::uint32_t m) { return ordinal < rank.moments[m].ordinal; });
  }
  /// Null: there are no more.
  const Moment* next() { return at_ == lane_->end() ? nullptr : &rank_.moments[*at_++]; }

 private:
  const SurveyedRank& rank_;
  const std::vector<std::uint32_t>* lane_ = nullptr;
  std::vector<std::uint32_t>::const_iterator at_;
};

}  // namespace

const char* name(WaitsAt where) {
  switch (where) {
    case WaitsAt::kBeforeLine:
      return "before_line";
    case WaitsAt::kAfterCalls:
      return "after_calls";
    case WaitsAt::kEndOfBlock:
      return "end_of_block";
  }
  return "";
}

OneWait one_wait_of(const Survey& survey, const Analysis& analysis, const std::vector<std::size_t>& group) {
  const Chain& chain = analysis.chains[group.front()];
  const auto only_finalize = [&](std::size_t c) {
    const Chain& part = analysis.chains[c];
    return part.ended_by.size() == 1 && part.ends() == EndedBy::kFinalize;
  };
  if (std::all_of(group.begin(), group.end(), only_finalize)) return {WaitsAt::kEndOfBlock, {}, {}};
  const OneWait after_calls{WaitsAt::kAfterCalls, {}, {}};
  const events::CallPath* path = survey.names().call_path(CallSiteId{chain.contexts.front().site});
  if (path == nullptr || path->frames.empty()) return after_calls;
  const events::Frame& calls = path->frames.front();
  std::uint32_t last_call = calls.line;
  for (const Context& context : chain.contexts)
    if (const auto frame = frame_in(survey, context.site, calls))
      last_call = std::max(last_call, frame->line);
  const auto later = [last_call](const events::Frame& f) { return std::pair{f.line <= last_call, f.line}; };
  OneWait first{WaitsAt::kBeforeLine, {}, {}};
  for (const std::size_t c : group) {
    if (only_finalize(c)) continue;
    for (const std::uint32_t site : analysis.chains[c].ending_sites) {
      const auto frame = frame_in(survey, site, calls);
      if (!frame) return after_calls;
      if (first.sites.empty() || later(*frame) < later(first.line)) {
        first.line = *frame;
        first.sites = {site};
      } else if (frame->line == first.line.line) {
        first.sites.insert(site);
      }
    }
  }
  return first.sites.empty() ? after_calls : first;
}

std::vector<std::vector<const ChainInstance*>> rounds_of(const Analysis& analysis, std::size_t ranks,
                                                         const std::vector<std::size_t>& group) {
  std::vector<std::vector<const ChainInstance*>> rounds(ranks);
  for (const std::size_t c : group)
    for (const ChainInstance& instance : analysis.chains[c].instances)
      rounds[static_cast<std::size_t>(instance.rank)].push_back(&instance);
  for (auto& of_rank : rounds)
    std::sort(of_rank.begin(), of_rank.end(), [](const ChainInstance* a, const ChainInstance* b) {
      return a->members.front() < b->members.front();
    });
  return rounds;
}

OneWaitPlaces::OneWaitPlaces(const Survey& survey, const Analysis& analysis,
                             const std::vector<std::size_t>& group)
    : survey_{survey}, analysis_{analysis}, wait_{one_wait_of(survey, analysis, group)} {
  if (wait_.where != WaitsAt::kBeforeLine) return;
  for (const auto& of_rank : rounds_of(analysis, survey.ranks().size(), group))
    for (std::size_t round = 0; round < of_rank.size(); ++round) {
      if (!ends_there(*of_rank[round])) continue;
      const Distance distance = to_its_end(*of_rank[round]);
      const auto [known, fresh] = by_round_.try_emplace(round, distance);
      if (!fresh) known->second = std::min(known->second, distance);
    }
}

bool OneWaitPlaces::ends_there(const ChainInstance& instance) const {
  const Bounds& ends = analysis_.bounds[static_cast<std::size_t>(instance.rank)][instance.ends_it];
  return wait_.sites.contains(ends.ending_site);
}

OneWaitPlaces::Distance OneWaitPlaces::to_its_end(const ChainInstance& instance) const {
  Behind behind{survey_.ranks()[static_cast<std::size_t>(instance.rank)], instance};
  Distance distance;
  while (const Moment* m = behind.next()) {
    distance.computed_ps += m->compute_ps;
    if (m->ordinal >= instance.end) break;
    if (is_call(*m)) distance = {distance.calls + 1, 0};
  }
  return distance;
}

/// The same time round, else the round before it in which some instance ends there.
const OneWaitPlaces::Distance& OneWaitPlaces::distance(std::size_t round) const {
  const auto behind = by_round_.upper_bound(round);
  return behind == by_round_.begin() ? behind->second : std::prev(behind)->second;
}

Position OneWaitPlaces::of(const ChainInstance& instance, std::size_t round) const {
  const SurveyedRank& rank = survey_.ranks()[static_cast<std::size_t>(instance.rank)];
  const Position own = place_of(*rank.moment(instance.end));
  if (wait_.where == WaitsAt::kEndOfBlock) return own;
  if (wait_.where == WaitsAt::kBeforeLine && (by_round_.empty() || ends_there(instance))) return own;
  const Distance wanted = wait_.where == WaitsAt::kAfterCalls ? Distance{} : distance(round);
  Behind behind{rank, instance};
  Distance here;
  while (const Moment* m = behind.next()) {
    if (here.calls == wanted.calls && here.computed_ps + m->compute_ps >= wanted.computed_ps)
      return {m->ordinal, wanted.computed_ps - here.computed_ps};
    if (m->ordinal >= instance.end) break;
    here.computed_ps += m->compute_ps;
    if (!is_call(*m)) continue;
    if (here.calls == wanted.calls) return place_of(*m);
    here = {here.calls + 1, 0};
  }
  return own;
}

}  // namespace nplus1::overlap
