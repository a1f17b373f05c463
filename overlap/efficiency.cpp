#include "overlap/efficiency.hpp"

#include <algorithm>

#include "events/mpi_call.hpp"

namespace nplus1::overlap {
namespace {

using events::EventKind;
using events::MpiCall;

template <class Value>
Value& grown(std::vector<Value>& values, std::size_t index) {
  if (index >= values.size()) values.resize(index + 1);
  return values[index];
}

/// Both halves of these are waited for in the call.
bool waits_in_the_call(const events::Event& event) {
  return event.call == static_cast<std::uint16_t>(MpiCall::MPI_Sendrecv) ||
         event.call == static_cast<std::uint16_t>(MpiCall::MPI_Sendrecv_replace);
}

bool outside_mpi(EventKind kind) {
  return kind == EventKind::kLocal || kind == EventKind::kRegionBegin || kind == EventKind::kRegionEnd;
}

}  // namespace

Efficiency::Posted Efficiency::posted(const events::TimedEvent& timed, bool non_blocking) {
  const events::Event& e = timed.event;
  const auto& in = grown(ranks_[timed.rank.index()].regions, e.thread.index());
  return {e.entry_ps, e.site.value, in.empty() ? 0 : in.back(), e.thread, non_blocking};
}

void Efficiency::on_event(const events::TimedEvent& timed) {
  ++events_;
  const events::Event& e = timed.event;
  Rank& rank = ranks_.at(timed.rank.index());
  auto& regions = grown(rank.regions, e.thread.index());
  if (e.kind == EventKind::kRegionBegin) return regions.push_back(static_cast<std::uint32_t>(e.aux));
  if (e.kind == EventKind::kRegionEnd && !regions.empty()) return regions.pop_back();
  if (outside_mpi(e.kind) || timed.exit == events::kUnfinished) return;
  const std::int64_t exit = timed.exit.time_since_epoch().count();
  auto& inside = grown(rank.inside, e.thread.index());
  if (!inside.empty() && inside.back().end >= e.entry_ps)
    inside.back().end = std::max(inside.back().end, exit);
  else
    inside.push_back({e.entry_ps, exit});
  switch (e.kind) {
    case EventKind::kSend:
    case EventKind::kIsend: {
      if (e.peer_rank() == kProcNull) return;
      const bool buffered = e.send_mode() == events::SendMode::kBuffered;
      const bool eager =
          buffered || (e.send_mode() != events::SendMode::kSynchronous && network_.eager(e.payload()));
      const Key key{timed.rank.value, e.peer, timed.answer.sequence};
      Message& message = messages_[key];
      message.sent = true;
      message.send = {posted(timed, e.kind == EventKind::kIsend && !waits_in_the_call(e)), !eager};
      message.send.at += network_.send_overhead(e.payload()).count();
      return pair(key, message);
    }
    case EventKind::kIrecv:
      if (e.peer_rank() != kProcNull) rank.posted[e.request.value] = posted(timed, !waits_in_the_call(e));
      return;
    case EventKind::kRecv:
      if (e.peer_rank() == kProcNull || timed.answer.source < 0) return;
      return received({timed.answer.source, timed.rank.value, timed.answer.sequence}, posted(timed, false),
                      exit - network_.receive_overhead(bytes(timed.answer.size)).count());
    default:
      return;
  }
}

void Efficiency::on_match(RankId receiver, const events::Answer& match) {
  Rank& rank = ranks_.at(receiver.index());
  const auto known = rank.posted.find(match.request.value);
  if (known == rank.posted.end() || match.source < 0) return;
  const Posted post = known->second;
  rank.posted.erase(known);
  received({match.source, receiver.value, match.sequence}, post, match.exit_ps);
}

void Efficiency::received(const Key& key, const Posted& post, std::int64_t arrived) {
  Message& message = messages_[key];
  message.received = true;
  message.receive = {post, arrived, key.destination};
  pair(key, message);
}

void Efficiency::pair(const Key& key, Message& message) {
  if (!message.sent || !message.received) return;
  const Sent& s = message.send;
  const Received& r = message.receive;
  const std::int64_t begin = std::max(s.at, r.at);
  if (r.arrived > begin) {
    ranks_[static_cast<std::size_t>(key.destination)].transfers.push_back(
        {{begin, r.arrived}, r.site, r.region, r.thread, r.non_blocking});
    if (s.rendezvous)
      ranks_.at(static_cast<std::size_t>(key.source))
          .transfers.push_back({{begin, r.arrived}, s.site, s.region, s.thread, s.non_blocking});
  }
  messages_.erase(key);
}

/// The union of the transfers of a rank, and what of it lies outside its threads' calls.
Hidden Efficiency::measured(const Rank& rank, std::vector<Transfer>& of) const {
  std::sort(of.begin(), of.end(), [](const Transfer& a, const Transfer& b) {
    return std::pair{a.thread, a.begin} < std::pair{b.thread, b.begin};
  });
  Hidden sum;
  for (std::size_t i = 0; i < of.size();) {
    Span span = of[i];
    const ThreadId thread = of[i].thread;
    for (++i; i < of.size() && of[i].thread == thread && of[i].begin <= span.end; ++i)
      span.end = std::max(span.end, of[i].end);
    sum_up(sum.transfer, span.end - span.begin);
    sum_up(sum.hidden, span.end - span.begin);
    const auto& inside = rank.inside[thread.index()];
    auto call = std::lower_bound(inside.begin(), inside.end(), span.begin,
                                 [](const Span& c, std::int64_t at) { return c.end < at; });
    for (; call != inside.end() && call->begin < span.end; ++call)
      sum.hidden -=
          std::max<std::int64_t>(0, std::min(call->end, span.end) - std::max(call->begin, span.begin));
  }
  return sum;
}

EfficiencyResult Efficiency::result() {
  EfficiencyResult result;
  result.events = events_;
  for (Rank& rank : ranks_) {
    for (const auto& inside : rank.inside)
      for (const Span& call : inside) sum_up(result.in_mpi, call.end - call.begin);
    std::map<std::uint32_t, std::vector<Transfer>> sites, regions;
    std::vector<Transfer> non_blocking;
    for (const Transfer& t : rank.transfers) {
      const auto standing = standing_.find(t.site);
      sites[standing == standing_.end() ? t.site : standing->second].push_back(t);
      regions[t.region].push_back(t);
      if (t.non_blocking) non_blocking.push_back(t);
    }
    for (auto& [site, transfers] : sites) result.sites[site].add(measured(rank, transfers));
    for (auto& [region, transfers] : regions) result.regions[region].add(measured(rank, transfers));
    result.non_blocking.add(measured(rank, non_blocking));
    result.ranks.push_back(measured(rank, rank.transfers));
    result.whole.add(result.ranks.back());
  }
  return result;
}

}  // namespace nplus1::overlap
