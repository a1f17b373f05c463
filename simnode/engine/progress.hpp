// Weak progress: a rendezvous transfer is started by its two ranks, and a rank starts nothing unless it is inside MPI.
// What the engine keeps of that, with Options::weak_progress. Private to the engine; the rules are in progress.cpp.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "semantics/mailbox.hpp"
#include "support/ids.hpp"
#include "support/units.hpp"

namespace nplus1::simnode::engine {

/// A rendezvous message that has met its receive, and whose transfer has not begun.
struct Handshake {
  RankId receiver{};
  semantics::Receive receive{};
  semantics::Message message{};
  Time at{};              // the thread that it waits for has been told by then
  Time begin{};           // of the transfer, as far as is known
  bool answered = false;  // by the receiver: the sender's turn
  std::uint32_t lane = 0;
};

/// A stay of a thread inside MPI.
struct Inside {
  Time entry, exit;
};

struct Progress {
  struct OfLane {
    std::vector<Inside> calls;           // since the rank last had no request
    std::vector<std::uint32_t> waiting;  // handshakes that wait for the thread, by place in `table`
  };

  std::vector<OfLane> lanes;
  std::vector<Handshake> table;
  std::vector<std::uint32_t> free;
  std::set<std::pair<Time, std::uint32_t>>
      asleep;                          // handshakes whose thread was blocked in a call when it came
  std::vector<std::uint32_t> stirred;  // lanes that have moved on

  std::uint32_t add(const Handshake& handshake) {
    if (free.empty()) {
      free.push_back(static_cast<std::uint32_t>(table.size()));
      table.emplace_back();
    }
    const std::uint32_t place = free.back();
    free.pop_back();
    table[place] = handshake;
    return place;
  }
  OfLane& of(std::uint32_t lane) {
    if (lane >= lanes.size()) lanes.resize(lane + 1);
    return lanes[lane];
  }
};

}  // namespace nplus1::simnode::engine
