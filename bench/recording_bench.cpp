// What the recording costs: bytes per event, and events per second written and read, on one core. The streams
// come out of the engine (L+s/B, full MPI semantics), with what a live run adds: noise in compute times and
// real clocks, buffers, hashes.
//
// A benchmark is called WHAT/PATTERN/ORDER/CONTENT/RANKS. ORDER: `blocks`: each rank runs until it blocks, as
// a replay records; `live`: by the real time of each call, ranks interleaved at random, as a live run
// records. CONTENT: `full`: clocks, buffers, CRC-32, prefix; `poly`: a 61-bit hash as well; `clocks`: no
// hashes; `bare`: no detail. An irecv's match is a record of its own, counted in `rows` and not in `events`:
// bytes are per event, matches included. Run: recording_bench --benchmark_counters_tabular=true
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "events/mpi_call.hpp"
#include "events/recording/reader.hpp"
#include "events/recording/writer.hpp"
#include "simnode/engine/replay.hpp"

namespace nplus1::events::recording {
namespace {

using simnode::engine::Engine;

struct Peers {
  std::vector<std::int32_t> sources;
  std::vector<std::int32_t> destinations;
};
using Pattern = std::vector<Peers>;

Pattern halo(int ranks) {  // a torus as square as it gets
  int rows = static_cast<int>(std::sqrt(ranks));
  while (ranks % rows != 0) --rows;
  const int columns = ranks / rows;
  Pattern peers;
  for (int r = 0; r < ranks; ++r) {
    const auto at = [&](int dy, int dx) {
      return (r / columns + dy + rows) % rows * columns + (r % columns + dx + columns) % columns;
    };
    const std::vector<std::int32_t> neighbours{at(-1, 0), at(1, 0), at(0, -1), at(0, 1)};
    peers.push_back({neighbours, neighbours});
  }
  return peers;
}

Pattern ring(int ranks) {
  Pattern peers;
  for (int r = 0; r < ranks; ++r) peers.push_back({{(r + ranks - 1) % ranks}, {(r + 1) % ranks}});
  return peers;
}

Pattern random_pairs(int ranks) {  // four random pairings
  std::mt19937 random{7};
  Pattern peers(static_cast<std::size_t>(ranks));
  std::vector<std::int32_t> order(peers.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i);
  for (int pairing = 0; pairing < 4; ++pairing) {
    std::shuffle(order.begin(), order.end(), random);
    for (std::size_t i = 0; i + 1 < order.size(); i += 2) {
      for (const auto& [a, b] : {std::pair{order[i], order[i + 1]}, std::pair{order[i + 1], order[i]}}) {
        peers[static_cast<std::size_t>(a)].sources.push_back(b);
        peers[static_cast<std::size_t>(a)].destinations.push_back(b);
      }
    }
  }
  return peers;
}

struct Workload {
  const char* name;
  Pattern (*peers)(int);
  bool collective = false;    // an allreduce after each fourth waitall
  bool varied_sizes = false;  // and tags that count steps
};
const Workload kWorkloads[] = {
    {"halo", halo}, {"ring", ring}, {"random", random_pairs}, {"mixed", random_pairs, true, true}};

/// compute, irecv from each source, isend to each destination, waitall; see Workload.
class Program : public simnode::engine::Streams {
 public:
  Program(const Workload& workload, int ranks, int steps)
      : workload_{workload}, peers_{workload.peers(ranks)}, steps_{steps}, cursors_(peers_.size()) {}

  const Event* next(RankId rank, Extension& extension) override {
    const Peers& peers = peers_[rank.index()];
    Cursor& c = cursors_[rank.index()];
    if (c.step == steps_) return nullptr;
    event_ = Event{};
    const std::size_t receives = peers.sources.size();
    const std::size_t requests = receives + peers.destinations.size();
    if (c.position < receives)
      message(EventKind::kIrecv, MpiCall::MPI_Irecv, peers.sources[c.position], c);
    else if (c.position < requests)
      message(EventKind::kIsend, MpiCall::MPI_Isend, peers.destinations[c.position - receives], c);
    else if (c.position == requests)
      waitall(c, requests, extension);
    else
      allreduce();
    event_.compute_ps = static_cast<std::int64_t>(c.position == 0 ? noise(3e7, 0.3) : noise(2e5, 0.3));
    const bool ends = c.position == requests && !(workload_.collective && c.step % 4 == 3);
    c.position = ends || c.position > requests ? 0 : c.position + 1;
    if (c.position == 0) ++c.step;
    return &event_;
  }

 private:
  struct Cursor {
    int step = 0;
    std::size_t position = 0;
    std::uint32_t request = 0;
  };

  double noise(double mean, double spread) { return mean * std::exp(spread * normal_(random_)); }

  void message(EventKind kind, MpiCall call, std::int32_t peer, Cursor& c) {
    event_.kind = kind;
    event_.call = static_cast<std::uint16_t>(call);
    event_.site = CallSiteId{kind == EventKind::kIrecv ? 1U : 2U};
    event_.peer = peer;
    event_.tag = workload_.varied_sizes ? c.step : 7;
    event_.size = workload_.varied_sizes ? static_cast<std::int64_t>(random_() % 1000 * 8) : 8192;
    event_.request = RequestId{++c.request};
  }

  void waitall(const Cursor& c, std::size_t requests, Extension& extension) {
    event_.kind = EventKind::kWait;
    event_.call = static_cast<std::uint16_t>(MpiCall::MPI_Waitall);
    event_.site = CallSiteId{3};
    event_.aux = requests;
    words_.clear();
    for (std::size_t i = 0; i < requests; ++i)
      words_.push_back(c.request - static_cast<std::uint32_t>(requests - 1 - i));
    event_.extension = static_cast<std::uint32_t>((requests + 15) / 16);
    extension.words = words_;
  }

  void allreduce() {
    event_.kind = EventKind::kCollective;
    event_.call = static_cast<std::uint16_t>(MpiCall::MPI_Allreduce);
    event_.site = CallSiteId{4};
    event_.operation = static_cast<std::uint8_t>(CollectiveKind::kAllreduce);
    event_.peer = -1;
    event_.size = 8;
  }

  const Workload& workload_;
  Pattern peers_;
  int steps_;
  std::vector<Cursor> cursors_;
  std::mt19937_64 random_{11};
  std::normal_distribution<double> normal_;
  Event event_;
  std::vector<std::uint32_t> words_;
};

enum Content { kFull, kPoly, kClocks, kBare };
constexpr const char* kContents[] = {"full", "poly", "clocks", "bare"};

/// What the engine says, kept by value.
struct Row {
  RankId rank;
  bool is_match = false;
  Event event;
  Answer answer;
  Detail detail;
  Time exit;
  std::uint64_t ordinal = 0;
  std::uint32_t words = 0;  // where its list starts
  std::uint32_t word_count = 0;
  std::int64_t wall = 0;  // real time at which it is recorded
};

/// Adds what a live run knows beyond the engine.
class Capture : public simnode::engine::Listener {
 public:
  Capture(int ranks, Content content) : content_{content}, ranks_(static_cast<std::size_t>(ranks)) {
    for (OfRank& r : ranks_) {
      r.wall = 1'800'000'000'000'000'000 + static_cast<std::int64_t>(random_() % 1'000'000);
      r.heap = 0x7f0000000000 + (random_() & 0xffffff000);  // address space layouts differ
    }
  }

  void on_exit(const TimedEvent& e) override {
    OfRank& r = ranks_[e.rank.index()];
    Row& row = rows.emplace_back();
    row.rank = e.rank;
    row.event = e.event;
    row.answer = e.answer;
    row.exit = e.exit;
    row.ordinal = r.ordinal++;
    row.words = static_cast<std::uint32_t>(words.size());
    row.word_count = static_cast<std::uint32_t>(e.extension.words.size());
    words.insert(words.end(), e.extension.words.begin(), e.extension.words.end());
    row.detail.wall_before_ns = r.wall;
    r.wall += e.event.compute_ps / 1000 + static_cast<std::int64_t>(random_() % 64);
    row.detail.wall_entry_ns = r.wall;
    const bool waits = e.event.kind == EventKind::kWait || e.event.kind == EventKind::kCollective;
    r.wall += static_cast<std::int64_t>((waits ? 4000 : 300) + random_() % (waits ? 8000 : 200));
    row.wall = r.wall;
    if (content_ != kBare) add_detail(row, r);
  }
  void on_match(RankId receiver, const Answer& match) override {
    Row& row = rows.emplace_back();
    row.rank = receiver;
    row.is_match = true;
    row.answer = match;
    row.wall = ranks_[receiver.index()].wall;
  }

  std::vector<Row> rows;
  std::vector<std::uint32_t> words;  // of all lists

 private:
  struct OfRank {
    std::int64_t wall = 0;
    std::uint64_t heap = 0;
    std::uint64_t ordinal = 0;
  };

  void add_detail(Row& row, const OfRank& r) {
    Detail& d = row.detail;
    const bool sends = row.event.kind == EventKind::kIsend || row.event.kind == EventKind::kCollective;
    row.event.flags |= kHasDetail;
    if (row.event.kind == EventKind::kWait) return;
    d.buffer = r.heap + (row.event.request.value % 8) * 0x2040;
    d.count = row.event.size / 8;
    d.datatype = DatatypeId{5};
    if (!sends || content_ == kClocks) return;
    d.content = kHasCrc | kHasPrefix;
    d.crc = static_cast<std::uint32_t>(random_());
    const double value = std::uniform_real_distribution<>{-1, 1}(random_);
    std::memcpy(&d.prefix, &value, sizeof value);
    if (content_ != kPoly) return;
    d.content |= kHasPolynomial;
    d.polynomial = random_() >> 3U;
  }

  Content content_;
  std::vector<OfRank> ranks_;
  std::mt19937_64 random_{5};
};

struct Case {
  const Workload* workload;
  bool live;
  Content content;
  int ranks;

  [[nodiscard]] std::string name() const {
    return std::string{workload->name} + (live ? "/live/" : "/blocks/") + kContents[content] + "/" +
           std::to_string(ranks);
  }
};

/// Rows in the order of recording, and their lists in the same order: in a live run an event is still in the
/// cache when it is recorded, so reading the input should cost as little as possible.
struct Input {
  std::vector<Row> rows;
  std::vector<std::uint32_t> words;
};

Input input_of(const Case& c) {
  const auto network = std::move(netmodel::parse("lsb:latency=1e-06,bandwidth=1e+10").value());
  Capture capture{c.ranks, c.content};
  simnode::engine::Options options;
  options.trust_entry = false;
  options.report_all_matches = true;
  const int steps = std::max(1, 1'000'000 / 13 / c.ranks);
  Program program{*c.workload, c.ranks, steps};
  Engine engine{c.ranks, *network, capture, options};
  replay(engine, c.ranks, program);
  if (c.live)
    std::stable_sort(capture.rows.begin(), capture.rows.end(),
                     [](const Row& a, const Row& b) { return a.wall < b.wall; });
  Input input{std::move(capture.rows), {}};
  for (Row& row : input.rows) {
    const auto list = capture.words.begin() + row.words;
    row.words = static_cast<std::uint32_t>(input.words.size());
    input.words.insert(input.words.end(), list, list + row.word_count);
  }
  return input;
}

/// The input of the last case asked for: making them takes longer than recording them.
const Input& cached_input(const Case& c) {
  static std::string name;
  static Input input;
  if (name != c.name()) {
    input = {};
    input = input_of(c);
    name = c.name();
  }
  return input;
}

void play(const Input& input, bool bare, EventSink& sink) {
  for (const Row& row : input.rows) {
    if (row.is_match)
      sink.on_match(row.rank, row.answer);
    else
      sink.on_event({row.rank,
                     row.event,
                     {std::span{input.words}.subspan(row.words, row.word_count), {}},
                     row.exit,
                     row.answer,
                     {},
                     bare ? nullptr : &row.detail,
                     row.ordinal});
  }
}

std::filesystem::path scratch() {
  return std::filesystem::temp_directory_path() / ("nplus1-bench-" + std::to_string(::getpid()));
}

std::uint64_t record(const Case& c, const Input& input, bool background) {
  std::filesystem::remove_all(scratch());
  WriterOptions options;
  options.background = background;
  auto writer = std::move(Writer::create(scratch(), {c.ranks, {}}, options)).value();
  play(input, c.content == kBare, *writer);
  writer->close();
  return writer->bytes();
}

void count(benchmark::State& state, std::uint64_t events, std::uint64_t rows, std::uint64_t bytes) {
  const auto times = static_cast<double>(state.iterations());
  state.counters["events"] =
      benchmark::Counter(static_cast<double>(events) * times, benchmark::Counter::kIsRate);
  state.counters["rows"] = benchmark::Counter(static_cast<double>(rows) * times, benchmark::Counter::kIsRate);
  state.counters["bytes_per_event"] = static_cast<double>(bytes) / static_cast<double>(events);
}

std::uint64_t events_in(const std::vector<Row>& rows) {
  return static_cast<std::uint64_t>(
      std::count_if(rows.begin(), rows.end(), [](const Row& r) { return !r.is_match; }));
}

void write(benchmark::State& state, const Case& c, bool background) {
  const Input& input = cached_input(c);
  std::uint64_t bytes = 0;
  for (auto unused : state) {
    (void)unused;
    bytes = record(c, input, background);
  }
  count(state, events_in(input.rows), input.rows.size(), bytes);
  std::filesystem::remove_all(scratch());
}

class Sum : public EventSink {
 public:
  void on_event(const TimedEvent& e) override { sum += e.event.size + e.exit.time_since_epoch().count(); }
  void on_match(RankId, const Answer& match) override { sum += match.size; }
  std::int64_t sum = 0;
};

void read(benchmark::State& state, const Case& c) {
  const Input& input = cached_input(c);
  const std::uint64_t bytes = record(c, input, false);
  Reader reader = std::move(Reader::open(scratch())).value();
  for (auto unused : state) {
    (void)unused;
    Sum sum;
    const Coverage coverage = reader.read(sum).value();
    if (!coverage.complete || coverage.events + coverage.matches != input.rows.size())
      state.SkipWithError(coverage.text().c_str());
    benchmark::DoNotOptimize(sum.sum);
  }
  count(state, events_in(input.rows), input.rows.size(), bytes);
  std::filesystem::remove_all(scratch());
}

bool register_all() {
  const auto add = [](const Case& c) {
    benchmark::RegisterBenchmark(("write/" + c.name()).c_str(), [c](auto& state) {
      write(state, c, false);
    })->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("read/" + c.name()).c_str(), [c](auto& state) {
      read(state, c);
    })->Unit(benchmark::kMillisecond);
  };
  for (const Workload& workload : kWorkloads)
    for (const bool live : {false, true})
      for (const int ranks : {16, 1024, 65536}) add({&workload, live, kFull, ranks});
  for (const Content content : {kPoly, kClocks, kBare}) add({&kWorkloads[0], true, content, 1024});
  const Case c{&kWorkloads[3], true, kFull, 1024};
  // Time of the calling thread: what the simulator is held up by.
  benchmark::RegisterBenchmark(("write_in_background/" + c.name()).c_str(), [c](auto& state) {
    write(state, c, true);
  })->Unit(benchmark::kMillisecond);
  return true;
}
[[maybe_unused]] const bool registered = register_all();

}  // namespace
}  // namespace nplus1::events::recording
