// A program for tests of transformations, written call by call; its run on a network, and its replay under a
// hypothesis. Not part of the product.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "events/mpi_call.hpp"
#include "hypothesis/replay/event_feed.hpp"
#include "hypothesis/transform/chain.hpp"
#include "netmodel/network_model.hpp"
#include "simnode/engine/replay.hpp"

namespace nplus1::hypothesis::transform {

inline constexpr std::int64_t kUs = 1'000'000;  // ps
/// A message takes 1 us and a nanosecond for each byte; those above 10000 bytes wait for their receive.
inline constexpr const char* kTestNetwork = "lsb:latency=1us,bandwidth=1GBps,eager=10000";

class TestProgram {
 public:
  explicit TestProgram(std::size_t ranks)
      : streams_(ranks), pending_(ranks, 0), requests_(ranks, 0), sites_(ranks, 0) {}

  /// As `nplus1 run --compute fixed:`: each call from here on has so much computing more before it.
  void charge_calls(std::int64_t us) { charge_ = us * kUs; }
  void compute(std::int32_t rank, std::int64_t us) { pending_[index(rank)] += us * kUs; }
  /// The call path of the rank's calls from here on: "program.c:LINE" in function "fLINE"; of 100 + LINE the same, called from main.
  void line(std::int32_t rank, std::uint32_t line) { sites_[index(rank)] = line; }
  void send(std::int32_t rank, std::int32_t to, std::int64_t bytes, std::int32_t tag = 0) {
    message(events::EventKind::kSend, rank, to, bytes, tag);
  }
  void receive(std::int32_t rank, std::int32_t from, std::int32_t tag = 0) {
    message(events::EventKind::kRecv, rank, from, 0, tag);
  }
  void look_for(std::int32_t rank, std::int32_t from, std::int32_t tag = 0) {
    message(events::EventKind::kIprobe, rank, from, 0, tag);
  }
  std::uint32_t isend(std::int32_t rank, std::int32_t to, std::int64_t bytes, std::int32_t tag = 0) {
    return message(events::EventKind::kIsend, rank, to, bytes, tag);
  }
  std::uint32_t ireceive(std::int32_t rank, std::int32_t from, std::int32_t tag = 0) {
    return message(events::EventKind::kIrecv, rank, from, 0, tag);
  }
  /// MPI_Sendrecv: recorded as the two halves and the wait for both.
  void sendrecv(std::int32_t rank, std::int32_t to, std::int32_t from, std::int64_t bytes,
                std::int32_t tag = 0) {
    std::vector<std::uint32_t> halves{isend(rank, to, bytes, tag)};
    called(rank, events::MpiCall::MPI_Sendrecv);
    halves.push_back(ireceive(rank, from, tag));
    called(rank, events::MpiCall::MPI_Sendrecv, true);
    wait(rank, std::move(halves));
    called(rank, events::MpiCall::MPI_Sendrecv, true);
  }
  void wait(std::int32_t rank, std::vector<std::uint32_t> requests) {
    events::Event event;
    event.kind = events::EventKind::kWait;
    event.aux = requests.size();
    add(rank, event, std::move(requests));
  }
  void collective(std::int32_t rank, CollectiveKind kind, std::int32_t root = -1, std::int64_t bytes = 0) {
    events::Event event;
    event.kind = events::EventKind::kCollective;
    event.operation = static_cast<std::uint8_t>(kind);
    event.peer = root;
    event.size = bytes;
    add(rank, event);
  }
  /// A pause that tells something: a kLocal with this operation, peer, tag, size, aux and site, and its list.
  void tell(std::int32_t rank, events::Event event, std::vector<std::int64_t> sizes = {}) {
    event.kind = events::EventKind::kLocal;
    event.extension = static_cast<std::uint32_t>((sizes.size() + 7) / 8);
    const CallSiteId site = event.site;
    add(rank, event);
    streams_[index(rank)].back().event.site = site;
    streams_[index(rank)].back().event.compute_ps -= charge_;  // no call
    streams_[index(rank)].back().sizes = std::move(sizes);
  }
  /// The ordinal of the next call of the rank.
  [[nodiscard]] std::uint64_t next_ordinal(std::int32_t rank) const { return streams_[index(rank)].size(); }
  /// The MPI function of the rank's latest call; `still`: it is the same call as the one before.
  void called(std::int32_t rank, events::MpiCall call, bool still = false) {
    events::Event& event = streams_[index(rank)].back().event;
    event.call = static_cast<std::uint16_t>(call);
    if (still) event.compute_ps -= charge_;
  }
  [[nodiscard]] std::size_t ranks() const { return streams_.size(); }
  void begin_region(std::int32_t rank, std::uint32_t region) {
    regions(events::EventKind::kRegionBegin, rank, region);
  }
  void end_region(std::int32_t rank, std::uint32_t region) {
    regions(events::EventKind::kRegionEnd, rank, region);
  }

  /// Ends the program, runs it, and keeps what a recording would have.
  void record() {
    for (std::size_t r = 0; r < streams_.size(); ++r) {
      events::Event event;
      event.kind = events::EventKind::kFinalize;
      add(static_cast<std::int32_t>(r), event);
    }
    Recorder recorder{recorded_, streams_.size()};
    const auto network = netmodel::parse(kTestNetwork);
    simnode::engine::Options options;
    options.report_all_matches = true;
    simnode::engine::Engine engine{static_cast<int>(streams_.size()), *network.value(), recorder, options};
    Feeder feeder{streams_};
    ASSERT_EQ(simnode::engine::replay(engine, static_cast<int>(streams_.size()), feeder),
              simnode::engine::State::kFinished);
  }

  [[nodiscard]] Play play() const {
    return [this](events::EventSink& sink, bool definitions_only) -> Result<Done> {
      for (std::uint32_t l = 1; l < 100; ++l) {
        const events::Frame frame{"/bin/program", "", l, "f" + std::to_string(l), "/src/program.c", l};
        sink.on_call_path({CallSiteId{l}, {frame}});
        sink.on_call_path(
            {CallSiteId{100 + l}, {frame, {"/bin/program", "", 500, "main", "/src/program.c", 500}}});
      }
      sink.on_region({RegionId{1}, "solve"});
      sink.on_region({RegionId{2}, "exchange"});
      if (!definitions_only) play_events(sink);
      return Done{};
    };
  }

  /// "scale factor=2" and so on, as a chain.
  [[nodiscard]] Result<Chain> chain(const std::vector<std::pair<std::string, std::string>>& steps) const {
    std::vector<Step> parsed;
    for (const auto& [verb, text] : steps) {
      auto step = parse_step(verb, text, "--" + verb);
      if (!step) return step.error();
      parsed.push_back(std::move(step).value());
    }
    return Chain::build(parsed, play(), Duration{charge_});
  }

  /// When each rank ends under the hypothesis, in us; empty if some rank does not.
  [[nodiscard]] std::vector<double> replayed(Chain& chain, const std::string& network = kTestNetwork,
                                             bool weak_progress = false) const {
    const auto model = netmodel::parse(network);
    Nobody nobody;
    simnode::engine::Options options;
    options.trust_entry = false;
    options.weak_progress = weak_progress;
    simnode::engine::Engine engine{static_cast<int>(streams_.size()), *model.value(), nobody, options};
    EventFeed feed{
        streams_.size(), engine, nullptr, nullptr, {std::vector<double>(streams_.size(), 1), true}};
    EXPECT_TRUE(play()(chain.begin(feed), false).ok());
    chain.finish();
    feed.finish();
    std::vector<double> ends;
    if (engine.state() != simnode::engine::State::kFinished) return ends;
    for (std::size_t r = 0; r < streams_.size(); ++r)
      ends.push_back(
          static_cast<double>(engine.clock(RankId{static_cast<std::int32_t>(r)}).time_since_epoch().count()) /
          kUs);
    return ends;
  }
  [[nodiscard]] std::vector<double> replayed(
      const std::vector<std::pair<std::string, std::string>>& steps) const {
    auto built = chain(steps);
    EXPECT_TRUE(built.ok()) << (built.ok() ? "" : built.error().what + "; " + built.error().remedy);
    return built.ok() ? replayed(built.value()) : std::vector<double>{};
  }
  /// What the user is told: "what; remedy"; empty if it can be done.
  [[nodiscard]] std::string refused(const std::vector<std::pair<std::string, std::string>>& steps) const {
    const auto built = chain(steps);
    return built.ok() ? "" : built.error().what + "; " + built.error().remedy;
  }

 private:
  struct Made {
    events::Event event;
    std::vector<std::uint32_t> words;
    std::vector<std::int64_t> sizes = {};
  };
  struct Recorded {
    RankId rank;
    Made made;
    Time exit{};
    events::Answer answer;
    std::vector<std::uint32_t> completed;
    std::uint64_t ordinal = 0;
    bool match = false;
  };
  class Nobody final : public simnode::engine::Listener {
    void on_exit(const events::TimedEvent&) override {}
    void on_match(RankId, const events::Answer&) override {}
  };
  class Recorder final : public simnode::engine::Listener {
   public:
    Recorder(std::vector<Recorded>& out, std::size_t ranks) : out_{out}, ordinals_(ranks, 0) {}
    void on_exit(const events::TimedEvent& t) override {
      out_.push_back({t.rank,
                      {t.event,
                       {t.extension.words.begin(), t.extension.words.end()},
                       {t.extension.sizes.begin(), t.extension.sizes.end()}},
                      t.exit,
                      t.answer,
                      {t.completed.begin(), t.completed.end()},
                      ordinals_[t.rank.index()]++,
                      false});
    }
    void on_match(RankId receiver, const events::Answer& match) override {
      out_.push_back({receiver, {}, {}, match, {}, 0, true});
    }

   private:
    std::vector<Recorded>& out_;
    std::vector<std::uint64_t> ordinals_;
  };
  class Feeder final : public simnode::engine::Streams {
   public:
    explicit Feeder(const std::vector<std::vector<Made>>& streams)
        : streams_{streams}, at_(streams.size(), 0) {}
    const events::Event* next(RankId rank, events::Extension& extension) override {
      const auto& stream = streams_[rank.index()];
      if (at_[rank.index()] == stream.size()) return nullptr;
      const Made& made = stream[at_[rank.index()]++];
      extension = {made.words, made.sizes};
      return &made.event;
    }

   private:
    const std::vector<std::vector<Made>>& streams_;
    std::vector<std::size_t> at_;
  };

  static std::size_t index(std::int32_t rank) { return static_cast<std::size_t>(rank); }

  std::uint32_t message(events::EventKind kind, std::int32_t rank, std::int32_t peer, std::int64_t bytes,
                        std::int32_t tag) {
    events::Event event;
    event.kind = kind;
    event.peer = peer;
    event.tag = tag;
    event.size = bytes;
    const bool immediate = kind == events::EventKind::kIsend || kind == events::EventKind::kIrecv;
    if (immediate) event.request = RequestId{++requests_[index(rank)]};
    add(rank, event);
    return event.request.value;
  }
  void regions(events::EventKind kind, std::int32_t rank, std::uint32_t region) {
    events::Event event;
    event.kind = kind;
    event.aux = region;
    const std::uint32_t site = std::exchange(sites_[index(rank)], 0);
    add(rank, event);
    sites_[index(rank)] = site;
  }
  void add(std::int32_t rank, events::Event event, std::vector<std::uint32_t> words = {}) {
    event.compute_ps = std::exchange(pending_[index(rank)], 0) + charge_;
    event.site = CallSiteId{sites_[index(rank)]};
    streams_[index(rank)].push_back({event, std::move(words)});
  }
  void play_events(events::EventSink& sink) const {
    for (const Recorded& r : recorded_) {
      if (r.match)
        sink.on_match(r.rank, r.answer);
      else
        sink.on_event({r.rank,
                       r.made.event,
                       {r.made.words, r.made.sizes},
                       r.exit,
                       r.answer,
                       r.completed,
                       nullptr,
                       r.ordinal});
    }
  }

  std::int64_t charge_ = 0;  // ps
  std::vector<std::vector<Made>> streams_;
  std::vector<std::int64_t> pending_;
  std::vector<std::uint32_t> requests_;
  std::vector<std::uint32_t> sites_;
  std::vector<Recorded> recorded_;
};

}  // namespace nplus1::hypothesis::transform
