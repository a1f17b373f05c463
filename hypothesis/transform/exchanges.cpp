#include "hypothesis/transform/exchanges.hpp"

#include <algorithm>

namespace nplus1::hypothesis::transform {
namespace {

using events::Event;
using events::EventKind;

/// Between two MPI calls that follow each other in a program's text pass some 0.1 us; a microsecond and a half
/// is enough to come back to cold caches, and too little to pack a message worth speaking of.
constexpr Duration kNothing = std::chrono::nanoseconds{1500};
constexpr std::size_t kMostReceives = 64;

/// The time between the call and the one before it of its thread: real time where that is known, because given
/// compute times say nothing of it, and virtual time where that is more (a program that sleeps).
Duration gap_before(const events::TimedEvent& timed, Duration call_interval) {
  const Duration computed = std::max(Duration{}, timed.event.compute() - call_interval);
  if (timed.detail == nullptr || timed.detail->wall_before_ns == 0) return computed;
  return std::max(computed, Duration{std::chrono::nanoseconds{timed.detail->wall_entry_ns -
                                                              timed.detail->wall_before_ns}});
}

}  // namespace

bool is_blocking_message(const Event& event) {
  return (event.kind == EventKind::kSend || event.kind == EventKind::kRecv) &&
         event.peer != kProcNull.value && !event.has(events::kMatched);
}

bool is_nothing(const Event& event) {
  if (event.kind == EventKind::kLocal) return event.compute() <= kNothing;
  return (event.kind == EventKind::kSend || event.kind == EventKind::kRecv) && event.peer == kProcNull.value;
}

void ExchangeSurvey::on_event(const events::TimedEvent& timed) {
  messages_.on_event(timed);
  Lane& lane = lanes_[{timed.rank.value, timed.event.thread.value}];
  if (is_nothing(timed.event) || is_wait_for_both(timed.event)) return;
  if (is_half(timed.event) && timed.exit != events::kUnfinished) return follow_half(lane, timed);
  if (!is_blocking_message(timed.event) || timed.exit == events::kUnfinished) {
    for (const Received& r : lane.receives) contents_.erase({timed.rank.value, r.ordinal});
    lane = {};
    return;
  }
  follow(lane, timed);
}

void ExchangeSurvey::follow(Lane& lane, const events::TimedEvent& timed) {
  const bool receives = timed.event.kind == EventKind::kRecv;
  step(lane, timed.event.site.value, !receives, gap_before(timed, call_interval_));
  if (receives)
    received(lane, timed);
  else
    compare(lane, timed);
}

/// Of a call to or from MPI_PROC_NULL the other half alone counts.
void ExchangeSurvey::follow_half(Lane& lane, const events::TimedEvent& timed) {
  const bool nobody = timed.event.peer == kProcNull.value;
  if (timed.event.kind == EventKind::kIsend) {
    lane.half_gap = gap_before(timed, call_interval_);
    lane.half_sends = !nobody;
    if (nobody) return;
    step(lane, timed.event.site.value, true, lane.half_gap);
    compare(lane, timed);
  } else if (!nobody) {
    if (!lane.half_sends) step(lane, timed.event.site.value, false, lane.half_gap);
    received(lane, timed);
  }
}

/// The next call of the lane.
void ExchangeSurvey::step(Lane& lane, std::uint32_t site, bool sends, Duration gap) {
  if (lane.blocking) {
    Transition& t = transitions_[{lane.site, site}];
    ++t.visits;
    if (gap <= kNothing) ++t.near;
    (lane.received && sends ? t.send_after_receive : t.other_order) = true;
  }
  lane.blocking = true;
  lane.received = false;
  lane.site = site;
}

void ExchangeSurvey::received(Lane& lane, const events::TimedEvent& timed) {
  lane.received = true;
  if (lane.receives.size() == kMostReceives) {
    contents_.erase({timed.rank.value, lane.receives.front().ordinal});
    lane.receives.erase(lane.receives.begin());
  }
  lane.receives.push_back({timed.ordinal, timed.event.site.value});
}

/// What is sent, with what has been received since the last other call.
void ExchangeSurvey::compare(Lane& lane, const events::TimedEvent& timed) {
  const std::uint64_t content = content_of(timed.event, timed.detail);
  if (content == 0) return;
  for (const Received& r : lane.receives) {
    const Call receive{timed.rank.value, r.ordinal};
    const Sent sent{{r.site, timed.event.site.value}, content};
    if (const auto known = contents_.find(receive); known != contents_.end())
      judge(sent, known->second);
    else
      sent_after_[receive].push_back(sent);
  }
}

void ExchangeSurvey::message(const MessageCalls& m) {
  if (found_) found_(m);
  const bool send_waits = m.send_blocks || m.send_is_half;
  const bool receive_waits = m.receive_blocks || m.receive_is_half;
  if (!receive_waits || m.posted == MessageCalls::kNone || !send_waits) return;
  message_sites_.insert({m.send_site, m.receive_site});
  const Call receive{m.destination, m.posted};
  if (m.content == 0) {
    sent_after_.erase(receive);
    return;
  }
  if (const auto waiting = sent_after_.find(receive); waiting != sent_after_.end()) {
    for (const Sent& sent : waiting->second) judge(sent, m.content);
    sent_after_.erase(waiting);
  }
  const auto begin = lanes_.lower_bound({m.destination, 0});
  const auto end = lanes_.upper_bound({m.destination, std::uint16_t(0xffff)});
  for (auto lane = begin; lane != end; ++lane)
    for (const Received& r : lane->second.receives)
      if (r.ordinal == m.posted) contents_[receive] = m.content;
}

void ExchangeSurvey::judge(const Sent& sent, std::uint64_t received) {
  Transition& t = transitions_[sent.sites];
  t.varies = t.varies || (t.compared > 0 && t.content != received);
  t.content = received;
  ++t.compared;
  if (received == sent.content) ++t.equal;
}

bool ExchangeSurvey::at_once(std::uint32_t first, std::uint32_t second) const {
  const auto found = transitions_.find({first, second});
  return found != transitions_.end() && 4 * found->second.near >= found->second.visits;
}

bool ExchangeSurvey::forwards(std::uint32_t first, std::uint32_t second) const {
  const auto found = transitions_.find({first, second});
  // Where all messages are the same, nobody can say whose content a message has.
  return found != transitions_.end() && found->second.varies &&
         2 * found->second.equal > found->second.compared;
}

std::vector<ExchangeSites> ExchangeSurvey::exchanges() const {
  // Ends of messages, sends and receives, that hang together by messages and by following each other.
  using CallEnd = std::pair<bool, std::uint32_t>;  // whether it receives, call path
  std::map<CallEnd, CallEnd> parent;
  const std::function<CallEnd(CallEnd)> find = [&](CallEnd e) {
    const auto at = parent.try_emplace(e, e).first;
    return at->second == e ? e : at->second = find(at->second);
  };
  std::set<std::uint32_t> sends, receives;
  for (const auto& [send, receive] : message_sites_) {
    sends.insert(send);
    receives.insert(receive);
    parent[find({false, send})] = find({true, receive});
  }
  for (const std::uint32_t site : sends)  // MPI_Sendrecv
    if (receives.contains(site)) parent[find({false, site})] = find({true, site});
  const auto end_of = [&](std::uint32_t site) { return CallEnd{!sends.contains(site), site}; };
  std::vector<std::pair<Sites, const Transition*>> joins;
  for (const auto& [sites, t] : transitions_) {
    const auto known = [&](std::uint32_t site) { return sends.contains(site) || receives.contains(site); };
    if (!at_once(sites.first, sites.second) || !known(sites.first) || !known(sites.second)) continue;
    if (!t.other_order && forwards(sites.first, sites.second)) continue;
    joins.push_back({sites, &t});
    parent[find(end_of(sites.first))] = find(end_of(sites.second));
  }
  std::map<CallEnd, ExchangeSites> all;
  for (const auto& [sites, t] : joins) {
    ExchangeSites& e = all[find(end_of(sites.first))];
    e.assumes = e.assumes || (t->send_after_receive && !forwards(sites.first, sites.second));
    e.safe = e.safe || t->other_order;
  }
  for (const auto& [send, receive] : message_sites_)
    if (const auto e = all.find(find({false, send})); e != all.end()) {
      e->second.sends.insert(send);
      e->second.receives.insert(receive);
    }
  std::vector<ExchangeSites> list;
  for (auto& [root, sites] : all) list.push_back(std::move(sites));
  return list;
}

}  // namespace nplus1::hypothesis::transform
