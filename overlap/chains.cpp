#include "overlap/chains.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace nplus1::overlap {
namespace {

/// The paper's context: the calling address and the three return addresses above it.
constexpr std::size_t kFrames = 4;
/// Where a message may be deferred for all that is known, which is too little.
constexpr const char* kNotWatched =
    "nobody sees who uses its memory, which counts as used at once: an array on the stack, most often; "
    "static or allocated it is "
    "seen";
/// Computing between two chains that is still next to none, of what the chains' calls take.
constexpr double kLittle = 0.1;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15U + (hash << 6U) + (hash >> 2U);
  return hash * 0xff51afd7ed558ccdU;
}

std::uint64_t hashed(std::uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

Context context_of(const MessageEnd& end) {
  return {end.event.call, end.event.site.value};
}

/// Contexts as numbers: paths that agree in their innermost frames are one.
class ContextHashes {
 public:
  explicit ContextHashes(const events::DefinitionsCollector& names) : names_{names} {}

  std::uint64_t of(const MessageEnd& end) {
    std::uint64_t hash = mixed(of_site(end.event.site.value), end.event.call);
    return mixed(mixed(hash, end.event.comm.value), end.receives() ? 1 : 0);
  }

 private:
  std::uint64_t of_site(std::uint32_t site) {
    const auto [known, fresh] = sites_.try_emplace(site, 0xcbf29ce484222325U);
    if (!fresh) return known->second;
    if (const events::CallPath* path = names_.call_path(CallSiteId{site}); path != nullptr)
      for (std::size_t i = 0; i < std::min(kFrames, path->frames.size()); ++i)
        known->second = with_frame(known->second, path->frames[i]);
    return known->second;
  }

  /// Return addresses, or the lines of an interpreted program.
  static std::uint64_t with_frame(std::uint64_t hash, const events::Frame& f) {
    return f.module.empty() ? mixed(hashed(hashed(hash, f.file), f.function), f.line)
                            : mixed(hashed(hash, f.module), f.offset);
  }

  const events::DefinitionsCollector& names_;
  std::unordered_map<std::uint32_t, std::uint64_t> sites_;
};

/// The chains of one thread of one rank.
class Chaining {
 public:
  Chaining(const SurveyedRank& rank, const std::vector<Bounds>& bounds, std::int32_t number)
      : rank_{rank}, bounds_{bounds}, number_{number} {}

  void message(std::uint32_t i) {
    const MessageEnd& end = rank_.ends[i];
    if (!now_.members.empty() && now_.end <= end.ordinal) close();
    if (!bounds_[i].deferrable && !end.to_nobody()) {
      // What must be waited for where it is ends the chain; an existing request that is tested does not.
      if (end.blocks() && !now_.members.empty()) {
        now_.end = std::min(now_.end, end.ordinal);
        close();
      }
      return;
    }
    now_.members.push_back(i);
    if (end.to_nobody()) return;
    if (bounds_[i].latest.ordinal < now_.end) {
      now_.end = bounds_[i].latest.ordinal;
      now_.ends_it = i;
    }
  }
  void close() {
    const auto& m = now_.members;
    const bool some =
        std::any_of(m.begin(), m.end(), [this](std::uint32_t i) { return !rank_.ends[i].to_nobody(); });
    if (some) {
      now_.rank = number_;
      all_.push_back(std::move(now_));
    }
    now_ = {};
  }
  /// Section 3.1: what of the chain behind may be started with this one.
  void merge() {
    for (std::size_t c = 0; c + 1 < all_.size(); ++c) merge(all_[c], all_[c + 1]);
  }
  std::vector<ChainInstance>& all() { return all_; }

 private:
  void merge(ChainInstance& chain, const ChainInstance& behind) const {
    if (bounds_[chain.ends_it].ended_by != EndedBy::kOverlap) return;
    const MessageEnd& last = rank_.ends[chain.members.back()];
    const MessageEnd& terminating = rank_.ends[behind.members.front()];
    const std::int64_t gap = terminating.event.entry_ps - last.end_ps;
    const std::int64_t calls = last.end_ps - rank_.ends[chain.members.front()].event.entry_ps;
    if (terminating.ordinal < last.ordinal || static_cast<double>(gap) > kLittle * static_cast<double>(calls))
      return;
    const Moment* stands = rank_.moment(terminating.ordinal);
    std::set<std::tuple<std::int32_t, std::uint32_t, bool>> skipped;
    const auto key = [](const MessageEnd& e) {
      return std::tuple{e.event.peer, e.event.comm.value, e.receives()};
    };
    for (const std::uint32_t i : behind.members) {
      const MessageEnd& end = rank_.ends[i];
      const bool moves = i != behind.members.front() && !end.to_nobody() && end.blocks() &&
                         !bounds_[i].stays && !skipped.contains(key(end)) &&
                         bounds_[i].earliest <= place_of(*stands);
      if (moves)
        chain.merged.push_back(i);
      else
        skipped.insert(key(end));
    }
  }

  const SurveyedRank& rank_;
  const std::vector<Bounds>& bounds_;
  const std::int32_t number_;
  ChainInstance now_;
  std::vector<ChainInstance> all_;
};

struct Collected {
  Analysis analysis;
  std::unordered_map<std::uint64_t, std::size_t> by_id;
  std::vector<std::set<std::int32_t>> ranks;
  std::vector<std::map<std::pair<std::uint32_t, std::int64_t>, std::pair<std::uint64_t, Touch>>> touches;
  std::vector<std::map<std::uint32_t, std::uint64_t>> endings;
};

std::vector<Context> contexts_of(const SurveyedRank& rank, const std::vector<std::uint32_t>& members) {
  std::vector<Context> all;
  std::uint64_t call = kNoOrdinal;  // what completes both halves of a call
  for (const std::uint32_t i : members) {
    const MessageEnd& end = rank.ends[i];
    const bool second_half = end.blocks() && end.completed != end.ordinal && end.completed == call;
    if (!second_half) all.push_back(context_of(end));
    call = end.completed;
  }
  return all;
}

void collect(const SurveyedRank& rank, const std::vector<Bounds>& bounds, ChainInstance instance,
             ContextHashes& hashes, Collected& all) {
  std::uint64_t id = 0;
  for (const std::uint32_t i : instance.members) id = mixed(id, hashes.of(rank.ends[i]));
  const auto [known, fresh] = all.by_id.try_emplace(id, all.analysis.chains.size());
  if (fresh) {
    Chain& chain = all.analysis.chains.emplace_back();
    chain.id = id;
    chain.contexts = contexts_of(rank, instance.members);
    all.ranks.emplace_back();
    all.touches.emplace_back();
    all.endings.emplace_back();
  }
  const std::size_t c = known->second;
  Chain& chain = all.analysis.chains[c];
  std::uint32_t requests = 0;
  std::uint64_t completed = kNoOrdinal;
  for (const std::uint32_t i : instance.members) {
    const MessageEnd& end = rank.ends[i];
    if (end.to_nobody()) continue;
    ++requests;
    chain.blocks = chain.blocks || end.blocks();
    if (end.completed == completed) continue;  // of the same call
    completed = end.completed;
    const Moment* done = rank.moment(end.completed);
    chain.in_calls_ps += done->exit_ps - (end.blocks() ? end.event.entry_ps : done->entry_ps);
  }
  chain.requests = std::max(chain.requests, requests);
  const Bounds& ends = bounds[instance.ends_it];
  ++chain.ended_by[ends.ended_by];
  ++all.endings[c][ends.ending_site];
  if (ends.touch.known()) {
    auto& [count, touch] = all.touches[c][{ends.touch.site, ends.touch.offset}];
    if (count++ == 0) touch = ends.touch;
  }
  chain.merged_requests += instance.merged.size();
  if (chain.merges.empty()) chain.merges = contexts_of(rank, instance.merged);
  all.ranks[c].insert(instance.rank);
  chain.instances.push_back(std::move(instance));
}

void finish(Collected& all) {
  for (std::size_t c = 0; c < all.analysis.chains.size(); ++c) {
    Chain& chain = all.analysis.chains[c];
    chain.ranks = all.ranks[c].size();
    chain.calls = chain.contexts;
    std::sort(chain.calls.begin(), chain.calls.end());
    chain.calls.erase(std::unique(chain.calls.begin(), chain.calls.end()), chain.calls.end());
    std::uint64_t most = 0;
    for (const auto& [place, seen] : all.touches[c])
      if (seen.first > most) {
        most = seen.first;
        chain.touch = seen.second;
      }
    most = 0;
    for (const auto& [site, count] : all.endings[c]) {
      chain.ending_sites.push_back(site);
      if (count > most) {
        most = count;
        chain.ending_site = site;
      }
    }
  }
  std::stable_sort(all.analysis.chains.begin(), all.analysis.chains.end(),
                   [](const Chain& a, const Chain& b) { return a.in_calls_ps > b.in_calls_ps; });
}

/// What cannot be deferred, and what was touched too early, by place.
class Obstacles {
 public:
  void look_at(const MessageEnd& end) {
    if (const char* reason = not_deferrable(end); *reason != '\0')
      ++reasons_[{context_of(end), reason}];
    else if (!end.to_nobody() && !end.is_watched() && end.first.by == Toucher::kProgram)
      ++reasons_[{context_of(end), kNotWatched}];
    if (end.early.empty()) return;
    auto& race = races_[{context_of(end), end.early.front().site, end.early.front().offset}];
    if (race.count == 0) race = {context_of(end), end.receives(), end.early.front(), 0};
    race.count += end.early.size();
  }
  void into(Analysis& analysis) const {
    for (const auto& [place, count] : reasons_)
      analysis.not_deferrable.push_back({place.first, place.second, count});
    for (const auto& [place, race] : races_) analysis.races.push_back(race);
  }

 private:
  std::map<std::pair<Context, const char*>, std::uint64_t> reasons_;
  std::map<std::tuple<Context, std::uint32_t, std::int64_t>, Race> races_;
};

}  // namespace

EndedBy Chain::ends() const {
  const auto most = std::max_element(ended_by.begin(), ended_by.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == ended_by.end() ? EndedBy::kFinalize : most->first;
}

Analysis analyse(const Survey& survey) {
  Collected all;
  ContextHashes hashes{survey.names()};
  Obstacles obstacles;
  std::int32_t number = 0;
  for (const SurveyedRank& rank : survey.ranks()) {
    const std::vector<Bounds>& bounds = all.analysis.bounds.emplace_back(bounds_of(rank));
    std::map<ThreadId, Chaining> threads;
    for (std::uint32_t i = 0; i < rank.ends.size(); ++i) {
      obstacles.look_at(rank.ends[i]);
      threads.try_emplace(rank.ends[i].event.thread, rank, bounds, number).first->second.message(i);
    }
    for (auto& [thread, chaining] : threads) {
      chaining.close();
      chaining.merge();
      for (ChainInstance& instance : chaining.all()) collect(rank, bounds, std::move(instance), hashes, all);
    }
    ++number;
  }
  obstacles.into(all.analysis);
  finish(all);
  return std::move(all.analysis);
}

std::vector<std::size_t> with_parts(const Analysis& analysis, std::size_t chain) {
  const std::vector<Context>& whole = analysis.chains[chain].calls;
  std::vector<std::size_t> parts{chain};
  for (std::size_t c = 0; c < analysis.chains.size(); ++c) {
    const std::vector<Context>& calls = analysis.chains[c].calls;
    if (c != chain && std::includes(whole.begin(), whole.end(), calls.begin(), calls.end()))
      parts.push_back(c);
  }
  return parts;
}

}  // namespace nplus1::overlap
