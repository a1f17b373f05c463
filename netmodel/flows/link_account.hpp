// Who takes how much of which link, and whom that holds up: kept while LinkFlows simulates, at a cost proportional to the
// changes of rates. What links take is integrated where it changes. A message's delay is charged to links as it comes
// about: while its rate is limited by a link, the part of the time that it would not have needed alone.
//
// Memory: 600 bytes for each link, some 100 for each pair of ranks and cause. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "netmodel/flows/max_min.hpp"
#include "netmodel/link_usage.hpp"
#include "support/ids.hpp"
#include "support/units.hpp"

namespace nplus1::netmodel {

struct Route;
struct LinkNetwork;

class LinkAccount {
 public:
  using Stream = std::uint32_t;

  /// What it keeps of a message that is under way.
  struct Passage {
    Stream stream = 0;
    std::uint64_t joined = 0;  // messages that had come to its links when it began, itself included
    Time began{};
    Duration charged{};                     // to links, so far
    std::uint32_t limited_by = kByNothing;  // the place among the route's uses of the link that sets its rate
    bool met = false;
  };
  static constexpr std::uint32_t kByNothing = ~0U;

  /// The messages of a cause on a route, which the caller finds again by this number.
  Stream new_stream(RankId source, RankId destination, std::uint32_t cause, const Route& route);

  /// A message of `payload` begins to flow.
  Passage begin(Stream stream, std::uint64_t payload, Time now);
  /// It has gone on for `seconds` at `speed` where it would have had `alone` (bytes per second).
  void charge(Passage& passage, double seconds, double speed, double alone);
  /// It has arrived, and was `held_up` in all.
  void end(Passage& passage, Duration held_up, Time now);

  /// What is taken of a link from now on.
  void set(MaxMin::Link link, double used, bool full, Time now);

  /// `network` names the links. `now`: the end of what is told.
  [[nodiscard]] LinkUsage usage(const LinkNetwork& network, Time now) const;

 private:
  static constexpr std::size_t kBins = 128;
  static constexpr std::uint32_t kNarrowest = 20;  // about a microsecond
  struct Link {
    double used = 0;  // since `since`
    double carried = 0;
    Time since{};
    Duration busy{};
    Duration full{};
    bool is_full = false;
    std::uint32_t passing = 0;         // messages on their way there
    std::uint64_t joined = 0;          // that ever were
    std::uint32_t shift = kNarrowest;  // its bins are 2^shift ps wide
    std::vector<float> bins;           // bytes
  };
  struct Kept {
    RankId source;
    RankId destination;
    std::uint32_t cause;
    const Route* route;
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    Duration flowing{};
    Duration held_up{};
    std::vector<Duration> by;  // by place among the route's uses; empty: nothing
  };

  Link& link(MaxMin::Link id);
  [[nodiscard]] static std::uint32_t shift_for(Time end);
  static void widen(Link& link, std::uint32_t shift);
  static void integrate(Link& link, Time now);
  void charge(Passage& passage, Duration time);

  std::vector<Link> links_;
  std::vector<Kept> streams_;
  std::uint64_t messages_ = 0;
  std::uint64_t met_ = 0;
  std::uint64_t slowed_ = 0;
};

}  // namespace nplus1::netmodel
