// What the violations of a library cost one program: its own calls, from a recording, weighed with the
// measured differences. CallCounter is an EventSink for one thread; the rest is pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "events/sink.hpp"
#include "guidelines/analysis.hpp"

namespace nplus1::guidelines {

/// Collective calls of all ranks by function, processes of the communicator, and size as the catalogue counts
/// it.
class CallCounter : public events::EventSink {
 public:
  void on_event(const events::TimedEvent& event) override;
  void on_communicator(const events::Communicator& communicator) override;

  /// How often all members together made a call: each member's part is one of as many as there are processes.
  [[nodiscard]] std::map<Place, double> calls() const;

 private:
  std::unordered_map<CommId, int> members_;  // intracommunicators
  std::map<Place, std::uint64_t> parts_;
};

/// A violation that the program runs into.
struct Gain {
  const Comparison* violation = nullptr;  // of the Analysis
  double calls = 0;
  double seconds = 0;  // that they would take less, as measured
};

struct ApplicationGains {
  std::vector<Gain> gains;      // the greatest first; several may be about the same calls
  double seconds = 0;           // the best for each call, together
  double measured_seconds = 0;  // what all calls with measurements take, as measured
  double calls = 0;             // collective calls in all
  double uncovered = 0;         // without measurements of that function, number of processes and size
};

/// Each call counts for the measured size that is nearest by ratio, if it is at most twice as great or small.
/// What fresh measurements have not confirmed is left out.
[[nodiscard]] ApplicationGains gains_of(const Analysis& analysis, const std::map<Place, double>& calls);

}  // namespace nplus1::guidelines
