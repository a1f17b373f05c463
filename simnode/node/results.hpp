// What the run came to: the result folder and its contents. Of one thread, at the end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/run_summary.hpp"
#include "simnode/node/acceptor.hpp"
#include "simnode/node/job_ranks.hpp"
#include "simnode/node/rank_accounts.hpp"
#include "simnode/node/run_recording.hpp"
#include "simnode/node/settings.hpp"
#include "simnode/node/simulation.hpp"

namespace nplus1::simnode::node {

/// How it ended, as nplus1-simnode's exit code.
enum class Outcome : std::uint8_t { kWritten = 0, kNotWritten = 74, kNobodyCame = 75 };

class Results {
 public:
  Results(const Settings& settings, const JobRanks& ranks, const Acceptor& acceptor, RunRecording& recording,
          const RankAccounts& accounts, std::vector<std::string>& notes)
      : settings_{settings},
        ranks_{ranks},
        acceptor_{acceptor},
        recording_{recording},
        accounts_{accounts},
        notes_{notes} {}

  /// Notes what has to be known of the times, and completes the recording. `simulation`: null if none came about.
  void finish_recording(Simulation* simulation);
  Outcome write(Simulation* simulation);

 private:
  [[nodiscard]] std::string network_name() const;
  [[nodiscard]] report::RunSummary summary(Simulation& simulation) const;
  void note_first_withdrawn(const Simulation& simulation, std::vector<std::string>& notes) const;

  const Settings& settings_;
  const JobRanks& ranks_;
  const Acceptor& acceptor_;
  RunRecording& recording_;
  const RankAccounts& accounts_;
  std::vector<std::string>& notes_;
};

}  // namespace nplus1::simnode::node
