// What the ranks have summed up by themselves and say with their last event: what the recording has taken, how accesses
// were caught, whose calls are not those of a recording that gives the compute times, what twins have measured. Of one
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "events/event.hpp"
#include "simnode/node/job_ranks.hpp"
#include "simnode/node/settings.hpp"
#include "stubs/transport/last_words.hpp"
#include "support/ids.hpp"

namespace nplus1::simnode::node {

class RankAccounts {
 public:
  /// A rank's last event, from which this is taken, and what stands behind it. What of that remains there: what the
  /// process has read and written.
  [[nodiscard]] std::span<const std::byte> take_last(RankId rank, events::Event& event,
                                                     std::span<const std::byte> extension);
  void take_warm_time(RankId rank, const events::Event& event, std::span<const std::byte> extension);

  [[nodiscard]] double hashing_s() const { return hashing_s_; }
  /// As the recording keeps it; empty without.
  [[nodiscard]] const std::string& warm_times() const { return warm_times_; }
  [[nodiscard]] bool has_accesses() const { return ranks_with_accesses_ > 0; }
  [[nodiscard]] std::string access_cost_text(const Settings& settings) const;

  /// What a user has to know of times that are not what they seem.
  void note(const Settings& settings, const JobRanks& ranks, std::vector<std::string>& notes) const;
  void note_caught_accesses(const Settings& settings, std::size_t ranks, const std::string& application,
                            std::vector<std::string>& notes) const;

 private:
  using Notes = std::vector<std::string>;

  void sum_up(RankId rank, const transport::LastWords& words);
  void note_clock_reads(const Settings& settings, Notes& notes) const;
  void note_crowded_threads(const Settings& settings, const JobRanks& ranks, Notes& notes) const;
  void note_departures(const Settings& settings, std::size_t ranks, Notes& notes) const;

  double hashing_s_ = 0;        // of all ranks
  int working_threads_ = 0;     // of all ranks, that compute and never call MPI
  transport::LastWords words_;  // sums over all ranks; a departure: the lowest rank's
  RankId departed_{-1};
  int departed_ranks_ = 0;
  int ranks_with_accesses_ = 0;
  std::string warm_times_;
  std::uint64_t system_clock_reads_ = 0;  // by ranks that never ask for MPI_Wtime
};

}  // namespace nplus1::simnode::node
