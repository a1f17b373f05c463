// What a recording plays, kept in memory: for who reads the same recording many times, as a search for what to fix does.
// Playing it again costs a tenth of decoding and checking it again. Plain data behind one pass; any number of threads
// may play it.
#pragma once

#include <cstdint>
#include <vector>

#include "events/sink.hpp"

namespace nplus1::events::recording {

class KeptEvents final : public EventSink {
 public:
  /// Keeps nothing if there are more events and matches: some 300 bytes each.
  explicit KeptEvents(std::uint64_t most_rows) : most_rows_{most_rows} {}

  void on_event(const TimedEvent& event) override;
  void on_match(RankId receiver, const Answer& match) override;
  void on_communicator(const Communicator& communicator) override;
  void on_call_path(const CallPath& path) override;
  void on_region(const Region& region) override;
  void on_datatype(const Datatype& datatype) override;

  /// Whether there was room for all.
  [[nodiscard]] bool all() const { return rows_ <= most_rows_; }
  /// The same calls in the same order; without `events` those of definitions alone.
  void play(EventSink& sink, bool events) const;

 private:
  enum class What : std::uint8_t { kEvent, kMatch, kCommunicator, kCallPath, kRegion, kDatatype };
  /// Of an event: what it has elsewhere.
  struct Parts {
    RankId rank;
    std::uint32_t words, sizes, completed;  // entries
    Time exit;
    std::uint64_t ordinal;
    bool has_answer, has_detail;
  };
  struct Cursor;
  bool has_room();
  void play_event(Cursor& at, EventSink& sink) const;

  std::uint64_t most_rows_;
  std::uint64_t rows_ = 0;
  std::vector<What> order_;
  std::vector<Event> events_;
  std::vector<Parts> parts_;
  std::vector<Answer> answers_;    // of events that have one, and matches
  std::vector<RankId> receivers_;  // of matches
  std::vector<Detail> details_;
  std::vector<std::uint32_t> words_, completed_;
  std::vector<std::int64_t> sizes_;
  std::vector<Communicator> communicators_;
  std::vector<CallPath> paths_;
  std::vector<Region> regions_;
  std::vector<Datatype> datatypes_;
};

}  // namespace nplus1::events::recording
