// The time rules of MPI calls on a contention-free network: one piece of code for the engine and for the
// stubs, which compute the same answer without asking (docs/architecture.md, "Off the critical path").
// Source: Riesen 2006, figures 2 and 3 (t3 = max(t1, tx + delta)); LogGOPS: Hoefler et al. 2010.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "netmodel/network_model.hpp"
#include "support/units.hpp"

namespace nplus1::semantics {

/// When an eager send lets its sender go, and when its message is at the receiver.
struct EagerSend {
  Time sender_free;
  Time arrival;
};

/// `interface_free` is when the sender's network interface has sent everything so far; it is advanced. Each thread
/// that calls MPI has an interface of its own, as with endpoints of its own: which thread of a process runs first is
/// the machine's accident, so a shared interface would make a thread's times depend on it.
[[nodiscard]] inline EagerSend send_eager(const netmodel::NetworkModel& network, Time now, RankId source,
                                          RankId destination, Bytes size, Time& interface_free) {
  const Time ready = now + network.send_overhead(size);
  const Time leaves = std::max(ready, interface_free);
  interface_free = leaves + network.occupancy(size);
  return {ready, leaves + network.transit(source, destination, size)};
}

/// A rendezvous sender is ready at now + send_overhead.
[[nodiscard]] inline Time rendezvous_ready(const netmodel::NetworkModel& network, Time now, Bytes size) {
  return now + network.send_overhead(size);
}

/// When a rendezvous transfer ends, for both sides: it starts when sender and receiver are ready.
[[nodiscard]] inline Time rendezvous_end(const netmodel::NetworkModel& network, Time send_ready,
                                         Time receive_posted, RankId source, RankId destination, Bytes size) {
  return std::max(send_ready, receive_posted) + network.handshake() +
         network.transit(source, destination, size);
}

/// One request as a completing call sees it.
struct Completion {
  Time at;            // arrival, or when the send is free
  Duration overhead;  // receive_overhead for a receive, else zero
};

/// When a call that entered at `entry` and waits for all of `completions` returns: they are taken in order of
/// time, each costing its overhead. Reorders `completions`.
[[nodiscard]] inline Time complete_all(Time entry, std::span<Completion> completions) {
  constexpr std::size_t kShort = 16;  // std::stable_sort allocates; most waits are short
  if (completions.size() > kShort) {
    std::stable_sort(completions.begin(), completions.end(),
                     [](const Completion& a, const Completion& b) { return a.at < b.at; });
  } else {
    for (std::size_t i = 1; i < completions.size(); ++i)
      for (std::size_t j = i; j > 0 && completions[j].at < completions[j - 1].at; --j)
        std::swap(completions[j], completions[j - 1]);
  }
  Time now = entry;
  for (const Completion& c : completions) now = std::max(now, c.at) + c.overhead;
  return now;
}

/// What an unsuccessful Test or probe costs: it grows while nothing else happens, so that polling loops end,
/// and is capped, so that a loop overshoots by little. One counter per thread.
class PollCost {
 public:
  constexpr PollCost() = default;
  constexpr PollCost(Duration first, Duration cap) : first_{first}, cap_{cap}, next_{first} {}

  /// The cost of one more poll that found nothing.
  constexpr Duration next() {
    const Duration cost = next_;
    next_ = std::min(cap_, next_ + next_ / 16 + Duration{1});
    return cost;
  }
  [[nodiscard]] constexpr Duration first() const { return first_; }
  [[nodiscard]] constexpr Duration cap() const { return cap_; }
  /// Any call that did something resets the cost.
  constexpr void reset() { next_ = first_; }

 private:
  Duration first_{std::chrono::nanoseconds{200}};
  Duration cap_{std::chrono::microseconds{10}};
  Duration next_{std::chrono::nanoseconds{200}};
};

}  // namespace nplus1::semantics
