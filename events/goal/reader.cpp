#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "events/checked_sink.hpp"
#include "events/exchange/untimed_events.hpp"
#include "events/goal/goal.hpp"
#include "events/goal/graph.hpp"

namespace nplus1::events::goal {
namespace {

namespace fs = std::filesystem;
using exchange::Imported;
using exchange::UntimedEvents;

/// The operations, each after what it requires; else in the order of the file.
std::vector<std::uint32_t> sorted(const Graph& graph) {
  const std::size_t count = graph.operations.size();
  std::vector<std::uint32_t> open(count);
  std::vector<std::vector<std::uint32_t>> followers(count);
  for (const Dependence& d : graph.dependences) followers[d.on].push_back(d.operation), ++open[d.operation];
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (open[i] == 0) ready.push(i);
  }
  std::vector<std::uint32_t> order;
  for (; !ready.empty();) {
    order.push_back(ready.top());
    ready.pop();
    for (const std::uint32_t follower : followers[order.back()]) {
      if (--open[follower] == 0) ready.push(follower);
    }
  }
  if (order.size() != count) throw Wrong{"operations that require each other in a circle"};
  return order;
}

void play(RankId rank, const Graph& graph, UntimedEvents& events) {
  std::vector<std::uint32_t> requests(graph.operations.size());  // 0: nothing to wait for
  const auto wait_for = [&](const std::vector<std::uint32_t>& list) {
    std::vector<std::uint32_t> awaited;
    for (const std::uint32_t before : list) {
      if (requests[before] != 0) awaited.push_back(std::exchange(requests[before], 0));
    }
    if (!awaited.empty()) events.wait(rank, awaited);
  };
  std::vector<std::vector<std::uint32_t>> awaited_by(graph.operations.size());
  for (const Dependence& d : graph.dependences)
    if (!d.on_start) awaited_by[d.operation].push_back(d.on);
  std::vector<std::uint32_t> all;
  for (const std::uint32_t i : sorted(graph)) {
    const Operation& operation = graph.operations[i];
    if (operation.what == What::kReceive && (operation.peer == kAnybody || operation.tag == kAnybody))
      throw Wrong{
          "a receive from anybody, or with any tag, has no partner here: nplus1 replay FILE.goal simulates "
          "it"};
    wait_for(awaited_by[i]);
    all.push_back(i);
    if (operation.what == What::kCalc) events.compute(rank, Duration{operation.amount * kPicosecondsPerUnit});
    if (operation.what == What::kSend)
      requests[i] = events.start_send(rank, operation.peer, operation.tag, operation.amount);
    if (operation.what == What::kReceive)
      requests[i] = events.start_receive(rank, operation.peer, operation.tag, operation.amount);
  }
  wait_for(all);
  events.finalize(rank);
}

class GoalReader final : public exchange::Importer {
 public:
  explicit GoalReader(GraphFile graphs) : graphs_{std::move(graphs)} { preamble_.ranks = graphs_.ranks(); }

  const exchange::Preamble& preamble() const override { return preamble_; }

  Result<Imported> read(EventSink& sink) override {
    CheckedSink checked{preamble_.ranks, graphs_.bytes(), sink};
    UntimedEvents events{preamble_.ranks, checked};
    for (;;) {
      const auto part = graphs_.next();
      if (!part) return part.error();
      if (!part.value()) break;
      try {
        play(part.value()->first, part.value()->second, events);
      } catch (const Wrong& wrong) {
        return graphs_.error(wrong.what);
      }
      if (checked.trouble()) return graphs_.error(*checked.trouble());
    }
    return Imported{checked.events(),
                    checked.matches(),
                    {"times other than those of computing: calls take none",
                     "collectives: GOAL has them as messages", "communicators other than MPI_COMM_WORLD",
                     "send modes, wildcards, probes, datatypes, hashes, buffers, call paths",
                     "that operations of a rank may overlap otherwise than in sequence: nplus1 replay of the "
                     "GOAL file itself has them as they are"}};
  }

 private:
  GraphFile graphs_;
  exchange::Preamble preamble_;
};

}  // namespace

Result<std::unique_ptr<exchange::Importer>> open(const fs::path& file) {
  auto graphs = GraphFile::open(file);
  if (!graphs) return graphs.error();
  return std::unique_ptr<exchange::Importer>{std::make_unique<GoalReader>(std::move(graphs).value())};
}

}  // namespace nplus1::events::goal
