// For the engine's tests: a world of ranks whose calls are written down one after another, and what came of
// them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "events/thread_change.hpp"
#include "simnode/engine/engine.hpp"

namespace nplus1::simnode::engine {

inline Time ns(double value) {
  return Time{from_seconds(value * 1e-9)};
}
inline Duration ns_span(double value) {
  return from_seconds(value * 1e-9);
}

/// What one call came to.
struct Returned {
  events::Event event;
  events::Answer answer;
  std::vector<std::uint32_t> completed;
  [[nodiscard]] Time exit() const { return answer.exit(); }
};

class World : public Listener {
 public:
  using List = std::vector<std::uint32_t>;

  explicit World(int ranks, const char* network = "lsb:latency=1e-06,bandwidth=1e+09", Options options = {})
      : World{ranks, std::move(netmodel::parse(network).value()), options} {}
  World(int ranks, std::unique_ptr<netmodel::NetworkModel> network, Options options = {})
      : network_{std::move(network)},
        engine_{std::make_unique<Engine>(ranks, *network_, *this, untrusting(options))} {}

  Engine& engine() { return *engine_; }
  const netmodel::NetworkModel& network() const { return *network_; }
  std::vector<Returned>& calls(int rank, int thread = 0) { return calls_[{rank, thread}]; }
  const Returned& last(int rank, int thread = 0) {
    std::vector<Returned>& made = calls_[{rank, thread}];
    return made.at(made.size() - 1);
  }
  Time exit(int rank, int thread = 0) { return last(rank, thread).exit(); }
  bool returned(int rank, std::size_t how_many, int thread = 0) {
    return calls(rank, thread).size() == how_many;
  }
  std::vector<events::Answer>& matches(int rank) { return matches_[rank]; }

  /// Calls that follow start this long after the last one of their thread returned.
  World& compute(double nanoseconds) {
    compute_ = ns_span(nanoseconds);
    return *this;
  }
  /// Calls that follow are made by this thread, of whatever rank.
  World& thread(int t) {
    thread_ = t;
    return *this;
  }

  void send(int rank, int to, int tag, std::int64_t size,
            events::SendMode mode = events::SendMode::kStandard) {
    events::Event e = transfer(events::EventKind::kSend, to, tag, size);
    e.operation = static_cast<std::uint8_t>(mode);
    push(rank, e);
  }
  std::uint32_t isend(int rank, int to, int tag, std::int64_t size,
                      events::SendMode mode = events::SendMode::kStandard) {
    events::Event e = transfer(events::EventKind::kIsend, to, tag, size);
    e.operation = static_cast<std::uint8_t>(mode);
    return start(rank, e);
  }
  void recv(int rank, int from, int tag, std::uint8_t flags = 0) {
    events::Event e = transfer(events::EventKind::kRecv, from, tag, 0);
    e.flags = flags;
    push(rank, e);
  }
  std::uint32_t irecv(int rank, int from, int tag, std::uint8_t flags = 0) {
    events::Event e = transfer(events::EventKind::kIrecv, from, tag, 0);
    e.flags = flags;
    return start(rank, e);
  }
  /// Of the current thread, as events::ThreadChange says.
  void change(int rank, events::ThreadChange what, int other = 0, std::uint64_t aux = 0) {
    events::Event e;
    e.kind = events::EventKind::kLocal;
    e.operation = static_cast<std::uint8_t>(what);
    e.tag = other;
    e.aux = aux;
    push(rank, e);
  }
  void mrecv(int rank, int from, std::uint64_t sequence) {
    events::Event e = transfer(events::EventKind::kRecv, from, kAnyTag, 0);
    e.flags = events::kMatched;
    e.aux = sequence;
    push(rank, e);
  }
  void wait(int rank, const List& requests, events::CompletionMode mode = events::CompletionMode::kAll) {
    complete(events::EventKind::kWait, rank, requests, mode, 0);
  }
  void test(int rank, const List& requests, events::CompletionMode mode = events::CompletionMode::kAll,
            std::uint8_t flags = 0) {
    complete(events::EventKind::kTest, rank, requests, mode, flags);
  }
  void probe(int rank, int from, int tag, std::uint8_t flags = 0) {
    events::Event e = transfer(events::EventKind::kProbe, from, tag, 0);
    e.flags = flags;
    push(rank, e);
  }
  void iprobe(int rank, int from, int tag, std::uint8_t flags = 0) {
    events::Event e = transfer(events::EventKind::kIprobe, from, tag, 0);
    e.flags = flags;
    push(rank, e);
  }
  void collective(int rank, CollectiveKind kind, std::int64_t size, int root = -1, std::uint32_t comm = 0) {
    push(rank, collective_event(events::EventKind::kCollective, kind, size, root, comm));
  }
  std::uint32_t icollective(int rank, CollectiveKind kind, std::int64_t size, int root = -1) {
    return start(rank, collective_event(events::EventKind::kIcollective, kind, size, root, 0));
  }
  void about(int rank, events::EventKind kind, std::uint32_t request = 0) {
    events::Event e;
    e.kind = kind;
    e.request = RequestId{request};
    push(rank, e);
  }
  void local(int rank) { about(rank, events::EventKind::kLocal); }
  void finalize(int rank) { about(rank, events::EventKind::kFinalize); }
  void finalize_all(int ranks) {
    for (int r = 0; r < ranks; ++r) finalize(r);
  }
  void push(int rank, events::Event e, const events::Extension& extension = {}) {
    e.thread = ThreadId{static_cast<std::uint16_t>(thread_)};
    e.compute_ps = compute_.count();
    compute_ = {};
    engine_->push(RankId{rank}, e, extension);
  }

  static events::Event transfer(events::EventKind kind, int peer, int tag, std::int64_t size) {
    events::Event e;
    e.kind = kind;
    e.peer = peer;
    e.tag = tag;
    e.size = size;
    return e;
  }
  static events::Event collective_event(events::EventKind kind, CollectiveKind operation, std::int64_t size,
                                        int root, std::uint32_t comm) {
    events::Event e = transfer(kind, root, 0, size);
    e.operation = static_cast<std::uint8_t>(operation);
    e.comm = CommId{comm};
    return e;
  }

  void on_exit(const events::TimedEvent& event) override {
    calls_[{event.rank.value, event.event.thread.value}].push_back(
        {event.event, event.answer, {event.completed.begin(), event.completed.end()}});
  }
  void on_match(RankId receiver, const events::Answer& answer) override {
    matches_[receiver.value].push_back(answer);
  }

 private:
  static Options untrusting(Options options) {
    options.trust_entry = false;  // tests give compute, not entry
    return options;
  }
  std::uint32_t start(int rank, events::Event e) {
    e.request = RequestId{++requests_[rank]};
    push(rank, e);
    return e.request.value;
  }
  void complete(events::EventKind kind, int rank, const List& requests, events::CompletionMode mode,
                std::uint8_t flags) {
    events::Event e;
    e.kind = kind;
    e.operation = static_cast<std::uint8_t>(mode);
    e.flags = flags;
    e.aux = requests.size();
    push(rank, e, {requests, {}});
  }

  std::unique_ptr<netmodel::NetworkModel> network_;
  std::unique_ptr<Engine> engine_;
  std::map<std::pair<int, int>, std::vector<Returned>> calls_;
  std::map<int, std::vector<events::Answer>> matches_;
  std::map<int, std::uint32_t> requests_;
  Duration compute_{};
  int thread_ = 0;
};

inline constexpr int kAny = -1;  // source or tag

}  // namespace nplus1::simnode::engine
