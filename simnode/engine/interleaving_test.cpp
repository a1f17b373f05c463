// The engine's central promise: what a program does, and when, does not depend on the order in which the
// events of different ranks reach the engine. Random programs whose every step depends on the answers so far
// are run live, in many random orders, with decisions and bounds at random moments; exits, matches and
// deadlocks must be the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "netmodel/flow_protocol/flow_protocol.hpp"
#include "netmodel/flows/link_flows.hpp"
#include "simnode/engine/engine.hpp"

namespace nplus1::simnode::engine {
namespace {

using events::CompletionMode;
using events::Event;
using events::EventKind;

struct Call {
  Event event;
  std::vector<std::uint32_t> requests;
};

/// Each rank sends over a link of its own and receives over another, 1 us away, and has one to itself, 0.1 us long.
class Star final : public netmodel::FlowProtocol {
 public:
  Star() : FlowProtocol{protocol_of_ours()} {}
  [[nodiscard]] std::unique_ptr<netmodel::Flows> flows() const override {
    return std::make_unique<netmodel::LinkFlows>(links());
  }

 private:
  static Parameters protocol_of_ours() {
    Parameters p;
    p.eager = 2'500;
    p.unasked = 1'500;
    return p;
  }
  static std::shared_ptr<const netmodel::LinkNetwork> links() {
    constexpr double kLatency = 1e-6;
    auto network = std::make_shared<netmodel::LinkNetwork>();
    network->link = [](netmodel::MaxMin::Link) {
      return netmodel::SharedLink{1e9, netmodel::MaxMin::Sharing::kShared};
    };
    network->route = [](RankId from, RankId to) {
      netmodel::Route route;
      const auto link = [](RankId rank, int which) {
        return static_cast<netmodel::MaxMin::Link>(3 * rank.value + which);
      };
      route.latency = route.weight = from == to ? kLatency / 10 : kLatency;
      route.bound = 1e9;
      route.uses = {{link(from, 0), 1}, {link(to, 1), 1}};
      if (from == to) route.uses = {{link(from, 2), 1}};
      return route;
    };
    network->factors = [](double) { return netmodel::Factors{1, 1}; };
    network->lookahead = [] { return kLatency; };
    return network;
  }
};

/// One rank's program: a random walk whose seed takes in every answer.
class Program {
 public:
  Program(std::uint32_t seed, int rank, int ranks, int steps)
      : random_{seed * 7919U + static_cast<std::uint32_t>(rank)}, seed_{seed}, ranks_{ranks}, steps_{steps} {}

  std::optional<Call> next() {
    if (!queued_.empty()) {
      const Call call = queued_.back();
      queued_.pop_back();
      return call;
    }
    if (step_ > steps_) return std::nullopt;
    if (step_++ == steps_) return simple(EventKind::kFinalize);
    if (step_ % 12 == 0) return collective();
    return random_call();
  }

  void answered(const Call& call, const events::Answer& answer, std::span<const std::uint32_t> completed) {
    const auto heard =
        static_cast<std::uint32_t>(answer.exit_ps ^ answer.source ^ (answer.index << 3) ^ answer.flag);
    random_.seed(static_cast<std::uint32_t>(random_()) ^ (heard * 2654435761U));
    const EventKind kind = call.event.kind;
    if (kind == EventKind::kWait || kind == EventKind::kTest) forget(call, answer, completed);
    if (kind == EventKind::kTest && answer.flag == 0 && ++failures_ < 30) queued_.push_back(call);
    if (kind == EventKind::kIprobe && answer.flag == 0 && ++failures_ < 30) queued_.push_back(call);
    if ((kind == EventKind::kProbe || kind == EventKind::kIprobe) && answer.flag != 0)
      receive_found(call, answer);
  }

 private:
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_()) % n; }

  Call simple(EventKind kind) {
    Call call;
    call.event.kind = kind;
    call.event.compute_ps = below(4) == 0 ? 0 : static_cast<std::int64_t>(below(8)) * 500'000;
    return call;
  }

  // All ranks must agree on these, so they depend on the step and the program alone.
  Call collective() {
    static constexpr CollectiveKind kKinds[] = {CollectiveKind::kBarrier, CollectiveKind::kBcast,
                                                CollectiveKind::kReduce, CollectiveKind::kAllreduce,
                                                CollectiveKind::kAlltoall};
    const auto choice = static_cast<std::uint32_t>(step_) * 31U + seed_;
    Call call = simple(choice % 3 == 0 ? EventKind::kIcollective : EventKind::kCollective);
    call.event.operation = static_cast<std::uint8_t>(kKinds[choice % 5]);
    call.event.peer = static_cast<std::int32_t>(choice % static_cast<std::uint32_t>(ranks_));
    call.event.size = 200;
    if (call.event.kind == EventKind::kIcollective) call.event.request = new_request();
    return call;
  }

  Call random_call() {
    failures_ = 0;
    switch (below(24)) {
      case 0:
        return transfer(EventKind::kRecv);
      case 1:
      case 2:
      case 3:
        return with_request(transfer(EventKind::kIrecv));
      case 4:
        return probe(EventKind::kProbe);
      case 5:
        return probe(EventKind::kIprobe);
      case 6:
        return complete(EventKind::kWait, CompletionMode::kAny);
      case 7:
        return complete(EventKind::kWait, CompletionMode::kSome);
      case 8:
        return complete(EventKind::kTest, static_cast<CompletionMode>(below(3)));
      case 9:
        return complete(EventKind::kWait, below(4) == 0 ? CompletionMode::kAll : CompletionMode::kAny);
      case 10:
      case 11:
        return with_request(transfer(EventKind::kIsend));
      default:
        return transfer(EventKind::kSend);
    }
  }

  Call transfer(EventKind kind) {
    Call call = simple(kind);
    const bool sends = kind == EventKind::kSend || kind == EventKind::kIsend;
    call.event.peer = static_cast<std::int32_t>(below(static_cast<std::uint32_t>(ranks_)));
    call.event.tag = static_cast<std::int32_t>(below(2));
    if (sends) call.event.size = static_cast<std::int64_t>(below(4)) * 1000;
    if (!sends && below(2) == 0) call.event.peer = kAnySource.value;
    if (!sends && below(2) == 0) call.event.tag = kAnyTag;
    call.event.flags = sends ? 0 : events::kReportMatch;
    return call;
  }
  Call probe(EventKind kind) {
    Call call = transfer(EventKind::kRecv);
    call.event.kind = kind;
    call.event.flags = below(2) == 0 ? events::kTakesMessage : 0;
    return call;
  }
  RequestId new_request() {
    requests_.push_back(++last_request_);
    return RequestId{last_request_};
  }
  Call with_request(Call call) {
    call.event.request = new_request();
    return call;
  }
  Call complete(EventKind kind, CompletionMode mode) {
    Call call = simple(kind);
    call.event.operation = static_cast<std::uint8_t>(mode);
    call.requests = requests_;
    std::shuffle(call.requests.begin(), call.requests.end(), random_);
    if (mode == CompletionMode::kAll && call.requests.size() > 2) call.requests.resize(2);
    return call;
  }
  void forget(const Call& call, const events::Answer& answer, std::span<const std::uint32_t> completed) {
    const auto drop = [this](std::uint32_t id) { std::erase(requests_, id); };
    if (call.event.completion_mode() == CompletionMode::kAll && answer.flag != 0)
      for (const std::uint32_t id : call.requests) drop(id);
    for (const std::uint32_t position : completed) drop(call.requests[position]);
  }
  void receive_found(const Call& probed, const events::Answer& answer) {
    Call call = simple(EventKind::kRecv);
    call.event.peer = answer.source;
    call.event.tag = answer.tag;
    if (probed.event.has(events::kTakesMessage)) {
      call.event.flags = events::kMatched;
      call.event.aux = answer.sequence;
    }
    queued_.push_back(call);
  }

  std::mt19937 random_;
  std::uint32_t seed_;
  int ranks_;
  int steps_;
  int step_ = 0;
  int failures_ = 0;
  std::uint32_t last_request_ = 0;
  std::vector<std::uint32_t> requests_;
  std::vector<Call> queued_;
};

using Fact =
    std::tuple<EventKind, std::int64_t, std::int32_t, std::int32_t, std::uint64_t, std::int32_t, int>;
using Met = std::tuple<std::int32_t, std::int32_t, std::uint64_t, std::int64_t>;

/// All that a program can notice of a run.
struct Story {
  std::vector<std::vector<Fact>> calls;
  std::vector<std::map<std::uint32_t, Met>> matches;  // by request
  State end{};
  std::uint64_t released = 0;
  friend bool operator==(const Story&, const Story&) = default;
};

class LiveRun : public Listener {
 public:
  LiveRun(std::uint32_t program, int ranks, const netmodel::NetworkModel& network, std::uint32_t order)
      : order_{order}, engine_{ranks, network, *this, options(order)} {
    const auto n = static_cast<std::size_t>(ranks);
    story_.calls.resize(n);
    story_.matches.resize(n);
    upcoming_.resize(n);
    in_call_.resize(n);
    for (int r = 0; r < ranks; ++r) {
      programs_.emplace_back(program, r, ranks, 40);
      prepare(static_cast<std::size_t>(r));
    }
  }

  Story run() {
    for (;;) {
      if (order_() % 4 == 0) engine_.decide();
      const std::optional<std::size_t> rank = pick();
      if (rank) {
        step(*rank);
        continue;
      }
      engine_.decide();
      if (!pick() && !engine_.release_rendezvous()) break;
    }
    story_.end = engine_.state();
    story_.released = engine_.counters().relies_on_buffering;
    if (story_.released == 0) {  // a released sender goes on at a time that was passed already
      EXPECT_EQ(engine_.counters().order_inversions, 0U);
    }
    EXPECT_EQ(engine_.counters().forced_decisions, 0U);
    return story_;
  }

  void on_exit(const events::TimedEvent& event) override {
    const events::Answer& answer = event.answer;
    const std::size_t rank = event.rank.index();
    story_.calls[rank].emplace_back(event.event.kind, answer.exit_ps, answer.source, answer.tag,
                                    answer.sequence, answer.index, answer.flag);
    programs_[rank].answered(in_call_[rank], answer, event.completed);
    prepare(rank);
  }
  void on_match(RankId receiver, const events::Answer& answer) override {
    if (answer.request.value != 0)  // a blocking receive's match is in its exit
      story_.matches[receiver.index()][answer.request.value] = {answer.source, answer.tag, answer.sequence,
                                                                answer.exit_ps};
  }

 private:
  /// Every other run looks ahead.
  static Options options(std::uint32_t order) {
    Options options;
    options.trust_entry = false;
    options.look_ahead = order % 2 == 0;
    return options;
  }
  void prepare(std::size_t rank) { upcoming_[rank] = programs_[rank].next(); }

  std::optional<std::size_t> pick() {
    std::vector<std::size_t> able;
    for (std::size_t r = 0; r < upcoming_.size(); ++r)
      if (upcoming_[r]) able.push_back(r);
    if (able.empty()) return std::nullopt;
    return able[order_() % able.size()];
  }

  void step(std::size_t r) {
    const RankId rank{static_cast<std::int32_t>(r)};
    if (order_() % 5 == 0) {  // a true announcement, and somebody else may come first
      engine_.set_bound(rank, engine_.clock(rank) + upcoming_[r]->event.compute());
      return;
    }
    in_call_[r] = *upcoming_[r];
    upcoming_[r].reset();
    const Call call = in_call_[r];
    engine_.push(rank, call.event, {call.requests, {}});
  }

  std::mt19937 order_;
  Engine engine_;
  std::vector<Program> programs_;
  std::vector<std::optional<Call>> upcoming_;
  std::vector<Call> in_call_;
  Story story_;
};

/// The earliest call that two stories tell differently.
std::string difference(const Story& a, const Story& b) {
  std::string text = "no call differs";
  std::int64_t earliest = std::numeric_limits<std::int64_t>::max();
  const auto tell = [](const Fact& f) {
    return "kind " + std::to_string(static_cast<int>(std::get<0>(f))) + " exit " +
           std::to_string(std::get<1>(f)) + " source " + std::to_string(std::get<2>(f)) + " tag " +
           std::to_string(std::get<3>(f)) + " sequence " + std::to_string(std::get<4>(f)) + " index " +
           std::to_string(std::get<5>(f)) + " flag " + std::to_string(std::get<6>(f));
  };
  for (std::size_t r = 0; r < a.calls.size(); ++r) {
    const auto [x, y] =
        std::mismatch(a.calls[r].begin(), a.calls[r].end(), b.calls[r].begin(), b.calls[r].end());
    const bool ends = x == a.calls[r].end() || y == b.calls[r].end();
    if (ends && a.calls[r].size() == b.calls[r].size()) continue;
    const std::int64_t at = ends ? earliest - 1 : std::min(std::get<1>(*x), std::get<1>(*y));
    if (at >= earliest) continue;
    earliest = at;
    text = "rank " + std::to_string(r) + ", call " + std::to_string(x - a.calls[r].begin()) + ": " +
           (x == a.calls[r].end() ? "nothing" : tell(*x)) + " / " +
           (y == b.calls[r].end() ? "nothing" : tell(*y));
  }
  if (text != "no call differs") return text;
  if (a.end != b.end || a.released != b.released)
    return "ends or released sends differ: " + std::to_string(a.released) + " / " +
           std::to_string(b.released);
  for (std::size_t r = 0; r < a.matches.size(); ++r) {
    const auto tell_match = [](const std::map<std::uint32_t, Met>& matches, std::uint32_t request) {
      const auto found = matches.find(request);
      if (found == matches.end()) return std::string{"nothing"};
      const auto& [source, tag, sequence, at] = found->second;
      return "source " + std::to_string(source) + " tag " + std::to_string(tag) + " sequence " +
             std::to_string(sequence) + " at " + std::to_string(at);
    };
    for (const auto* side : {&a.matches[r], &b.matches[r]})
      for (const auto& [request, met] : *side)
        if (tell_match(a.matches[r], request) != tell_match(b.matches[r], request))
          return "rank " + std::to_string(r) + ", request " + std::to_string(request) + " met " +
                 tell_match(a.matches[r], request) + " / " + tell_match(b.matches[r], request);
  }
  return text;
}

std::unique_ptr<netmodel::NetworkModel> network_of(const std::string& word) {
  if (word == "star") return std::make_unique<Star>();
  return std::move(netmodel::parse(word).value());
}

class Interleaving : public testing::TestWithParam<const char*> {};

TEST_P(Interleaving, NeverChangesWhatAProgramSees) {
  const std::unique_ptr<netmodel::NetworkModel> network = network_of(GetParam());
  std::size_t calls = 0;
  std::size_t finished = 0;
  for (std::uint32_t program = 0; program < 120; ++program) {
    const int ranks = 2 + static_cast<int>(program % 6);
    const Story reference = LiveRun{program, ranks, *network, 1}.run();
    for (const auto& rank : reference.calls) calls += rank.size();
    if (reference.end == State::kFinished) ++finished;
    for (std::uint32_t order = 2; order < 8; ++order) {
      const Story other = LiveRun{program, ranks, *network, order}.run();
      ASSERT_TRUE(other == reference)
          << "program " << program << ", order " << order << ": " << difference(other, reference);
    }
  }
  EXPECT_GT(calls, 4000U);  // the programs get somewhere
  RecordProperty("calls", static_cast<int>(calls));
  RecordProperty("finished", static_cast<int>(finished));
}

INSTANTIATE_TEST_SUITE_P(Networks, Interleaving,
                         testing::Values("lsb:latency=1e-06,bandwidth=1e+09", "lsb:latency=0,bandwidth=1e+09",
                                         "lsb:latency=0,bandwidth=1e+12",
                                         "lsb:latency=1e-06,bandwidth=1e+09,eager=1500,handshake=1e-06",
                                         "lsb:latency=0,bandwidth=1e+09,eager=1500",
                                         "loggops:L=1e-06,o=2e-07,g=5e-07,G=1e-09,O=0,S=1500",
                                         "loggops:L=1e-06,o=2e-07,g=5e-07,G=1e-09,O=0,interfaces=both",
                                         "star"));

}  // namespace
}  // namespace nplus1::simnode::engine
