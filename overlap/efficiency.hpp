// Overlap efficiency: the share of the time in transfer that is hidden behind the same rank's computing.
//
//   efficiency = sum over ranks of |T_r intersected with C_r| / sum over ranks of |T_r|
//
// T_r: when some message of rank r is in transfer; C_r: when its thread is outside MPI. A message is in transfer at its
// receiver from when it has been sent and its receive is posted until it is there; a rendezvous message at its sender
// as well (docs/overlap.md). A sink of a recording or a replay, with matches. Memory: some 50 bytes for each message
// and 16 for each call. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "events/sink.hpp"
#include "netmodel/network_model.hpp"
#include "support/time_sum.hpp"

namespace nplus1::overlap {

/// Picoseconds.
struct Hidden {
  std::int64_t transfer = 0;
  std::int64_t hidden = 0;
  [[nodiscard]] double share() const {
    return transfer > 0 ? static_cast<double>(hidden) / static_cast<double>(transfer) : 0.0;
  }
  void add(const Hidden& other) {
    sum_up(transfer, other.transfer);
    sum_up(hidden, other.hidden);
  }
};

struct EfficiencyResult {
  Hidden whole;         // all messages
  Hidden non_blocking;  // those whose call does not wait
  std::vector<Hidden> ranks;
  std::map<std::uint32_t, Hidden> sites;    // by place of the post, as Standing has them: all ranks
  std::map<std::uint32_t, Hidden> regions;  // by region of the post; 0: in none
  std::int64_t in_mpi = 0;                  // picoseconds of all threads
  std::uint64_t events = 0;                 // that came
  static constexpr auto kMembers =
      std::tuple{&EfficiencyResult::whole, &EfficiencyResult::non_blocking, &EfficiencyResult::ranks,
                 &EfficiencyResult::sites, &EfficiencyResult::regions,      &EfficiencyResult::in_mpi,
                 &EfficiencyResult::events};
};

class Efficiency final : public events::EventSink {
 public:
  /// Of call paths that are one place for the user, the one that stands for all; who is not in it stands for itself.
  using Standing = std::unordered_map<std::uint32_t, std::uint32_t>;
  /// `network` says which messages wait for their receive; must outlive the sink.
  Efficiency(std::size_t ranks, const netmodel::NetworkModel& network, Standing sites = {})
      : network_{network}, standing_{std::move(sites)}, ranks_(ranks) {}

  void on_event(const events::TimedEvent& event) override;
  void on_match(RankId receiver, const events::Answer& match) override;
  /// Once all has been seen.
  [[nodiscard]] EfficiencyResult result();

 private:
  struct Span {
    std::int64_t begin, end;
  };
  struct Transfer : Span {
    std::uint32_t site, region;
    ThreadId thread;
    bool non_blocking;
  };
  struct Posted {
    std::int64_t at;
    std::uint32_t site, region;
    ThreadId thread;
    bool non_blocking;
  };
  struct Sent : Posted {
    bool rendezvous;
  };
  struct Received : Posted {
    std::int64_t arrived;
    std::int32_t rank;
  };
  struct Message {
    bool sent = false, received = false;
    Sent send{};
    Received receive{};
  };
  struct Rank {
    std::vector<std::vector<Span>> inside;             // by thread
    std::vector<std::vector<std::uint32_t>> regions;   // by thread: those it is in
    std::unordered_map<std::uint32_t, Posted> posted;  // MPI_Irecv by request
    std::vector<Transfer> transfers;
  };
  struct Key {
    std::int32_t source, destination;
    std::uint64_t sequence;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& k) const {
      std::uint64_t hash = k.sequence * 0x9e3779b97f4a7c15U;
      hash ^= static_cast<std::uint64_t>(k.source) * 0xff51afd7ed558ccdU;
      hash ^= static_cast<std::uint64_t>(k.destination) * 0xc4ceb9fe1a85ec53U;
      return hash ^ (hash >> 29U);
    }
  };

  [[nodiscard]] Posted posted(const events::TimedEvent& event, bool non_blocking);
  void received(const Key& key, const Posted& posted, std::int64_t arrived);
  void pair(const Key& key, Message& message);
  [[nodiscard]] Hidden measured(const Rank& rank, std::vector<Transfer>& of) const;

  const netmodel::NetworkModel& network_;
  Standing standing_;
  std::vector<Rank> ranks_;
  std::uint64_t events_ = 0;
  std::unordered_map<Key, Message, KeyHash> messages_;
};

}  // namespace nplus1::overlap
