// The timeline of a run for the report: what each rank did when, and the messages between them, in bounded
// memory. Fed by the simulator or by a reader of a recording, from one thread. The document that it makes is
// described in docs/formats/timeline.md; too large a run is made coarser, and the document says so.
#pragma once

#include <array>
#include <map>
#include <string>
#include <utility>

#include "events/mpi_call.hpp"
#include "events/sink.hpp"
#include "patterns/timeline_intervals.hpp"
#include "patterns/timeline_messages.hpp"

namespace nplus1::patterns {

struct TimelineOptions {
  std::size_t intervals = 200'000;  // beyond: bins
  std::size_t messages = 40'000;    // beyond: a sample
  Time begin = kTimeZero;           // only what lies between these two
  Time end = kNever;
};

/// Written into timeline.json; a reader refuses a greater number after the slash.
inline constexpr const char* kTimelineSchema = "nplus1-timeline/1";
inline constexpr const char* kTimelineFile = "timeline.json";  // in the result folder

class Timeline : public events::EventSink {
 public:
  explicit Timeline(std::size_t ranks, const TimelineOptions& options = {});

  /// Events of ranks outside 0..ranks-1 throw std::out_of_range.
  void on_event(const events::TimedEvent& event) override;
  void on_match(RankId receiver, const events::Answer& match) override;

  /// timeline.json. May be called at any time.
  [[nodiscard]] std::string json() const;

 private:
  void add_interval(const events::TimedEvent& event);
  void add_message(const events::TimedEvent& event);
  [[nodiscard]] std::string calls_json() const;

  std::size_t ranks_;
  TimelineOptions options_;
  TimelineIntervals intervals_;
  TimelineMessages messages_;
  std::array<bool, events::kMpiCalls> called_{};
  std::map<std::pair<RankId, ThreadId>, events::Event> unmodelled_;  // entered, not left yet
  Time run_end_{};
};

}  // namespace nplus1::patterns
