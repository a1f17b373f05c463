// What the engine knows of a rank and of each of its threads ("lanes": separate clocks, shared matching).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "events/event.hpp"
#include "semantics/mailbox.hpp"
#include "semantics/timing.hpp"
#include "simnode/engine/request_table.hpp"
#include "support/ids.hpp"
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

  /// Removes the oldest event; its lists replace the contents of `words` and `sizes`.
  events::Event pop(std::vector<std::uint32_t>& words, std::vector<std::int64_t>& sizes) {
    const Kept kept = events_[next_++];
    const auto word = words_.begin() + static_cast<std::ptrdiff_t>(next_word_);
    const auto size = sizes_.begin() + static_cast<std::ptrdiff_t>(next_size_);
    words.assign(word, word + static_cast<std::ptrdiff_t>(kept.words));
    sizes.assign(size, size + static_cast<std::ptrdiff_t>(kept.sizes));
    next_word_ += kept.words;
    next_size_ += kept.sizes;
    if (empty() || next_ >= kCompactAt) compact();
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

/// Counters per destination, in chunks, so that a rank pays for the neighbourhood it talks to.
class SequenceTable {
 public:
  std::uint64_t next(RankId destination) {
    const std::size_t chunk = destination.index() / kChunk;
    if (chunk >= chunks_.size()) chunks_.resize(chunk + 1);
    if (!chunks_[chunk]) chunks_[chunk] = std::make_unique<Chunk>();
    return (*chunks_[chunk])[destination.index() % kChunk]++;
  }

 private:
  static constexpr std::size_t kChunk = 64;
  using Chunk = std::array<std::uint64_t, kChunk>;
  std::vector<std::unique_ptr<Chunk>> chunks_;
};

enum class Run : std::uint8_t {
  kRunning,  // in the application; its next event is to come
  kBlocked,  // in the call `current`
  kOutside,  // in a call that is not modelled
  kGone,
};

struct Lane {
  RankId rank{};
  ThreadId thread{};
  Run run = Run::kRunning;
  bool fresh_clock = true;    // the next entry_ps is taken as it is: its first event's
  std::uint32_t unknown = 0;  // requests it waits for whose completion is not known
  Time clock{};               // last exit
  Time entry{};               // of the call it is in
  Time interface_free{};      // when its sends so far have left
  semantics::PollCost poll;
  events::Event current;  // while blocked; entry_ps is the virtual entry
  std::vector<std::uint32_t> words;
  std::vector<std::int64_t> sizes;
  Backlog backlog;
};

struct Rank {
  explicit Rank(Duration announcement) : mailbox{announcement} {}

  semantics::Mailbox mailbox;
  RequestTable requests;
  SequenceTable sequences;
  std::vector<std::uint32_t> lanes;               // by thread; kNoLane: not seen
  std::vector<semantics::Message> taken;          // by Mprobe, not yet received
  std::optional<semantics::Candidate> candidate;  // of the next any-source decision
  Time bound{};                                   // its running threads make no event before
  Time decided_until = Time::min();               // later arrivals before this contradict a decision
  std::uint32_t probing = 0;                      // lanes in a probe
  bool withdrawn = false;
  bool woken = false;  // in the list of next_woken()
  bool dirty = false;  // decisions to be computed anew
};

}  // namespace nplus1::simnode::engine
