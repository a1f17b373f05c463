// Stands between an importer and whoever takes its events: lets through what a run could have produced, and
// remembers the first thing that it could not. Analyses index arrays by rank, communicator and region, so a
// number out of bounds must end here. One thread.
#pragma once

#include <optional>
#include <string>

#include "events/exchange/exchange.hpp"

namespace nplus1::events::exchange {

/// Ids of communicators, call paths, regions and datatypes are dense; no run has more of them.
inline constexpr std::uint32_t kMaxId = 1U << 26;

class CheckedSink : public EventSink {
 public:
  CheckedSink(std::int32_t ranks, EventSink& sink) : ranks_{ranks}, sink_{sink} {}

  void on_event(const TimedEvent& event) override;
  void on_match(RankId receiver, const Answer& match) override;
  void on_communicator(const Communicator& communicator) override;
  void on_call_path(const CallPath& path) override;
  void on_region(const Region& region) override;
  void on_datatype(const Datatype& datatype) override;

  /// What was wrong first; from then on nothing was let through.
  [[nodiscard]] const std::optional<std::string>& trouble() const { return trouble_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] std::uint64_t matches() const { return matches_; }

 private:
  bool demand(bool holds, const char* what, std::int64_t value);
  [[nodiscard]] bool is_rank(std::int64_t rank) const { return rank >= 0 && rank < ranks_; }
  bool check_event(const TimedEvent& event);
  bool check_lists(const TimedEvent& event);

  std::int32_t ranks_;
  EventSink& sink_;
  std::optional<std::string> trouble_;
  std::uint64_t events_ = 0;
  std::uint64_t matches_ = 0;
};

}  // namespace nplus1::events::exchange
