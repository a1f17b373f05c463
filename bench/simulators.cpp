// What simulators.py measures with: the workloads, recorded or simulated from memory.
//
//   simulators record PATTERN RANKS STEPS FOLDER      writes a recording
//   simulators engine PATTERN RANKS STEPS NETWORK     simulates from memory, and prints seconds of CPU
//   simulators loop PATTERN RANKS STEPS               the same without a network and without MPI
//   simulators messages PATTERN RANKS                 messages of one step
//   simulators touched PATTERN RANKS STEPS            on a flat cluster: of a message's events, the flows read, those changed,
//                                                     and those under way
//
// PATTERN: halo, ring, alltoall, random. The loop is the least that any simulator does here: it takes the events one
// by one, counts messages per receiver, and lets each rank run until it has to wait.
#include <fmt/core.h>

#include <cstdlib>
#include <ctime>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "bench/pattern.hpp"
#include "bench/to_writer.hpp"
#include "events/recording/writer.hpp"
#include "netmodel/flow_protocol/flow_protocol.hpp"
#include "netmodel/flows/link_flows.hpp"
#include "netmodel/network_model.hpp"
#include "simnode/engine/engine.hpp"

namespace nplus1::bench {
namespace {

namespace engine = simnode::engine;

constexpr Duration kNoise{1'000'000};  // 1 us
constexpr const char* kRecordedOn = "lsb:latency=1e-6,bandwidth=1e10";

std::vector<Pattern::Peers> peers_of(const std::string& pattern, int ranks) {
  if (pattern == "halo") return halo(ranks);
  if (pattern == "ring") return ring(ranks);
  if (pattern == "alltoall") return alltoall(ranks);
  if (pattern == "random") return random_pairs(ranks);
  throw std::invalid_argument{"no pattern " + pattern};
}

std::size_t messages(const std::vector<Pattern::Peers>& peers) {
  std::size_t all = 0;
  for (const Pattern::Peers& p : peers) all += p.destinations.size();
  return all;
}

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

/// A pattern and then MPI_Finalize.
class Program final : public engine::Streams {
 public:
  Program(const std::string& pattern, int ranks, int steps)
      : steps_{peers_of(pattern, ranks), steps, kNoise}, ended_(static_cast<std::size_t>(ranks)) {}

  const Event* next(RankId rank, events::Extension& extension) override {
    if (const Event* event = steps_.next(rank, extension)) return event;
    if (ended_[rank.index()]) return nullptr;
    ended_[rank.index()] = true;
    finalize_.kind = EventKind::kFinalize;
    extension = {};
    return &finalize_;
  }

 private:
  Pattern steps_;
  std::vector<bool> ended_;
  Event finalize_{};
};

class Ignoring final : public engine::Listener {
 public:
  void on_exit(const events::TimedEvent& event) override { last_ = std::max(last_, event.exit); }
  void on_match(RankId, const events::Answer&) override {}
  [[nodiscard]] Time last() const { return last_; }

 private:
  Time last_{};
};

/// The flat cluster of simulators.py under SMPI's model, without SimGrid: links 2 r and 2 r + 1 are rank r's, out and in.
/// Every message here takes the same factors.
netmodel::LinkNetwork flat_cluster() {
  constexpr double kBandwidth = 1.25e9;
  constexpr double kLatency = 48e-6;
  netmodel::LinkNetwork network;
  network.link = [](netmodel::MaxMin::Link) {
    return netmodel::SharedLink{kBandwidth, netmodel::MaxMin::Sharing::kShared};
  };
  network.route = [](RankId source, RankId destination) {
    const auto out = [](RankId rank) { return static_cast<netmodel::MaxMin::Link>(2 * rank.value); };
    netmodel::Route route{kLatency, kLatency + 2 * 8775 / kBandwidth, kBandwidth, {}};
    route.uses = {
        {out(source), 1}, {out(destination) + 1, 1}, {out(destination), 0.05}, {out(source) + 1, 0.05}};
    return route;
  };
  network.factors = [](double) { return netmodel::Factors{2.18796, 1.08739}; };
  network.envelope = 16;
  return network;
}

class FlatCluster final : public netmodel::FlowProtocol {
 public:
  FlatCluster() : FlowProtocol{{}} {}
  [[nodiscard]] std::unique_ptr<netmodel::Flows> flows() const override {
    auto flows = std::make_unique<netmodel::LinkFlows>(links_);
    last_ = flows.get();
    return flows;
  }
  /// Of the last flows, while the engine that has them is there.
  [[nodiscard]] netmodel::MaxMin::Effort effort() const { return last_->effort(); }

 private:
  std::shared_ptr<const netmodel::LinkNetwork> links_ =
      std::make_shared<netmodel::LinkNetwork>(flat_cluster());
  mutable const netmodel::LinkFlows* last_ = nullptr;
};

void finish(engine::Engine& engine, int ranks, Program& program) {
  if (engine::replay(engine, ranks, program) != engine::State::kFinished)
    throw std::logic_error{"the program did not end"};
}

void simulate(const std::string& network, engine::Listener& listener, int ranks, Program& program,
              bool all_matches = false) {
  const auto model = netmodel::parse(network);
  if (!model) throw std::invalid_argument{model.error().what};
  engine::Options options;
  options.trust_entry = false;
  options.report_all_matches = all_matches;
  engine::Engine engine{ranks, *model.value(), listener, options};
  finish(engine, ranks, program);
}

/// Per message: flows read, flows whose rate changed; and how many were under way at an event on average.
void touched(int ranks, Program& program, std::size_t messages) {
  const FlatCluster network;
  Ignoring listener;
  engine::Options options;
  options.trust_entry = false;
  engine::Engine engine{ranks, network, listener, options};
  finish(engine, ranks, program);
  const netmodel::MaxMin::Effort effort = network.effort();
  const auto each = [&](std::uint64_t count) {
    return static_cast<double>(count) / static_cast<double>(messages);
  };
  fmt::print("{:.2f} {:.2f} {:.0f}\n", each(effort.flows), each(effort.changed),
             static_cast<double>(effort.present) / static_cast<double>(effort.settled));
}

void record(const std::string& folder, int ranks, Program& program) {
  auto writer = events::recording::Writer::create(folder, {ranks, {}}, {});
  if (!writer) throw std::runtime_error{writer.error().what};
  ToWriter listener{ranks, *writer.value()};
  simulate(kRecordedOn, listener, ranks, program, true);
  writer.value()->close();
}

/// Clocks and counters only: a rank's wait is over when as many messages have come as it has receives.
Time loop(int ranks, Program& program) {
  struct Rank {
    Time clock{};
    std::uint64_t posted = 0;
    std::uint64_t come = 0;
    bool waits = false;
  };
  std::vector<Rank> all(static_cast<std::size_t>(ranks));
  std::vector<std::int32_t> runnable;
  for (std::int32_t r = ranks; r-- > 0;) runnable.push_back(r);
  Time last{};
  while (!runnable.empty()) {
    const RankId rank{runnable.back()};
    runnable.pop_back();
    Rank& me = all[rank.index()];
    events::Extension extension;
    while (!me.waits) {
      const Event* event = program.next(rank, extension);
      if (event == nullptr) break;
      me.clock += event->compute();
      if (event->kind == EventKind::kIrecv) ++me.posted;
      if (event->kind == EventKind::kWait) me.waits = me.come < me.posted;
      if (event->kind != EventKind::kIsend) continue;
      Rank& peer = all[event->peer_rank().index()];
      peer.clock = std::max(peer.clock, me.clock + Duration{1'000'000});
      if (++peer.come < peer.posted || !peer.waits) continue;
      peer.waits = false;
      runnable.push_back(event->peer);
    }
    last = std::max(last, me.clock);
  }
  return last;
}

int run(const std::vector<std::string>& words) {
  const std::string& what = words.at(0);
  const int ranks = std::stoi(words.at(2));
  if (what == "messages") {
    fmt::print("{}\n", messages(peers_of(words[1], ranks)));
    return 0;
  }
  Program program{words[1], ranks, std::stoi(words.at(3))};
  if (what == "touched") {
    touched(ranks, program, messages(peers_of(words[1], ranks)) * std::stoul(words[3]));
    return 0;
  }
  const double before = cpu_seconds();
  Ignoring listener;
  if (what == "record")
    record(words.at(4), ranks, program);
  else if (what == "engine")
    simulate(words.at(4), listener, ranks, program);
  else if (loop(ranks, program) == Time{})
    return 1;
  fmt::print("{:.6f}\n", cpu_seconds() - before);
  return 0;
}

}  // namespace
}  // namespace nplus1::bench

int main(int argc, char** argv) try {
  return nplus1::bench::run({argv + 1, argv + argc});
} catch (const std::exception& error) {
  fmt::print(stderr, "simulators: {}\n", error.what());
  return 64;
}
