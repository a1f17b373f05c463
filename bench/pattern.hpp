// Synthetic programs for benchmarks of simulators: the same step over and over, by who talks to whom.
#pragma once

#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "simnode/engine/replay.hpp"

namespace nplus1::bench {

using events::Event;
using events::EventKind;

/// Repeats one step of a communication pattern: compute, irecv from each source, isend to each destination,
/// waitall.
class Pattern : public simnode::engine::Streams {
 public:
  struct Peers {
    std::vector<std::int32_t> sources;
    std::vector<std::int32_t> destinations;
  };

  /// `noise`: each rank's compute before a step is 10 us and up to this much more.
  Pattern(const std::vector<Peers>& peers, int steps, Duration noise = {})
      : steps_{steps}, noise_{noise.count()}, cursors_(peers.size()) {
    for (std::size_t r = 0; r < peers.size(); ++r) {
      cursors_[r].first = static_cast<std::uint32_t>(peers_.size());
      cursors_[r].receives = static_cast<std::uint32_t>(peers[r].sources.size());
      cursors_[r].requests = static_cast<std::uint32_t>(peers[r].destinations.size()) + cursors_[r].receives;
      peers_.insert(peers_.end(), peers[r].sources.begin(), peers[r].sources.end());
      peers_.insert(peers_.end(), peers[r].destinations.begin(), peers[r].destinations.end());
    }
  }

  std::size_t heap_after_a_quarter = 0;  // of rank 0's stream, in bytes

  const Event* next(RankId rank, events::Extension& extension) override {
    Cursor& c = cursors_[rank.index()];
    if (c.step == steps_) return nullptr;
    event_ = Event{};
    if (c.position == c.requests) {
      finish_step(rank, c, extension);
      return &event_;
    }
    event_.peer = peers_[c.first + c.position];
    event_.request = RequestId{++c.request};
    if (c.position < c.receives) {
      event_.kind = EventKind::kIrecv;
      if (c.position == 0) event_.compute_ps = compute(rank, c.step);
    } else {
      event_.kind = EventKind::kIsend;
      event_.size = 8192;
    }
    ++c.position;
    return &event_;
  }

 private:
  /// Where a rank stands, and its peers among all: sources, then destinations. Small, because the engine is
  /// what is measured, and in a large world both want the cache.
  struct Cursor {
    int step = 0;
    std::uint32_t position = 0;
    std::uint32_t request = 0;
    std::uint32_t first = 0;
    std::uint32_t receives = 0;
    std::uint32_t requests = 0;
  };

  [[nodiscard]] std::int64_t compute(RankId rank, int step) const {
    const std::uint64_t mixed =
        (std::uint64_t{rank.index()} * 7919 + static_cast<std::uint64_t>(step)) * 2654435761U;
    return 10'000'000 + (noise_ == 0 ? 0 : static_cast<std::int64_t>(mixed >> 16U) % noise_);
  }

  void finish_step(RankId rank, Cursor& c, events::Extension& extension) {
    event_.kind = EventKind::kWait;
    event_.aux = c.requests;
    words_.clear();
    for (std::uint32_t i = 0; i < c.requests; ++i) words_.push_back(c.request - (c.requests - 1 - i));
    extension.words = words_;
    c.position = 0;
    ++c.step;
    if (rank.value == 0 && c.step == steps_ / 4) heap_after_a_quarter = mallinfo2().uordblks;
  }

  std::vector<std::int32_t> peers_;
  int steps_;
  std::int64_t noise_;
  std::vector<Cursor> cursors_;
  Event event_;
  std::vector<std::uint32_t> words_;
};

inline std::vector<Pattern::Peers> halo(int ranks) {  // a torus as square as it gets
  int rows = static_cast<int>(std::sqrt(ranks));
  while (ranks % rows != 0) --rows;
  const int columns = ranks / rows;
  std::vector<Pattern::Peers> peers;
  for (int r = 0; r < ranks; ++r) {
    const int y = r / columns;
    const int x = r % columns;
    const auto at = [&](int dy, int dx) {
      return (y + dy + rows) % rows * columns + (x + dx + columns) % columns;
    };
    const std::vector<std::int32_t> neighbours{at(-1, 0), at(1, 0), at(0, -1), at(0, 1)};
    peers.push_back({neighbours, neighbours});
  }
  return peers;
}

inline std::vector<Pattern::Peers> ring(int ranks) {
  std::vector<Pattern::Peers> peers;
  for (int r = 0; r < ranks; ++r) peers.push_back({{(r + ranks - 1) % ranks}, {(r + 1) % ranks}});
  return peers;
}

inline std::vector<Pattern::Peers> random_pairs(int ranks) {  // four random pairings
  std::mt19937 random{7};
  std::vector<Pattern::Peers> peers(static_cast<std::size_t>(ranks));
  std::vector<std::int32_t> order(static_cast<std::size_t>(ranks));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i);
  for (int pairing = 0; pairing < 4; ++pairing) {
    std::shuffle(order.begin(), order.end(), random);
    for (std::size_t i = 0; i + 1 < order.size(); i += 2) {
      for (const auto& [a, b] : {std::pair{order[i], order[i + 1]}, std::pair{order[i + 1], order[i]}}) {
        peers[static_cast<std::size_t>(a)].sources.push_back(b);
        peers[static_cast<std::size_t>(a)].destinations.push_back(b);
      }
    }
  }
  return peers;
}

inline std::vector<Pattern::Peers> alltoall(int ranks) {
  std::vector<Pattern::Peers> peers(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) {
    Pattern::Peers& mine = peers[static_cast<std::size_t>(r)];
    for (int d = 1; d < ranks; ++d) {
      mine.sources.push_back((r + ranks - d) % ranks);
      mine.destinations.push_back((r + d) % ranks);
    }
  }
  return peers;
}

}  // namespace nplus1::bench
