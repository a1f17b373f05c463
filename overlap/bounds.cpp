#include "overlap/bounds.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "support/collective_kind.hpp"

namespace nplus1::overlap {
namespace {

using events::EventKind;

/// No message crosses these: they synchronise, or nobody knows what they do.
bool is_fence(const Moment& m) {
  if (m.kind == EventKind::kUnmodelledEnter || m.kind == EventKind::kUnmodelledExit) return true;
  if (m.kind == EventKind::kFinalize) return true;
  if (m.kind != EventKind::kCollective) return false;
  const auto kind = static_cast<CollectiveKind>(m.operation);
  return kind == CollectiveKind::kBarrier || kind == CollectiveKind::kSynchronize;
}

/// What an earlier receive might take a message away from.
bool takes_any(const Moment& m) {
  if (m.kind == EventKind::kProbe || m.kind == EventKind::kIprobe) return true;
  return (m.kind == EventKind::kRecv || m.kind == EventKind::kIrecv) &&
         (m.peer == kAnySource.value || m.tag == kAnyTag);
}

/// Where the next call that no message crosses is, and the last ones, for each moment of a thread.
struct Fences {
  std::vector<std::uint32_t> next;    // at or behind it; as many as there are moments: none
  std::vector<std::uint32_t> behind;  // 1 + the last one in front of it; 0: none
  std::vector<std::uint32_t> takes;   // the same of probes and receives that take any message

  Fences(const SurveyedRank& rank, const std::vector<std::uint32_t>& lane)
      : next(lane.size() + 1), behind(lane.size() + 1), takes(lane.size() + 1) {
    const auto n = static_cast<std::uint32_t>(lane.size());
    next[n] = n;
    for (std::uint32_t i = n; i > 0; --i) next[i - 1] = is_fence(rank.moments[lane[i - 1]]) ? i - 1 : next[i];
    for (std::uint32_t i = 0; i < n; ++i) {
      const Moment& m = rank.moments[lane[i]];
      behind[i + 1] = is_fence(m) ? i + 1 : behind[i];
      takes[i + 1] = takes_any(m) ? i + 1 : takes[i];
    }
  }
};

/// Which call used memory last: pieces that do not overlap, each with its latest user.
class LastUses {
 public:
  void add(const Use& use) {
    auto at = pieces_.lower_bound(use.begin);
    if (at != pieces_.begin()) {
      const auto before = std::prev(at);
      const Piece piece = before->second;
      if (piece.end > use.end) pieces_.emplace_hint(at, use.end, piece);
      before->second.end = std::min(piece.end, use.begin);
      at = std::next(before);
    }
    while (at != pieces_.end() && at->first < use.end) {
      if (at->second.end > use.end) pieces_.emplace(use.end, at->second);
      at = pieces_.erase(at);
    }
    pieces_.insert_or_assign(use.begin, Piece{use.end, use.ordinal});
  }
  /// kNoOrdinal: nobody; nothing: it lies in more pieces than are looked at, which bounds the time.
  [[nodiscard]] std::optional<std::uint64_t> of(std::uint64_t begin, std::uint64_t end) const {
    constexpr int kMostPieces = 4096;
    std::optional<std::uint64_t> last;
    auto at = pieces_.lower_bound(begin);
    if (at != pieces_.begin() && std::prev(at)->second.end > begin) last = std::prev(at)->second.ordinal;
    for (int i = 0; at != pieces_.end() && at->first < end; ++at) {
      if (++i > kMostPieces) return std::nullopt;
      last = std::max(last, std::optional{at->second.ordinal});
    }
    return last ? last : kNoOrdinal;
  }

 private:
  struct Piece {
    std::uint64_t end = 0;
    std::uint64_t ordinal = 0;
  };
  std::map<std::uint64_t, Piece> pieces_;  // by where they begin
};

class Bounding {
 public:
  explicit Bounding(const SurveyedRank& rank) : rank_{rank} {
    for (const auto& lane : rank.of_thread) fences_.emplace_back(rank, lane);
    find_firsts();
    find_last_uses();
  }

  Bounds of(const MessageEnd& end, std::size_t index) const {
    Bounds b;
    const Moment* own = rank_.moment(end.ordinal);
    b.earliest = place_of(*own);
    b.deferrable = *not_deferrable(end) == '\0' && end.completed != kNoOrdinal;
    const Moment* completed = b.deferrable ? rank_.moment(end.completed) : nullptr;
    b.latest = {end.ordinal + 1, 0};
    b.ending_site = own->site;
    if (completed == nullptr) {
      b.deferrable = false;
      return b;
    }
    later(end, firsts_[index], *completed, b);
    b.stays = end.from_anybody() || terminates(end, index) ||
              (!end.receives() && end.event.send_mode() == events::SendMode::kReady);
    if (!b.stays) b.earliest = earlier(end, index, *own);
    return b;
  }

 private:
  /// What first conflicts with each end. Where the recording tells of none, its memory may have passed to a later
  /// message before anybody touched it: then that message does, or what it waits for.
  void find_firsts() {
    firsts_.resize(rank_.ends.size());
    std::map<std::uint64_t, std::size_t> users;  // by the address of their buffers: the next behind each end
    std::uint64_t largest = 1;
    for (std::size_t i = rank_.ends.size(); i > 0; --i) {
      const MessageEnd& end = rank_.ends[i - 1];
      firsts_[i - 1] = end.first;
      if (end.buffer == 0 || end.to_nobody()) continue;
      const std::uint64_t size = hull(end);
      largest = std::max(largest, size);
      if (!end.first.known()) inherit(i - 1, size, largest, users);
      users[end.buffer] = i - 1;
    }
  }
  void inherit(std::size_t i, std::uint64_t size, std::uint64_t largest,
               const std::map<std::uint64_t, std::size_t>& users) {
    const MessageEnd& end = rank_.ends[i];
    for (auto at = users.lower_bound(end.buffer > largest ? end.buffer - largest : 0);
         at != users.end() && at->first < end.buffer + size; ++at) {
      const MessageEnd& user = rank_.ends[at->second];
      if (at->first + hull(user) <= end.buffer) continue;
      Touch touch = firsts_[at->second];
      if (end.receives() || user.receives())
        touch = {user.ordinal,          user.event.entry_ps, 0,
                 user.event.site.value, user.event.thread,   Toucher::kMpiCall};
      if (touch.known() && touch.ordinal < firsts_[i].ordinal) firsts_[i] = touch;
    }
  }
  static std::uint64_t hull(const MessageEnd& end) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(1, end.event.size));
  }

  [[nodiscard]] const std::vector<std::uint32_t>& lane(ThreadId thread) const {
    return rank_.of_thread[thread.index()];
  }
  /// Place in the thread's list of its first moment from `ordinal` on.
  [[nodiscard]] std::size_t from(ThreadId thread, std::uint64_t ordinal) const {
    const auto& all = lane(thread);
    return static_cast<std::size_t>(
        std::lower_bound(all.begin(), all.end(), ordinal,
                         [this](std::uint32_t i, std::uint64_t o) { return rank_.moments[i].ordinal < o; }) -
        all.begin());
  }

  /// Whether this call uses memory of an earlier message that still waits for that: what follows it in the stream says
  /// so right before it, as an access of a call of the same rank.
  [[nodiscard]] bool terminates(const MessageEnd& end, std::size_t index) const {
    for (std::size_t i = index; i > 0 && i + kLookBack > index; --i) {
      const Touch& t = firsts_[i - 1];
      if (t.known() && t.by == Toucher::kMpiCall && t.site == end.event.site.value &&
          t.ordinal <= end.ordinal && end.ordinal - t.ordinal <= kNear)
        return true;
    }
    return false;
  }

  /// Which call of MPI's used memory of each end last, of those that tell no other access before them.
  void find_last_uses() {
    last_uses_.assign(rank_.ends.size(), kNoOrdinal);
    LastUses any, writes;
    auto use = rank_.uses.begin();
    for (std::size_t i = 0; i < rank_.ends.size(); ++i) {
      const MessageEnd& end = rank_.ends[i];
      for (; use != rank_.uses.end() && use->ordinal < end.ordinal; ++use) {
        any.add(*use);
        if (use->writes) writes.add(*use);
      }
      if (end.untouched_ps || end.buffer == 0) continue;
      last_uses_[i] = (end.receives() ? any : writes).of(end.buffer, end.buffer + hull(end));
    }
  }

  /// When MPI was last done with memory of this message that it wrote, or that this one writes; kNoOrdinal: never;
  /// nothing: that is not known.
  [[nodiscard]] std::optional<std::uint64_t> last_use(const MessageEnd& end, std::size_t index) const {
    const std::optional<std::uint64_t> used = last_uses_[index];
    if (end.buffer == 0 || !used) return std::nullopt;
    const auto known = std::lower_bound(rank_.ends.begin(), rank_.ends.end(), *used,
                                        [](const MessageEnd& e, std::uint64_t o) { return e.ordinal < o; });
    const bool message = known != rank_.ends.end() && known->ordinal == *used;
    return message && known->completed != kNoOrdinal ? known->completed : *used;
  }

  [[nodiscard]] Position earlier(const MessageEnd& end, std::size_t index, const Moment& own) const {
    const auto& all = lane(own.thread);
    Position bound{rank_.moments[all.front()].ordinal, 0};
    if (end.untouched_ps) {
      bound = std::max(bound, position_at(rank_, own.thread, own.entry_ps - *end.untouched_ps));
    } else {
      // Nobody but MPI has touched it since MPI last used it.
      const std::optional<std::uint64_t> used = last_use(end, index);
      if (!used) return place_of(own);
      if (*used != kNoOrdinal)
        if (const std::size_t next = from(own.thread, *used + 1); next < all.size())
          bound = std::max(bound, Position{rank_.moments[all[next]].ordinal, 0});
    }
    const Fences& fences = fences_[own.thread.index()];
    const std::size_t i = from(own.thread, end.ordinal);
    const std::uint32_t stop =
        end.receives() ? std::max(fences.behind[i], fences.takes[i]) : fences.behind[i];
    if (stop > 0) bound = std::max(bound, Position{rank_.moments[all[stop]].ordinal, 0});
    return std::min(bound, place_of(own));
  }

  void later(const MessageEnd& end, const Touch& first, const Moment& completed, Bounds& b) const {
    const auto& all = lane(completed.thread);
    const auto at = [&](std::size_t i) -> const Moment& { return rank_.moments[all[i]]; };
    const std::size_t after = from(completed.thread, completed.ordinal) + 1;
    std::uint64_t last = kNoOrdinal;  // before this
    if (first.known()) {
      last = first.ordinal;
      b.touch = first;
      b.ended_by = ended_by(first);
    }
    if (end.status.known() && end.status.ordinal < last) {
      last = end.status.ordinal;
      b.touch = end.status;
      b.ended_by = EndedBy::kCall;
    }
    const std::size_t touched =
        last == kNoOrdinal ? all.size() : std::max(after, from(completed.thread, last));
    std::size_t i =
        std::min<std::size_t>(fences_[completed.thread.index()].next[std::min(after, all.size())], touched);
    if (i == all.size()) {
      // The recording ends, or the access is another thread's: before this thread's last call in front of it.
      i = all.size() > after ? all.size() - 1 : after;
      b.ended_by = EndedBy::kFinalize;
    } else if (at(i).ordinal < last) {
      b.touch = {};
      b.ended_by = at(i).kind == EventKind::kFinalize ? EndedBy::kFinalize : EndedBy::kCall;
    } else if (at(i).ordinal > last) {
      i = std::max(after, i - 1);
    }
    if (i >= all.size()) {
      b.deferrable = false;
      return;
    }
    b.latest = place_of(at(i));
    b.ending_site = b.touch.known() ? b.touch.site : at(i).site;
  }

  [[nodiscard]] EndedBy ended_by(const Touch& touch) const {
    if (touch.by == Toucher::kEnd) return EndedBy::kFinalize;
    if (touch.by != Toucher::kMpiCall) return EndedBy::kTouch;
    const auto at = std::lower_bound(rank_.ends.begin(), rank_.ends.end(), touch.ordinal,
                                     [](const MessageEnd& e, std::uint64_t o) { return e.ordinal < o; });
    const bool message =
        at != rank_.ends.end() && at->ordinal - touch.ordinal <= kNear && at->event.site.value == touch.site;
    return message ? EndedBy::kOverlap : EndedBy::kCall;
  }

  /// Accesses of a call's buffer are told right before the call, as many as messages wait for it.
  static constexpr std::uint64_t kNear = 256;
  static constexpr std::size_t kLookBack = 256;
  const SurveyedRank& rank_;
  std::vector<Fences> fences_;                           // by thread
  std::vector<Touch> firsts_;                            // by place in the rank's ends
  std::vector<std::optional<std::uint64_t>> last_uses_;  // the same
};

}  // namespace

const char* name(EndedBy end) {
  switch (end) {
    case EndedBy::kTouch:
      return "touch";
    case EndedBy::kOverlap:
      return "overlap";
    case EndedBy::kCall:
      return "call";
    case EndedBy::kFinalize:
      return "finalize";
  }
  return "";
}

Position position_at(const SurveyedRank& rank, ThreadId thread, std::int64_t time_ps) {
  const auto& all = rank.of_thread[thread.index()];
  const auto at = std::lower_bound(all.begin(), all.end(), time_ps, [&rank](std::uint32_t i, std::int64_t t) {
    return rank.moments[i].entry_ps < t;
  });
  const Moment& m = rank.moments[at == all.end() ? all.back() : *at];
  const std::int64_t into = time_ps - (m.entry_ps - m.compute_ps);
  return {m.ordinal, std::clamp<std::int64_t>(into, 0, m.compute_ps)};
}

bool is_call(const Moment& moment) {
  return moment.kind != EventKind::kLocal && moment.kind != EventKind::kRegionBegin &&
         moment.kind != EventKind::kRegionEnd;
}

std::vector<Bounds> bounds_of(const SurveyedRank& rank) {
  const Bounding bounding{rank};
  std::vector<Bounds> all;
  all.reserve(rank.ends.size());
  for (std::size_t i = 0; i < rank.ends.size(); ++i) all.push_back(bounding.of(rank.ends[i], i));
  return all;
}

}  // namespace nplus1::overlap
