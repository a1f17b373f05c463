// What the engine knows of a rank and of each of its threads ("lanes": separate clocks, shared matching).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "events/event.hpp"
#include "semantics/mailbox.hpp"
#include "semantics/timing.hpp"
#include "simnode/engine/request_table.hpp"
#include "simnode/engine/stream_order.hpp"
#include "support/ids.hpp"
#include "support/prefetch.hpp"
#include "support/units.hpp"

namespace nplus1::simnode::engine {

/// Events that came while their thread was blocked, with their lists.
class Backlog {
 public:
  [[nodiscard]] bool empty() const { return next_ == events_.size(); }

  void push(const events::Event& event, const events::Extension& extension) {
    events_.push_back({event, extension.words.size(), extension.sizes.size()});
    words_.insert(words_.end(), extension.words.begin(), extension.words.end());
    sizes_.insert(sizes_.end(), extension.sizes.begin(), extension.sizes.end());
  }

  /// The oldest event.
  [[nodiscard]] const events::Event& front() const { return events_[next_].event; }
  [[nodiscard]] std::span<const std::uint32_t> front_words() const {
    return std::span{words_}.subspan(next_word_, events_[next_].words);
  }
  template <class Visit>
  void each(Visit visit) const {
    for (std::size_t i = next_; i < events_.size(); ++i) visit(events_[i].event);
  }

  /// Removes the oldest event; its lists replace the contents of `words` and `sizes`.
  events::Event pop(std::vector<std::uint32_t>& words, std::vector<std::int64_t>& sizes) {
    const Kept kept = events_[next_++];
    const auto word = words_.begin() + static_cast<std::ptrdiff_t>(next_word_);
    const auto size = sizes_.begin() + static_cast<std::ptrdiff_t>(next_size_);
    words.assign(word, word + static_cast<std::ptrdiff_t>(kept.words));
    sizes.assign(size, size + static_cast<std::ptrdiff_t>(kept.sizes));
    next_word_ += kept.words;
    next_size_ += kept.sizes;
    // What is moved has been outnumbered by what has gone: each entry is moved about once.
    if (empty() || (next_ >= kCompactAt && 2 * next_ >= events_.size())) compact();
    return kept.event;
  }

 private:
  struct Kept {
    events::Event event;
    std::size_t words;
    std::size_t sizes;
  };
  static constexpr std::size_t kCompactAt = 1024;

  void compact() {
    events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(next_));
    words_.erase(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(next_word_));
    sizes_.erase(sizes_.begin(), sizes_.begin() + static_cast<std::ptrdiff_t>(next_size_));
    next_ = next_word_ = next_size_ = 0;
  }

  std::vector<Kept> events_;
  std::vector<std::uint32_t> words_;
  std::vector<std::int64_t> sizes_;
  std::size_t next_ = 0;
  std::size_t next_word_ = 0;
  std::size_t next_size_ = 0;
};

/// Counters per destination, in a small hash table: a rank pays for the neighbourhood it talks to.
class SequenceTable {
 public:
  std::uint64_t next(RankId destination) {
    if (slots_.empty()) grow();
    Slot* slot = &find(destination);
    if (slot->destination == kFree) slot = &insert(destination);
    return slot->count++;
  }
  /// A hint that its rank sends soon.
  void approach() const { prefetch_lines<2>(slots_.data()); }

 private:
  static constexpr std::int32_t kFree = -1;
  struct Slot {
    std::int32_t destination = kFree;
    std::uint64_t count = 0;
  };

  Slot& find(RankId destination) {
    std::size_t at = (destination.index() * 0x9e3779b97f4a7c15U >> 32U) & (slots_.size() - 1);
    while (slots_[at].destination != kFree && slots_[at].destination != destination.value)
      at = (at + 1) & (slots_.size() - 1);
    return slots_[at];
  }
  Slot& insert(RankId destination) {
    if (2 * ++used_ > slots_.size()) grow();
    Slot& slot = find(destination);
    slot.destination = destination.value;
    return slot;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 4 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.destination != kFree) find(RankId{slot.destination}) = slot;
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

enum class Run : std::uint8_t {
  kRunning,  // in the application; its next event is to come
  kBlocked,  // in the call `current`
  kOutside,  // in a call that is not modelled
  kSilent,   // has made no call since it was started, for so long that nobody waits for one any more
  kGone,
};

/// The completions that a kWait or kTest looks at.
struct Tally {
  std::uint32_t active = 0;
  std::uint32_t unknown = 0;
  std::uint32_t by_entry = 0;  // known and complete at entry
  Time first = Time::max();
  std::int32_t position = -1;  // of the first

  /// One whose completion was not known is complete at `at`. Which position the first has is then open.
  void complete(Time at, Time entry) {
    --unknown;
    by_entry += at <= entry ? 1U : 0U;
    first = std::min(first, at);
    position = std::max(position, 0);
  }
};

/// The first cache line is what other ranks' messages touch.
struct alignas(64) Lane {
  RankId rank{};
  ThreadId thread{};
  Run run = Run::kRunning;
  bool fresh_clock = true;     // the next entry_ps is taken as it is: its first event's
  bool unheard = false;        // it has been started and has made no call
  bool waits_for_all = false;  // blocked in a kWait of mode kAll
  bool waits_turn =
      false;  // it runs, and the oldest call of its backlog waits for other threads' (StreamOrder)
  bool out_of_turn = false;          // that one need not wait
  std::uint32_t unknown = 0;         // requests it waits for whose completion is not known
  std::uint32_t forks = 0;           // by other threads, since it was idle
  std::uint32_t idles = 0;           // so many times it has been idle
  Time clock{};                      // last exit
  Time entry{};                      // of the call it is in
  Time interface_free{};             // when its sends so far have left
  Time forked{};                     // the last of `forks`
  Time idle_since{};                 // the last of `idles`
  Time bound{};                      // while it runs it makes no event before
  Time decided_until = Time::min();  // of its receives and probes from any source
  semantics::PollCost poll;
  events::Event current;  // while blocked; entry_ps is the virtual entry
  Tally tally;            // while blocked in a kWait or kTest that not all must be complete for
  std::vector<std::uint32_t> words;
  std::vector<std::int64_t> sizes;
  Backlog backlog;
};

struct alignas(64) Rank {
  explicit Rank(Duration announcement) : mailbox{announcement} {}

  semantics::Mailbox mailbox;
  RequestTable requests;
  Time decided_until = Time::min();  // later arrivals before this contradict a decision
  std::uint32_t probing = 0;         // lanes in a probe
  bool withdrawn = false;
  bool woken = false;  // in the list of next_woken()
  bool dirty = false;  // decisions to be computed anew
  SequenceTable sequences;
  std::unique_ptr<StreamOrder> order;                                    // null: one thread
  std::uint32_t waiting_turns = 0;                                       // lanes
  std::optional<semantics::Candidate> candidate;                         // of the next any-source decision
  std::vector<std::uint32_t> lanes;                                      // by thread; kNoLane: not seen
  std::map<std::pair<RankId, std::uint64_t>, semantics::Message> taken;  // by Mprobe, not yet received
};

}  // namespace nplus1::simnode::engine
