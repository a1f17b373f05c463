// A small run with a bit of everything, through the real engine, for the tests of the exchange formats; and a
// log that keeps what a sink was told.
#pragma once

#include <map>
#include <random>
#include <vector>

#include "events/exchange/stored_event.hpp"
#include "simnode/engine/engine.hpp"

namespace nplus1::tests {

using events::exchange::StoredEvent;

class Log final : public events::EventSink {
 public:
  struct Match {
    RankId receiver;
    events::Answer answer;
    friend bool operator==(const Match& a, const Match& b) {
      return a.receiver == b.receiver && events::exchange::same_bytes(a.answer, b.answer);
    }
  };
  void on_event(const events::TimedEvent& event) override { events.emplace_back(event); }
  void on_match(RankId receiver, const events::Answer& match) override {
    matches.push_back({receiver, match});
  }
  void on_communicator(const events::Communicator& c) override { communicators.push_back(c); }
  void on_call_path(const events::CallPath& path) override { paths.push_back(path); }
  void on_region(const events::Region& region) override { regions.push_back(region); }
  void on_datatype(const events::Datatype& datatype) override { datatypes.push_back(datatype); }

  /// Definitions, then the events; each match after its kIrecv.
  void play(events::EventSink& sink) const;
  /// The events of one thread of a rank, in order.
  [[nodiscard]] std::vector<StoredEvent> of(int rank, int thread = 0) const;
  /// Point-to-point messages: (source, destination) -> number and bytes.
  using Matrix = std::map<std::pair<int, int>, std::pair<std::uint64_t, std::int64_t>>;
  [[nodiscard]] Matrix messages() const;

  std::vector<StoredEvent> events;
  std::vector<Match> matches;
  std::vector<events::Communicator> communicators;
  std::vector<events::CallPath> paths;
  std::vector<events::Region> regions;
  std::vector<events::Datatype> datatypes;
};

inline constexpr int kSampleRanks = 4;

/// Sends in all modes, wildcards, tests, probes, cancels, persistent requests, all collectives,
/// sub-communicators, regions, unmodelled calls, details, an unfinished call.
[[nodiscard]] Log sample_run();

/// Events with every field at random, within what a run can have.
[[nodiscard]] Log random_events(std::uint64_t seed, int count);

}  // namespace nplus1::tests
