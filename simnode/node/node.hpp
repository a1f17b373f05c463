// The simulator process: accepts the ranks, feeds their events to the simulation until the job is over, and writes the
// results. One thread; it sleeps in epoll.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "netmodel/collectives/selection.hpp"
#include "simnode/node/acceptor.hpp"
#include "simnode/node/job_ranks.hpp"
#include "simnode/node/network.hpp"
#include "simnode/node/poll.hpp"
#include "simnode/node/rank_accounts.hpp"
#include "simnode/node/results.hpp"
#include "simnode/node/run_recording.hpp"
#include "simnode/node/settings.hpp"
#include "simnode/node/simulation.hpp"
#include "stubs/transport/handshake.hpp"

namespace nplus1::simnode::node {

class Node {
 public:
  Node(Settings settings, NetworkMaker make_network, netmodel::Selection collectives);

  /// Starts listening; what the ranks must know to come in, or nothing on failure (errno is set).
  std::optional<transport::Meeting> listen() { return acceptor_.open(); }
  /// Serves the job until `input` (the keeper's pipe, or that of `nplus1 run`) ends and nothing is left; then writes the results.
  Outcome run(int input);

 private:
  void take_turn();
  std::size_t drain();
  void observe();
  [[nodiscard]] bool somebody_waits() const { return simulation_ && simulation_->somebody_waits(); }
  [[nodiscard]] bool has_input() const { return simulation_ && ranks_.have_input(); }
  [[nodiscard]] bool has_work_soon();
  void wait_for_work();
  void hear_starter();
  [[nodiscard]] bool goes_on_alone() const;
  [[nodiscard]] int idle_ms() const;
  void serve(int fd);
  void all_started();
  void lose(JobRank& rank);
  void hear(JobRank& rank);

  Settings settings_;
  netmodel::Selection collectives_;
  std::vector<std::string> notes_;
  Poll poll_;
  JobRanks ranks_{poll_};
  RunRecording recording_{settings_, notes_};
  RankAccounts accounts_;
  Acceptor acceptor_;
  std::unique_ptr<Simulation> simulation_;  // once all ranks have started
  Results results_{settings_, ranks_, acceptor_, recording_, accounts_, notes_};
  int input_ = -1;
  char starter_said_ = 0;
  std::optional<std::chrono::steady_clock::time_point> alone_since_;  // who started it was killed then
  bool job_over_ = false;
  bool has_answered_ = false;  // since it last had nothing to do
  int crowded_ = 0;            // so many times it does not look for what comes soon
  std::chrono::steady_clock::time_point looked_{};
};

}  // namespace nplus1::simnode::node
