#include "analyses/where.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <set>
#include <thread>
#include <unordered_map>

#include "events/frame_text.hpp"
#include "events/mpi_call.hpp"
#include "events/source/source_lines.hpp"
#include "events/statistics/pages.hpp"
#include "patterns/communicators.hpp"
#include "support/stopped.hpp"

namespace nplus1::analyses {
namespace {

namespace page = events::statistics;
using Process = RankPlace::Process;

constexpr std::chrono::milliseconds kBetweenLooks{200};

std::string rank_names(const std::vector<std::int32_t>& ranks) {
  std::vector<RankId> ids;
  for (const std::int32_t r : ranks) ids.emplace_back(r);
  return (ranks.size() == 1 ? "rank " : "ranks ") + patterns::rank_list(ids);
}

std::string own_host() {
  char name[sizeof(page::Header::host)] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

Process process_of(const page::Header& header) {
  if (own_host() != header.host) return Process::kElsewhere;
  std::ifstream file{fmt::format("/proc/{}/stat", header.process)};
  std::string text;
  if (!std::getline(file, text)) return Process::kGone;
  const std::size_t name_end = text.rfind(')');
  const char state = name_end == std::string::npos || name_end + 2 >= text.size() ? '?' : text[name_end + 2];
  if (state == 'Z' || state == 'X') return Process::kGone;
  return state == 'T' || state == 't' ? Process::kStopped : Process::kRuns;
}

/// The thread that tells most: the one that is inside a call for longest, else the last that called.
const page::ThreadState* telling(const page::RankPage& rank) {
  const page::ThreadState* best = nullptr;
  for (const page::ThreadState& t : rank.threads) {
    if (best == nullptr || t.inside > best->inside ||
        (t.inside == best->inside &&
         (t.inside != 0 ? t.since_tick < best->since_tick : t.since_tick > best->since_tick)))
      best = &t;
  }
  return best;
}

class Looker {
 public:
  explicit Looker(std::vector<page::RankPage> pages) : pages_{std::move(pages)} {
    for (const page::RankPage& rank : pages_)
      for (const page::Live& live : rank.live) begun_[live.key].emplace(rank.header.rank, live.collectives);
  }

  RankPlace place(const page::RankPage& rank, const std::vector<page::RankPage>& before) {
    RankPlace p;
    p.rank = rank.header.rank;
    p.process = process_of(rank.header);
    p.finalized = rank.header.state == page::PageState::kFinalized;
    const page::ThreadState* t = telling(rank);
    const std::int64_t since = t == nullptr ? rank.header.begin_tick : t->since_tick;
    p.since_s = std::max(0.0, (static_cast<double>(rank.now_tick) - static_cast<double>(since)) *
                                  rank.header.ns_per_tick * 1e-9);
    if (p.process == Process::kElsewhere) p.since_s = 0;
    if (t == nullptr) return p;
    p.inside = t->inside != 0;
    if (t->call != 0) p.call = events::name(static_cast<events::MpiCall>(t->call));
    if (t->path > 0 && t->path <= rank.paths.size()) p.place = line_of(rank.paths[t->path - 1]);
    p.moves = moved(rank, before);
    if (p.inside) who(rank, *t, p);
    return p;
  }

  [[nodiscard]] const std::vector<page::RankPage>& pages() const { return pages_; }

 private:
  std::string line_of(const std::string& frames) {
    const auto all = events::frames_of(frames);
    return all.empty() ? "" : lines_.call_from(all.front());
  }

  /// `before` is by rank.
  static bool moved(const page::RankPage& rank, const std::vector<page::RankPage>& before) {
    const auto old = std::lower_bound(
        before.begin(), before.end(), rank.header.rank,
        [](const page::RankPage& page, std::int32_t number) { return page.header.rank < number; });
    if (old == before.end() || old->header.rank != rank.header.rank) return false;
    return !std::equal(
        old->threads.begin(), old->threads.end(), rank.threads.begin(), rank.threads.end(),
        [](const page::ThreadState& a, const page::ThreadState& b) { return a.sequence == b.sequence; });
  }

  void who(const page::RankPage& rank, const page::ThreadState& t, RankPlace& p) const {
    if (t.ordinal != 0) {
      p.in_collective = true;
      const auto members = rank.members(t.members, t.ranges);
      for (const std::int32_t m : members)
        if (m != rank.header.rank && !has_entered(m, t.communicator, t.ordinal)) p.waits_for.push_back(m);
      if (!p.waits_for.empty()) p.what = rank_names(p.waits_for) + " to enter it";
      return;
    }
    for (std::uint32_t i = 0; i < std::min<std::uint32_t>(t.waits, page::kMostWaits); ++i) {
      const page::Wait& w = t.wait[i];
      if (w.kind == page::WaitKind::kReceive || w.kind == page::WaitKind::kSend) {
        const std::string peer = w.peer < 0 ? "any rank" : fmt::format("rank {}", w.peer);
        if (w.peer >= -1) p.waits_for.push_back(w.peer);
        p.what += (p.what.empty() ? "" : ", ") +
                  (w.kind == page::WaitKind::kReceive ? "a message from " + peer : peer + " to receive");
      } else {
        p.what += (p.what.empty() ? "" : ", ") + std::string{"a request of "} +
                  (w.call == 0 ? "an operation that is not known"
                               : std::string{events::name(static_cast<events::MpiCall>(w.call))});
      }
    }
    if (t.waits > page::kMostWaits) p.what += fmt::format(", and {} more", t.waits - page::kMostWaits);
  }

  [[nodiscard]] bool has_entered(std::int32_t member, std::uint64_t communicator,
                                 std::uint64_t ordinal) const {
    const auto ranks = begun_.find(communicator);
    if (ranks == begun_.end()) return false;
    const auto rank = ranks->second.find(member);
    return rank != ranks->second.end() && rank->second >= ordinal;
  }

  std::vector<page::RankPage> pages_;
  /// By communicator and rank: how many collectives the rank has begun.
  std::map<std::uint64_t, std::unordered_map<std::int32_t, std::uint64_t>> begun_;
  events::source::SourceLines lines_;
};

std::string at(const RankPlace& p) {
  return p.place.empty() ? "" : " at " + p.place;
}

std::string time_text(double seconds) {
  return seconds < 10 ? fmt::format("{:.1f} s", seconds) : fmt::format("{:.0f} s", seconds);
}

/// What a group of ranks does; times aside.
std::string doing(const RankPlace& p, bool many) {
  const char* const is = many ? "are" : "is";
  if (p.process == Process::kGone)
    return many ? "have ended without MPI_Finalize" : "has ended without MPI_Finalize";
  if (p.finalized) return fmt::format("{} in MPI_Finalize, or beyond it", is);
  std::string text;
  if (p.inside)
    text = p.moves ? fmt::format("{} making progress in calls such as {}{}", is, p.call, at(p))
                   : fmt::format("{} in {}{}", is, p.call, at(p));
  else if (p.call.empty())
    text = fmt::format("{} in no MPI call, and {} made none", is, many ? "have" : "has");
  else
    text = fmt::format("{} in no MPI call{}; the last one was {}{}", is, p.moves ? " just now" : "", p.call,
                       at(p));
  if (p.process == Process::kStopped) text += many ? " (processes are stopped)" : " (the process is stopped)";
  return text;
}

struct Group {
  std::vector<std::int32_t> ranks;
  const RankPlace* first = nullptr;
  double longest_s = 0;
};

/// The largest first.
std::vector<Group> groups_of(const std::vector<RankPlace>& places) {
  std::map<std::string, Group> by_text;
  for (const RankPlace& p : places) {
    Group& group = by_text[doing(p, false)];
    if (group.first == nullptr) group.first = &p;
    group.ranks.push_back(p.rank);
    group.longest_s = std::max(group.longest_s, p.since_s);
  }
  std::vector<Group> groups;
  for (auto& [text, group] : by_text) groups.push_back(std::move(group));
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.ranks.size() > b.ranks.size(); });
  return groups;
}

std::string odd_ones(const std::vector<Group>& groups) {
  constexpr std::size_t kMostNamed = 3;
  const Group& most = groups.front();
  const bool many = most.ranks.size() > 1;
  std::string text =
      fmt::format("{} {}", many ? fmt::format("{} ranks", most.ranks.size()) : rank_names(most.ranks),
                  many && most.first->inside && !most.first->moves
                      ? fmt::format("wait in {}{}", most.first->call, at(*most.first))
                      : doing(*most.first, many));
  for (std::size_t i = 1; i < groups.size() && i <= kMostNamed; ++i) {
    const Group& g = groups[i];
    const RankPlace& p = *g.first;
    const bool several = g.ranks.size() > 1;
    text += fmt::format(", {} ", rank_names(g.ranks));
    if (p.inside && !p.moves && p.process != Process::kGone)
      text += fmt::format("{} not left {}{}{}", several ? "have" : "has", p.call, at(p),
                          p.process == Process::kStopped ? " (stopped)" : "");
    else
      text += doing(p, several);
    if (!p.inside && !p.moves && !p.finalized && p.process != Process::kGone)
      text += " since " + time_text(g.longest_s);
  }
  if (groups.size() > kMostNamed + 1)
    text += fmt::format(", and {} groups more", groups.size() - kMostNamed - 1);
  return text;
}

/// Ranks that wait for each other, in a ring: the first that is found.
std::string cycle(const std::vector<RankPlace>& places) {
  std::map<std::int32_t, const RankPlace*> by_rank;
  for (const RankPlace& p : places) by_rank[p.rank] = &p;
  std::map<std::int32_t, int> state;  // 1: on the way, 2: done
  std::vector<std::int32_t> way;
  std::string found;
  const auto next_of = [&](std::int32_t rank) -> const std::vector<std::int32_t>& {
    static const std::vector<std::int32_t> none;
    const auto p = by_rank.find(rank);
    return p == by_rank.end() || !p->second->inside || p->second->moves ? none : p->second->waits_for;
  };
  for (const RankPlace& start : places) {
    if (state[start.rank] != 0) continue;
    std::vector<std::pair<std::int32_t, std::size_t>> stack{{start.rank, 0}};
    state[start.rank] = 1;
    while (!stack.empty() && found.empty()) {
      auto& [rank, at_edge] = stack.back();
      const auto& next = next_of(rank);
      if (at_edge == next.size()) {
        state[rank] = 2;
        stack.pop_back();
        continue;
      }
      const std::int32_t to = next[at_edge++];
      if (to < 0 || state[to] == 2) continue;
      if (state[to] == 0) {
        state[to] = 1;
        stack.emplace_back(to, 0);
        continue;
      }
      const auto begin =
          std::find_if(stack.begin(), stack.end(), [&](const auto& s) { return s.first == to; });
      for (auto it = begin; it != stack.end(); ++it) found += fmt::format("{} -> ", it->first);
      found = fmt::format("these ranks wait for each other in a circle: {}{}", found, to);
    }
    if (!found.empty()) break;
  }
  return found;
}

/// Members that are in the same collective of a communicator by count, and not in the same function.
std::string mismatch(const std::vector<page::RankPage>& pages, const std::vector<RankPlace>& places) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::map<std::string, std::vector<std::int32_t>>> calls;
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const page::ThreadState* t = telling(pages[i]);
    if (t == nullptr || t->inside == 0 || t->ordinal == 0 || places[i].moves) continue;
    calls[{t->communicator, t->ordinal}][places[i].call + at(places[i])].push_back(places[i].rank);
  }
  for (const auto& [key, by_call] : calls) {
    std::set<std::string> names;
    for (const auto& [text, ranks] : by_call) names.insert(text.substr(0, text.find(' ')));
    if (names.size() < 2) continue;
    std::string text = "collectives do not fit together: ";
    bool first = true;
    for (const auto& [call, ranks] : by_call) {
      text += fmt::format("{}{} in {}", first ? "" : ", ", rank_names(ranks), call);
      first = false;
    }
    return text;
  }
  return {};
}

}  // namespace

Result<Where> where(const std::string& folder) {
  return attempt([&] {
    const auto before = need(page::read_pages(folder));
    std::this_thread::sleep_for(kBetweenLooks);
    Looker looker{need(page::read_pages(folder))};
    Where result;
    result.job = looker.pages().front().header.job;
    result.ranks = looker.pages().front().header.ranks;
    for (const page::RankPage& rank : looker.pages()) result.places.push_back(looker.place(rank, before));
    result.sentences.push_back(odd_ones(groups_of(result.places)));
    for (std::string text : {mismatch(looker.pages(), result.places), cycle(result.places)})
      if (!text.empty()) result.sentences.push_back(std::move(text));
    if (static_cast<std::int32_t>(result.places.size()) < result.ranks)
      result.sentences.push_back(
          fmt::format("{} of {} ranks have no page here (they have not left MPI_Init, or are on hosts "
                      "that do not share this folder)",
                      result.ranks - static_cast<std::int32_t>(result.places.size()), result.ranks));
    return result;
  });
}

std::string where_text(const Where& where) {
  constexpr std::size_t kMostGroups = 40;
  std::string text = fmt::format("nplus1: where the {} ranks of {} are\n", where.ranks, where.job);
  for (const std::string& s : where.sentences) text += "  " + s + "\n";
  const auto groups = groups_of(where.places);
  for (std::size_t i = 0; i < groups.size() && i < kMostGroups; ++i) {
    const Group& g = groups[i];
    text += fmt::format("    {}: {}", rank_names(g.ranks), doing(*g.first, g.ranks.size() > 1));
    if (g.first->process != Process::kElsewhere && !g.first->moves)
      text += ", since " + time_text(g.longest_s);
    if (g.ranks.size() == 1 && !g.first->what.empty())
      text += ", waits for " + g.first->what;
    else if (!g.first->what.empty())
      text += fmt::format("; rank {} waits for {}", g.ranks.front(), g.first->what);
    text += "\n";
  }
  if (groups.size() > kMostGroups)
    text += fmt::format("    and {} groups more\n", groups.size() - kMostGroups);
  return text;
}

}  // namespace nplus1::analyses
