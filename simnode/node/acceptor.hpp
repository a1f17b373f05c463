// How the ranks come in: through the door, to their settings, the shared memory and a port each; and what the first of
// them tells of the job. Of one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "netmodel/network_model.hpp"
#include "simnode/node/door.hpp"
#include "simnode/node/job_ranks.hpp"
#include "simnode/node/network.hpp"
#include "simnode/node/poll.hpp"
#include "simnode/node/run_recording.hpp"
#include "simnode/node/settings.hpp"
#include "stubs/transport/handshake.hpp"
#include "stubs/transport/segment.hpp"

namespace nplus1::simnode::node {

class Acceptor {
 public:
  /// `settings`: the folder for the results is chosen here, if nobody has.
  Acceptor(Settings& settings, NetworkMaker make_network, Poll& poll, JobRanks& ranks,
           RunRecording& recording, std::vector<std::string>& notes);

  /// What the ranks must know to come in, or nothing on failure (errno is set).
  std::optional<transport::Meeting> open();
  /// Whether the descriptor is one of who has not come in yet.
  [[nodiscard]] bool knows(int fd) { return door_->knows(fd); }
  void serve(int fd);
  /// Guests that say nothing are shown out.
  void tick();
  /// What has come of a rank's Start. True when it was the last that all waited for.
  bool start(JobRank& rank);
  /// Nobody else comes in.
  void close() { door_->close(); }
  /// Nothing comes of it: the ranks go on as plain MPI.
  void give_up(const std::string& why);

  /// Once a rank has said how many there are.
  [[nodiscard]] const netmodel::NetworkModel* network() const { return network_.get(); }
  [[nodiscard]] const transport::Segment& segment() const { return segment_; }
  [[nodiscard]] bool nobody_has_started() const { return started_ == 0; }
  [[nodiscard]] const std::string& application() const { return application_; }
  /// Whom the door has turned away; empty if nobody.
  [[nodiscard]] std::string refused() const { return door_->refused(); }

 private:
  void welcome(const Arrival& guest);
  [[nodiscard]] bool may_be_rank(const transport::Hello& hello) const;
  [[nodiscard]] bool is_ready_for(const transport::Hello& hello);
  [[nodiscard]] bool send_settings(const JobRank& rank, RankId id, bool local);
  void begin_segment(int ranks);
  [[nodiscard]] bool make_network(int ranks);
  [[nodiscard]] std::string compute_intervals_of(RankId rank) const;

  Settings& settings_;
  NetworkMaker make_network_;
  Poll& poll_;
  JobRanks& ranks_;
  RunRecording& recording_;
  std::vector<std::string>& notes_;
  std::optional<Door> door_;
  std::unique_ptr<netmodel::NetworkModel> network_;
  int memory_ = -1;
  transport::Segment segment_;
  std::string application_;
  bool given_up_ = false;
  int started_ = 0;
};

/// Says in the result folder why there are no results, or not all: nobody reads the simulator's stderr.
void leave_trouble(const std::string& folder, const Error& error);

}  // namespace nplus1::simnode::node
