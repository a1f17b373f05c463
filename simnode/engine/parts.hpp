// The parts of the engine, as each is handed to the others when the engine is made (core.hpp owns them): a part keeps
// references to those that it uses, which its members name. References may be kept, not used, until all are there.
// Private to the engine.
#pragma once

#include "netmodel/network_model.hpp"
#include "simnode/engine/engine.hpp"

namespace nplus1::simnode::engine {

class Agenda;
class Buffering;
class Calls;
class CollectiveCalls;
class Completions;
class Contention;
class Decisions;
class Files;
class FlowTransfers;
class Lanes;
class OneSided;
class PointToPoint;
class Probes;
class Progress;
class Threads;
class Turns;

struct Parts {
  const netmodel::NetworkModel& network;
  Listener& listener;
  const Options& options;
  Contention* contention;  // null on a network without
  Counters& counters;
  Lanes& lanes;
  Turns& turns;
  Agenda& agenda;
  Calls& calls;
  Threads& threads;
  PointToPoint& point_to_point;
  Completions& completions;
  Probes& probes;
  Progress& progress;
  FlowTransfers& flows;
  CollectiveCalls& collectives;
  OneSided& one_sided;
  Files& files;
  Decisions& decisions;
};

}  // namespace nplus1::simnode::engine
