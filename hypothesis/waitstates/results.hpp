// What a search for wait states came to, as plain data: made by WaitStates, written as waitstates.json and
// shown as text. Fields have their keys' names; meanings and units are in docs/formats/waitstates.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "events/definitions.hpp"
#include "hypothesis/waitstates/efficiencies.hpp"
#include "hypothesis/waitstates/kinds.hpp"
#include "support/time_sum.hpp"

namespace nplus1::hypothesis {

/// Waiting that an activity caused in others.
struct DelayCost {
  double direct = 0;      // seconds; of ranks that waited for this rank itself
  double propagated = 0;  // of ranks that waited for others which this rank had held up
  [[nodiscard]] double total() const { return direct + propagated; }
  void add(const DelayCost& other) {
    direct += other.direct;
    propagated += other.propagated;
  }
};

/// One activity, one rank, or all.
struct Tally {
  std::uint64_t calls = 0;
  Duration time{};         // in it, waiting included; of a rank: in MPI
  Duration computing{};    // of a rank
  Duration waiting{};      // in blocking calls beyond what they cost by themselves
  Duration polling{};      // in tests and probes that failed
  WaitTimes states{};      // parts of waiting and polling
  Duration wrong_order{};  // part of late_sender
  Duration on_critical_path{};
  DelayCost delay;
  [[nodiscard]] Duration in_states() const;
  /// The rest: the network's time, and what inner steps of collectives waited for.
  [[nodiscard]] Duration transfer() const { return added(waiting, polling) - in_states(); }
  void add(const Tally& other);
};

struct Activity {
  std::string kind;    // "MPI_Recv", or "computing"
  std::string region;  // empty: outside any
  std::uint32_t path = 0;
  std::vector<events::Frame> frames;
  Tally tally;
  /// How much longer it is on the critical path than it takes on average over the ranks.
  Duration critical_imbalance{};
  [[nodiscard]] bool computing() const { return kind == "computing"; }
};

/// One activity on one rank, by the waiting that it caused.
struct Cause {
  std::size_t activity = 0;  // in WaitStateResults::activities
  std::int32_t rank = 0;
  DelayCost delay;
};

struct WaitStateResults {
  std::string application;
  std::string network;
  std::string coverage;  // of the recording; empty: whole
  Duration virtual_time{};
  std::int32_t last_rank = 0;  // where the critical path ends
  Tally total;
  std::vector<Tally> ranks;
  std::vector<Duration>
      thread_computing;  // of each thread of all ranks that calls MPI; what others compute is their ranks' first one's
  std::vector<Activity> activities;  // with the most waiting first
  std::vector<Cause> causes;         // with the most delay first
  double unattributed_delay = 0;     // seconds of waiting whose cause is not known
  std::uint64_t unresolved_calls = 0;
  std::optional<Efficiencies> efficiencies;

  /// Puts activities and causes in their order, and leaves out activities that took no time.
  void sort();
};

}  // namespace nplus1::hypothesis
