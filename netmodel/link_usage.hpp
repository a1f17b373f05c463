// What crossed the links of a network with contention: plain data, made by Flows that were asked to watch (flows.hpp).
// Sums are exact: the bytes of all links are those of the streams times the links of their routes, and the time for which
// messages were held up is the same by link, by stream and in all.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/ids.hpp"
#include "support/units.hpp"

namespace nplus1::netmodel {

struct LinkUsage {
  using Number = std::uint32_t;  // of a link or a route: its place in the lists below

  struct Link {
    std::string name;      // the platform's
    double bandwidth = 0;  // bytes per second
    bool fat_pipe = false;
    std::uint64_t messages = 0;  // that crossed it
    std::uint64_t bytes = 0;     // and their payload
    Duration busy{};             // while something crossed it, or came back over it
    Duration full{};             // while all of its bandwidth was taken, and more was wanted
    Duration held_up{};          // by how much messages were late because it was shared
    double carried = 0;          // bytes: envelopes and what comes back included
    std::vector<float> load;  // by bin: share of the bandwidth that was taken; what lies behind the end is 0
  };

  /// The messages between two ranks that come from one place of the program.
  struct Stream {
    RankId source;
    RankId destination;
    std::uint32_t cause = 0;  // as the caller of Flows::start() named it
    Number route = 0;
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    Duration flowing{};                           // in transfer, without latencies
    Duration held_up{};                           // part of that: what sharing links has added
    std::vector<std::pair<Number, Duration>> by;  // the links that did so
  };
  std::vector<std::string> hosts;           // by rank; empty: not known
  Duration end{};                           // of the time that was watched
  Duration bin{};                           // width of a bin of Link::load
  std::vector<Link> links;                  // those that routes have named
  std::vector<std::vector<Number>> routes;  // links on the way there, in order
  std::vector<Stream> streams;
  std::uint64_t messages = 0;  // that have arrived
  std::uint64_t met = 0;       // of those: that ever crossed a link at the same time as another
  std::uint64_t slowed = 0;    // of those: that were held up
};

}  // namespace nplus1::netmodel
