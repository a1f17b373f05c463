#include "tests/exchange/sample_run.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "events/mpi_call.hpp"

namespace nplus1::tests {
namespace {

using events::Event;
using events::EventKind;
using events::MpiCall;

/// Turns what the engine says into what a recording gets.
class Recorder final : public simnode::engine::Listener {
 public:
  explicit Recorder(Log& log) : log_{log} {}
  void on_exit(const events::TimedEvent& event) override {
    events::TimedEvent full = event;
    const std::uint64_t ordinal = ordinals_[event.rank.value]++;
    const events::Detail detail = detail_of(event, ordinal);
    full.ordinal = ordinal;
    const bool sends = event.event.kind == EventKind::kSend || event.event.kind == EventKind::kIsend;
    if (sends || event.event.kind == EventKind::kIrecv) full.detail = &detail;
    log_.on_event(full);
  }
  void on_match(RankId receiver, const events::Answer& answer) override {
    if (answer.request.value != 0) log_.on_match(receiver, answer);
  }

 private:
  static events::Detail detail_of(const events::TimedEvent& event, std::uint64_t ordinal) {
    events::Detail detail;
    detail.wall_entry_ns = 1'790'000'000'123'456'789 + static_cast<std::int64_t>(ordinal);
    detail.buffer = 0xffff'8000'0000'0000U + ordinal;
    detail.count = event.event.size / 8;
    detail.prefix = 0x8000'0000'0000'0001U;
    detail.crc = 0xdeadbeef;
    detail.datatype = DatatypeId{1};
    detail.content = events::kHasCrc | events::kHasPrefix;
    return detail;
  }
  Log& log_;
  std::map<int, std::uint64_t> ordinals_;
};

class Sample {
 public:
  Sample() : network_{netmodel::parse("lsb:latency=1e-06,bandwidth=1e+09").value()}, recorder_{log_} {
    simnode::engine::Options options;
    options.trust_entry = false;
    options.report_all_matches = true;
    engine_ = std::make_unique<simnode::engine::Engine>(kSampleRanks, *network_, recorder_, options);
    define();
  }

  Log run() {
    ring();
    wildcards_and_tests();
    collectives();
    rest();
    engine_->decide();
    if (engine_->state() != simnode::engine::State::kFinished)
      throw std::logic_error{"the sample run does not end"};
    return std::move(log_);
  }

 private:
  void define() {
    log_.on_communicator({CommId{0}, {RankId{0}, RankId{1}, RankId{2}, RankId{3}}, 0});
    log_.on_communicator({CommId{1}, {RankId{3}, RankId{1}}, 0});
    log_.on_communicator({CommId{2}, {RankId{0}, RankId{1}, RankId{2}, RankId{3}}, 2});
    engine_->define_communicator(CommId{1}, {RankId{3}, RankId{1}});
    engine_->define_communicator(CommId{2}, {RankId{0}, RankId{1}}, {RankId{2}, RankId{3}});
    log_.on_call_path(
        {CallSiteId{1},
         {{"/bin/app", "0123abcd", 0x1234, "main", "app.c", 17}, {"/lib/libc.so.6", "", 0x99, "", "", 0}}});
    log_.on_call_path({CallSiteId{2}, {{"/bin/app, \"quoted\"", "", 0x1, "solve<double>", "a b.cpp", 3}}});
    log_.on_region({RegionId{0}, "time step"});
    log_.on_datatype({DatatypeId{1}, "MPI_DOUBLE", 8});
    log_.on_datatype({DatatypeId{2}, "a vector, by hand", 24});
  }

  void push(int rank, Event e, MpiCall call, const events::Extension& extension = {}) {
    e.call = static_cast<std::uint16_t>(call);
    e.compute_ps = 1'000'000 + 1000 * rank + 7;
    e.site = CallSiteId{static_cast<std::uint32_t>(1 + rank % 2)};
    engine_->push(RankId{rank}, e, extension);
  }
  static Event make(EventKind kind, int peer = 0, int tag = 0, std::int64_t size = 0,
                    std::uint32_t comm = 0) {
    Event e;
    e.kind = kind;
    e.peer = peer;
    e.tag = tag;
    e.size = size;
    e.comm = CommId{comm};
    return e;
  }
  std::uint32_t start(int rank, Event e, MpiCall call) {
    e.request = RequestId{++requests_[rank]};
    push(rank, e, call);
    return e.request.value;
  }
  void complete(int rank, EventKind kind, const std::vector<std::uint32_t>& requests, MpiCall call,
                events::CompletionMode mode = events::CompletionMode::kAll) {
    Event e = make(kind);
    e.operation = static_cast<std::uint8_t>(mode);
    e.aux = requests.size();
    push(rank, e, call, {requests, {}});
  }

  void ring() {
    for (int rank = 0; rank < kSampleRanks; ++rank) {
      const int next = (rank + 1) % kSampleRanks;
      const int before = (rank + kSampleRanks - 1) % kSampleRanks;
      for (int round = 0; round < 3; ++round) {
        const auto receive = start(rank, make(EventKind::kIrecv, before, 5, 4096), MpiCall::MPI_Irecv);
        Event send = make(EventKind::kIsend, next, 5, 1000 * (rank + 1) + round);
        send.operation = static_cast<std::uint8_t>(round == 1 ? events::SendMode::kSynchronous
                                                              : events::SendMode::kStandard);
        const auto sent = start(rank, send, round == 1 ? MpiCall::MPI_Issend : MpiCall::MPI_Isend);
        complete(rank, EventKind::kWait, {receive, 0, sent}, MpiCall::MPI_Waitall);
      }
    }
  }

  void wildcards_and_tests() {
    for (int rank = 1; rank < kSampleRanks; ++rank)
      push(rank, make(EventKind::kSend, 0, rank, 64 * rank), MpiCall::MPI_Send);
    const auto any = start(0, make(EventKind::kIrecv, -1, -1, 1024), MpiCall::MPI_Irecv);
    complete(0, EventKind::kTest, {any}, MpiCall::MPI_Test);
    const auto more = start(0, make(EventKind::kIrecv, -1, -1, 1024), MpiCall::MPI_Irecv);
    complete(0, EventKind::kWait, {more, any}, MpiCall::MPI_Waitany, events::CompletionMode::kAny);
    complete(0, EventKind::kWait, {more, any}, MpiCall::MPI_Waitsome, events::CompletionMode::kSome);
    push(0, make(EventKind::kProbe, -1, -1), MpiCall::MPI_Probe);
    push(0, make(EventKind::kRecv, -1, -1, 1024), MpiCall::MPI_Recv);
    push(0, make(EventKind::kSend, -2, 3, 8), MpiCall::MPI_Send);
    push(0, make(EventKind::kRecv, -2, 3, 8), MpiCall::MPI_Recv);
    // The same pair and tag in two communicators.
    push(1, make(EventKind::kSend, 3, 9, 111), MpiCall::MPI_Send);
    push(1, make(EventKind::kSend, 3, 9, 222, 1), MpiCall::MPI_Send);
    push(3, make(EventKind::kRecv, 1, 9, 4096, 1), MpiCall::MPI_Recv);
    push(3, make(EventKind::kRecv, 1, 9, 4096), MpiCall::MPI_Recv);
    const auto cancelled = start(2, make(EventKind::kIrecv, 1, 77, 8), MpiCall::MPI_Irecv);
    Event cancel = make(EventKind::kCancelled);
    cancel.request = RequestId{cancelled};
    push(2, cancel, MpiCall::MPI_Cancel);
    complete(2, EventKind::kWait, {cancelled}, MpiCall::MPI_Wait);
  }

  void collective(CollectiveKind kind, MpiCall call, std::int64_t size, int root = -1) {
    for (int rank = 0; rank < kSampleRanks; ++rank) {
      Event e = make(EventKind::kCollective, root, 0, size);
      e.operation = static_cast<std::uint8_t>(kind);
      std::vector<std::int64_t> sizes;
      const bool at_root = rank == root;
      if (kind == CollectiveKind::kAllgatherv || kind == CollectiveKind::kReduceScatter ||
          ((kind == CollectiveKind::kGatherv || kind == CollectiveKind::kScatterv) && at_root))
        sizes = {10, 20, 30, 40};
      if (kind == CollectiveKind::kAlltoallv) sizes.assign(8, 16);
      if (kind == CollectiveKind::kGatherv || kind == CollectiveKind::kScatterv ||
          kind == CollectiveKind::kAllgatherv)
        e.size = 10 * (rank + 1);
      if (!sizes.empty()) e.flags = events::kHasBytesPerMember;
      e.aux = sizes.size();
      push(rank, e, call, {{}, sizes});
    }
  }

  void collectives() {
    using K = CollectiveKind;
    collective(K::kBarrier, MpiCall::MPI_Barrier, 0);
    collective(K::kBcast, MpiCall::MPI_Bcast, 4000, 2);
    collective(K::kGather, MpiCall::MPI_Gather, 100, 1);
    collective(K::kGatherv, MpiCall::MPI_Gatherv, 0, 1);
    collective(K::kScatter, MpiCall::MPI_Scatter, 100, 3);
    collective(K::kScatterv, MpiCall::MPI_Scatterv, 0, 0);
    collective(K::kAllgather, MpiCall::MPI_Allgather, 50);
    collective(K::kAllgatherv, MpiCall::MPI_Allgatherv, 0);
    collective(K::kAlltoall, MpiCall::MPI_Alltoall, 60);
    collective(K::kAlltoallv, MpiCall::MPI_Alltoallv, 64);
    collective(K::kReduce, MpiCall::MPI_Reduce, 800, 0);
    collective(K::kAllreduce, MpiCall::MPI_Allreduce, 8);
    collective(K::kReduceScatterBlock, MpiCall::MPI_Reduce_scatter_block, 8);
    collective(K::kReduceScatter, MpiCall::MPI_Reduce_scatter, 100);
    collective(K::kScan, MpiCall::MPI_Scan, 24);
    collective(K::kExscan, MpiCall::MPI_Exscan, 24);
    for (const int rank : {3, 1}) {
      Event e = make(EventKind::kCollective, 1, 0, 512, 1);
      e.operation = static_cast<std::uint8_t>(K::kBcast);
      push(rank, e, MpiCall::MPI_Bcast);
    }
    for (int rank = 0; rank < kSampleRanks; ++rank) {
      Event e = make(EventKind::kIcollective, -1, 0, 8);
      e.operation = static_cast<std::uint8_t>(K::kAllreduce);
      const auto request = start(rank, e, MpiCall::MPI_Iallreduce);
      complete(rank, EventKind::kWait, {request}, MpiCall::MPI_Wait);
    }
  }

  void rest() {
    for (int rank = 0; rank < kSampleRanks; ++rank) {
      push(rank, make(EventKind::kRegionBegin), MpiCall::kNone);
      push(rank, make(EventKind::kUnmodelledEnter), MpiCall::MPI_File_open);
      push(rank, make(EventKind::kUnmodelledExit), MpiCall::MPI_File_open);
      push(rank, make(EventKind::kLocal), MpiCall::kNone);
      push(rank, make(EventKind::kRegionEnd), MpiCall::kNone);
      push(rank, make(EventKind::kFinalize), MpiCall::MPI_Finalize);
    }
  }

  Log log_;
  std::unique_ptr<netmodel::NetworkModel> network_;
  Recorder recorder_;
  std::unique_ptr<simnode::engine::Engine> engine_;
  std::map<int, std::uint32_t> requests_;
};

}  // namespace

void Log::play(events::EventSink& sink) const {
  for (const auto& c : communicators) sink.on_communicator(c);
  for (const auto& path : paths) sink.on_call_path(path);
  for (const auto& region : regions) sink.on_region(region);
  for (const auto& datatype : datatypes) sink.on_datatype(datatype);
  std::map<std::pair<int, std::uint32_t>, const Match*> open;
  for (const Match& match : matches) open[{match.receiver.value, match.answer.request.value}] = &match;
  for (const StoredEvent& event : events) {
    sink.on_event(event.view());
    if (event.event.kind != EventKind::kIrecv) continue;
    const auto found = open.find({event.rank.value, event.event.request.value});
    if (found != open.end()) sink.on_match(found->second->receiver, found->second->answer);
  }
}

std::vector<StoredEvent> Log::of(int rank, int thread) const {
  std::vector<StoredEvent> found;
  std::copy_if(events.begin(), events.end(), std::back_inserter(found),
               [&](const StoredEvent& e) { return e.rank.value == rank && e.event.thread.value == thread; });
  return found;
}

Log::Matrix Log::messages() const {
  Matrix matrix;
  for (const StoredEvent& e : events) {
    if ((e.event.kind != EventKind::kSend && e.event.kind != EventKind::kIsend) || e.event.peer < 0) continue;
    auto& cell = matrix[{e.rank.value, e.event.peer}];
    ++cell.first;
    cell.second += e.event.size;
  }
  return matrix;
}

Log sample_run() {
  return Sample{}.run();
}

Log random_events(std::uint64_t seed, int count) {
  std::mt19937_64 random{seed};
  const auto below = [&](std::uint64_t limit) { return random() % limit; };
  Log log;
  log.on_communicator({CommId{0}, {RankId{0}, RankId{1}, RankId{2}, RankId{3}}, 0});
  std::vector<std::int64_t> clock(kSampleRanks);
  for (int i = 0; i < count; ++i) {
    StoredEvent e;
    e.rank = RankId{static_cast<std::int32_t>(below(kSampleRanks))};
    std::int64_t& now = clock[e.rank.index()];
    e.event.kind = static_cast<EventKind>(1 + below(static_cast<std::uint64_t>(EventKind::kFinalize)));
    e.event.flags = static_cast<std::uint8_t>(random());
    e.event.operation = static_cast<std::uint8_t>(random());
    e.event.reserved = static_cast<std::uint8_t>(random());
    e.event.call = static_cast<std::uint16_t>(below(2) != 0 ? below(events::kMpiCalls) : random());
    e.event.comm = CommId{static_cast<std::uint32_t>(below(5))};
    e.event.request = RequestId{static_cast<std::uint32_t>(random())};
    e.event.site = CallSiteId{static_cast<std::uint32_t>(below(1000))};
    e.event.peer = static_cast<std::int32_t>(below(6)) - 2;
    e.event.tag = static_cast<std::int32_t>(random());
    e.event.extension = static_cast<std::uint32_t>(random());
    e.event.compute_ps = static_cast<std::int64_t>(random());
    e.event.size = static_cast<std::int64_t>(random() >> 1);
    e.event.entry_ps = now += static_cast<std::int64_t>(below(1'000'000'000));
    e.exit = Time{Duration{now += static_cast<std::int64_t>(below(1'000'000))}};
    for (auto n = below(4); n > 0; --n) e.words.push_back(static_cast<std::uint32_t>(random()));
    for (auto n = below(4); n > 0; --n) e.sizes.push_back(static_cast<std::int64_t>(random()));
    if (!e.words.empty() && below(2) != 0)
      e.completed.push_back(static_cast<std::uint32_t>(below(e.words.size())));
    const bool completes = e.event.kind == EventKind::kWait || e.event.kind == EventKind::kTest;
    const bool region = e.event.kind == EventKind::kRegionBegin || e.event.kind == EventKind::kRegionEnd;
    e.event.aux = completes ? e.words.size() : region ? below(100) : random();
    auto* answer = reinterpret_cast<unsigned char*>(&e.answer);
    for (std::size_t b = 0; b < sizeof e.answer; ++b) answer[b] = static_cast<unsigned char>(random());
    if (below(2) != 0) {
      auto* detail = reinterpret_cast<unsigned char*>(&e.detail.emplace());
      for (std::size_t b = 0; b < offsetof(events::Detail, reserved); ++b)
        detail[b] = static_cast<unsigned char>(random());
    }
    e.ordinal = static_cast<std::uint64_t>(i);
    log.events.push_back(e);
  }
  return log;
}

}  // namespace nplus1::tests
