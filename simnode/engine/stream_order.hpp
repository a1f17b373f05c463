// Which calls of a rank wait for their turn, because an earlier one of another thread's has not been carried out here.
//
// A rank decides much by itself, in the order in which its threads come to MPI, which is the order of its stream: which of
// their receives gets which message, what a probe finds. The engine comes to a call later than to another thread's that
// follows it in the stream where the first call's thread is still blocked in the call before. Where both send to the same
// rank, match the same messages, or use the same request, the order of the stream holds, and the later call is kept, too.
// That is no deadlock in a live run: the earlier call was made because all that came before it had returned, so nothing
// that it waits for needs the later one. Under a changed network it may (Turns::let_one_go_out_of_turn).
//
// One for each rank with several threads. A look costs as much as there are threads with earlier calls on the same
// messages; of a receive or probe from any source or with any tag, as there are kinds of receives kept.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <tuple>

#include "events/event.hpp"

namespace nplus1::simnode::engine {

class StreamOrder {
 public:
  using Requests = std::span<const std::uint32_t>;

  /// The rank's next event, of lane `lane`, is kept behind what is kept of that lane.
  void keep(std::uint32_t lane, const events::Event& event) {
    kept_[lane].push_back(next_);
    each_use(event, [&](const Use& use) { uses_[use][lane].push_back(next_); });
    ++next_;
  }
  /// The oldest kept event of `lane` is carried out.
  void took(std::uint32_t lane, const events::Event& event) {
    each_use(event, [&](const Use& use) {
      const auto found = uses_.find(use);
      std::deque<std::uint64_t>& places = found->second[lane];
      places.pop_front();
      if (places.empty()) found->second.erase(lane);
      if (found->second.empty()) uses_.erase(found);
    });
    kept_[lane].pop_front();
  }
  /// Whether an event that comes now must be kept. `requests`: those that it waits for.
  [[nodiscard]] bool holds(std::uint32_t lane, const events::Event& event, Requests requests) const {
    return !uses_.empty() && conflicts(lane, event, requests, next_);
  }
  /// Whether the oldest kept event of `lane` must wait for longer.
  [[nodiscard]] bool holds_oldest(std::uint32_t lane, const events::Event& event, Requests requests) const {
    return conflicts(lane, event, requests, kept_.at(lane).front());
  }

 private:
  enum class What : std::uint8_t { kSend, kReceive, kRequest };
  /// What is used: a send's destination, a receive's or probe's messages, or (in the third place) a request.
  using Use = std::tuple<What, std::uint32_t, std::int32_t, std::int32_t>;
  using Places = std::map<std::uint32_t, std::deque<std::uint64_t>>;  // in the stream, by lane

  [[nodiscard]] static bool receives(events::EventKind kind) {
    using events::EventKind;
    return kind == EventKind::kRecv || kind == EventKind::kIrecv || kind == EventKind::kProbe ||
           kind == EventKind::kIprobe;
  }
  [[nodiscard]] static bool sends(events::EventKind kind) {
    return kind == events::EventKind::kSend || kind == events::EventKind::kIsend;
  }
  [[nodiscard]] static Use request(std::uint32_t id) {
    return {What::kRequest, 0, static_cast<std::int32_t>(id), 0};
  }
  /// Messages of all tags go in one order, as a receive with any tag may take them.
  [[nodiscard]] static Use send(const events::Event& e) { return {What::kSend, e.comm.value, e.peer, 0}; }

  template <class Visit>
  static void each_use(const events::Event& e, Visit visit) {
    using events::EventKind;
    if (sends(e.kind) && e.peer_rank() != kProcNull) visit(send(e));
    if (receives(e.kind) && e.peer_rank() != kProcNull)
      visit(Use{What::kReceive, e.comm.value, e.peer, e.tag});
    const bool starts =
        e.kind == EventKind::kIsend || e.kind == EventKind::kIrecv || e.kind == EventKind::kIcollective ||
        ((e.kind == EventKind::kOneSided || e.kind == EventKind::kFileAccess) && e.request != kNoRequest);
    if (starts) visit(request(e.request.value));
  }

  [[nodiscard]] static bool others(const Places& places, std::uint32_t lane, std::uint64_t before) {
    return std::any_of(places.begin(), places.end(),
                       [&](const auto& of) { return of.first != lane && of.second.front() < before; });
  }
  [[nodiscard]] bool used(const Use& use, std::uint32_t lane, std::uint64_t before) const {
    const auto found = uses_.find(use);
    return found != uses_.end() && others(found->second, lane, before);
  }
  [[nodiscard]] bool received(const events::Event& e, std::uint32_t lane, std::uint64_t before) const {
    const std::uint32_t comm = e.comm.value;
    if (e.peer_rank() != kAnySource && e.tag != kAnyTag)
      return used({What::kReceive, comm, e.peer, e.tag}, lane, before) ||
             used({What::kReceive, comm, e.peer, kAnyTag}, lane, before) ||
             used({What::kReceive, comm, kAnySource.value, e.tag}, lane, before) ||
             used({What::kReceive, comm, kAnySource.value, kAnyTag}, lane, before);
    return std::any_of(uses_.begin(), uses_.end(), [&](const auto& use) {
      const auto& [what, its_comm, peer, tag] = use.first;
      const bool source = peer == e.peer || peer == kAnySource.value || e.peer_rank() == kAnySource;
      const bool tagged = tag == e.tag || tag == kAnyTag || e.tag == kAnyTag;
      return what == What::kReceive && its_comm == comm && source && tagged &&
             others(use.second, lane, before);
    });
  }
  [[nodiscard]] bool conflicts(std::uint32_t lane, const events::Event& e, Requests requests,
                               std::uint64_t before) const {
    using events::EventKind;
    if (sends(e.kind)) return e.peer_rank() != kProcNull && used(send(e), lane, before);
    if (receives(e.kind)) return e.peer_rank() != kProcNull && received(e, lane, before);
    if (e.kind == EventKind::kCancelled || e.kind == EventKind::kRequestFree)
      return used(request(e.request.value), lane, before);
    if (e.kind != EventKind::kWait && e.kind != EventKind::kTest) return false;
    return std::any_of(requests.begin(), requests.end(),
                       [&](std::uint32_t id) { return used(request(id), lane, before); });
  }

  std::map<Use, Places> uses_;
  std::map<std::uint32_t, std::deque<std::uint64_t>> kept_;  // places of all that is kept, by lane
  std::uint64_t next_ = 0;
};

}  // namespace nplus1::simnode::engine
