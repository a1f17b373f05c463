// For tests: programs written down call by call, run by the real engine, and searched for wait states.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "hypothesis/waitstates/efficiencies.hpp"
#include "hypothesis/waitstates/search.hpp"
#include "patterns/message_statistics.hpp"
#include "simnode/engine/testing/world.hpp"

namespace nplus1::hypothesis {

inline simnode::engine::Options telling_all() {
  simnode::engine::Options options;
  options.report_all_matches = true;
  return options;
}

constexpr std::chrono::microseconds us(std::int64_t n) {
  return std::chrono::microseconds{n};
}

/// Everything that happens goes to the search, to the patterns and to the replay on an ideal network. A
/// message of 1000 bytes takes 2 us.
class Program : public simnode::engine::World {
 public:
  explicit Program(int ranks, const char* network = "lsb:latency=1e-06,bandwidth=1e+09")
      : World{ranks, network, telling_all()},
        ranks_{ranks},
        search_{static_cast<std::size_t>(ranks), &this->network()},
        patterns_{static_cast<std::size_t>(ranks), &this->network()},
        ideal_{static_cast<std::size_t>(ranks)} {}

  void on_exit(const events::TimedEvent& event) override {
    World::on_exit(event);
    search_.on_event(event);
    patterns_.on_event(event);
    ideal_.on_event(event);
  }
  void on_match(RankId receiver, const events::Answer& answer) override {
    World::on_match(receiver, answer);
    search_.on_match(receiver, answer);
    patterns_.on_match(receiver, answer);
  }

  /// The next call starts this much later.
  Program& after(std::int64_t microseconds) {
    compute(1e3 * static_cast<double>(microseconds));
    return *this;
  }
  void region(int rank, std::uint32_t id, bool begin) {
    events::Event e;
    e.kind = begin ? events::EventKind::kRegionBegin : events::EventKind::kRegionEnd;
    e.aux = id;
    push(rank, e);
  }
  /// `microseconds` of computing in region `id`.
  void work(int rank, std::uint32_t id, std::int64_t microseconds) {
    search_.on_region({RegionId{id}, "region" + std::to_string(id)});
    region(rank, id, true);
    after(microseconds).region(rank, id, false);
  }

  WaitStateResults end() {
    finalize_all(ranks_);
    engine().decide();
    return search_.result();
  }
  WaitStates& search() { return search_; }
  patterns::Patterns patterns() { return patterns_.patterns(); }
  std::optional<Duration> ideal_time() { return ideal_.time(); }

 private:
  int ranks_;
  WaitStates search_;
  patterns::MessageStatistics patterns_;
  IdealReplay ideal_;
};

inline Duration state(const Tally& tally, WaitState which) {
  return tally.states[static_cast<std::size_t>(which)];
}

/// "late_sender 5000, transfer 2": what is not zero, in microseconds.
inline std::string states_text(const Tally& tally) {
  std::string text;
  const auto add = [&](std::string_view name, Duration time) {
    if (time == Duration::zero()) return;
    if (!text.empty()) text += ", ";
    text.append(name) += " " + std::to_string(time / us(1));
    if (time % us(1) != Duration::zero()) text += "+" + std::to_string((time % us(1)).count()) + "ps";
  };
  for (std::size_t s = 0; s < kWaitStates; ++s) add(kWaitStateNames[s], tally.states[s]);
  add("wrong_order", tally.wrong_order);
  add("transfer", tally.transfer());
  return text;
}

/// What one activity in a region caused on `rank`, in microseconds, rounded; 0 if nothing.
inline std::int64_t caused(const WaitStateResults& results, const std::string& region, int rank,
                           double DelayCost::*which) {
  for (const Cause& cause : results.causes)
    if (cause.rank == rank && results.activities[cause.activity].region == region)
      return static_cast<std::int64_t>(1e6 * (cause.delay.*which) + 0.5);
  return 0;
}

}  // namespace nplus1::hypothesis
