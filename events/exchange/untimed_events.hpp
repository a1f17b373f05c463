// For importers of formats that have no times but those of computing: makes events of operations. Calls take
// no time here; a replay gives them theirs. One thread.
#pragma once

#include <vector>

#include "events/mpi_call.hpp"
#include "events/sink.hpp"

namespace nplus1::events::exchange {

class UntimedEvents {
 public:
  UntimedEvents(std::int32_t ranks, EventSink& sink) : ranks_(static_cast<std::size_t>(ranks)), sink_{sink} {}

  /// Whatever is computed beyond all that a file can hold stays just beyond it: a CheckedSink refuses the next call then.
  void compute(RankId rank, Duration time);
  void send(RankId rank, std::int32_t to, std::int32_t tag, std::int64_t size);
  void receive(RankId rank, std::int32_t from, std::int32_t tag, std::int64_t size);
  /// The request; a receive from a rank by name counts as matched.
  std::uint32_t start_send(RankId rank, std::int32_t to, std::int32_t tag, std::int64_t size);
  std::uint32_t start_receive(RankId rank, std::int32_t from, std::int32_t tag, std::int64_t size);
  void wait(RankId rank, const std::vector<std::uint32_t>& requests);
  void test(RankId rank, std::uint32_t request);
  void collective(RankId rank, MpiCall call, CollectiveKind kind, std::int64_t size, std::int32_t root,
                  const std::vector<std::int64_t>& sizes);
  void finalize(RankId rank);

 private:
  struct Rank {
    Duration compute{};
    Time clock{};
    std::uint64_t ordinal = 0;
    std::uint32_t requests = 0;
  };
  void emit(RankId rank, Event event, const Extension& extension = {}, Answer answer = {});
  static Event transfer(EventKind kind, MpiCall call, std::int32_t peer, std::int32_t tag, std::int64_t size);

  std::vector<Rank> ranks_;
  EventSink& sink_;
};

}  // namespace nplus1::events::exchange
