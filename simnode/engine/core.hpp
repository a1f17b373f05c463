// The engine's inside. Each thread of a rank is a lane that runs until it blocks (lanes, calls); what depends on who is
// first is decided in virtual time when no running lane can still act early enough (agenda, decisions). Each kind of call
// is a part of its own: point_to_point, completions, probes, collective_calls, one_sided, files, threads. The core owns the
// parts and makes them known to each other (parts.hpp).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "simnode/engine/agenda.hpp"
#include "simnode/engine/buffering.hpp"
#include "simnode/engine/calls.hpp"
#include "simnode/engine/collective_calls.hpp"
#include "simnode/engine/completions.hpp"
#include "simnode/engine/contention.hpp"
#include "simnode/engine/decisions.hpp"
#include "simnode/engine/diagnosis.hpp"
#include "simnode/engine/engine.hpp"
#include "simnode/engine/files.hpp"
#include "simnode/engine/flow_transfers.hpp"
#include "simnode/engine/lanes.hpp"
#include "simnode/engine/one_sided.hpp"
#include "simnode/engine/point_to_point.hpp"
#include "simnode/engine/probes.hpp"
#include "simnode/engine/progress.hpp"
#include "simnode/engine/threads.hpp"
#include "simnode/engine/turns.hpp"

namespace nplus1::simnode::engine {

class Core {
 public:
  Core(int ranks, const netmodel::NetworkModel& network, Listener& listener, const Options& options);

  Lanes& lanes() { return lanes_; }
  Calls& calls() { return calls_; }
  Decisions& decisions() { return decisions_; }
  Diagnosis& diagnosis() { return diagnosis_; }

  void define_communicator(CommId comm, std::vector<RankId> members, std::size_t local_members);
  void forget_communicator(CommId comm);
  State state();
  std::optional<RankId> awaited();
  ThreadId awaited_thread();
  bool release_rendezvous(bool whatever_runs);
  Counters counters() const;
  std::optional<netmodel::LinkUsage> link_usage() const;

 private:
  [[nodiscard]] Parts parts(const netmodel::NetworkModel& network, Listener& listener);
  [[nodiscard]] bool waits_for_time() const;

  const Options options_;
  std::unique_ptr<Contention> contention_;  // null on a network without
  Counters counters_;
  Lanes lanes_;
  Turns turns_;
  Agenda agenda_;
  Calls calls_;
  Threads threads_;
  PointToPoint point_to_point_;
  Completions completions_;
  Probes probes_;
  Progress progress_;
  FlowTransfers flows_;
  CollectiveCalls collectives_;
  OneSided one_sided_;
  Files files_;
  Decisions decisions_;
  Buffering buffering_;
  Diagnosis diagnosis_;
};

}  // namespace nplus1::simnode::engine
