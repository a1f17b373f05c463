// What is counted live is what is counted from the recording: the same events, twice.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <random>

#include "events/recording/reader.hpp"
#include "events/recording/writer.hpp"
#include "patterns/patterns_json.hpp"
#include "patterns/testing/streams.hpp"

namespace nplus1::patterns {
namespace {

namespace recording = events::recording;

constexpr std::int32_t kRanks = 9;

/// Feeds both sinks with the same 20,000 calls.
class Both {
 public:
  Both(events::EventSink& first, events::EventSink& second) : sinks_{&first, &second}, clock_(kRanks) {
    for (events::EventSink* sink : sinks_) {
      sink->on_communicator({CommId{0}, ranks(0, kRanks)});
      sink->on_communicator({CommId{1}, ranks(3, 4)});
      sink->on_call_path({CallSiteId{1}, {{"/bin/app", "ab", 99, "main", "app.c", 12}}});
    }
  }
  void feed_all() {
    for (int i = 0; i < 20000; ++i) step();
  }

 private:
  static std::vector<RankId> ranks(std::int32_t first, std::int32_t count) {
    std::vector<RankId> result;
    for (std::int32_t r = first; r < first + count; ++r) result.emplace_back(r);
    return result;
  }
  std::int32_t below(std::int32_t limit) {
    return static_cast<std::int32_t>(random_() % static_cast<unsigned>(limit));
  }

  void step() {
    const std::int32_t rank = below(kRanks);
    const std::int64_t compute = below(3000) * 1000;
    Event event;
    switch (below(4)) {
      case 0:
        event = send_event(below(kRanks), below(100000));
        event.site = CallSiteId{1};
        break;
      case 1:
        event = call(EventKind::kRecv);
        event.peer = below(kRanks);
        break;
      case 2:
        event = collective_event(CollectiveKind::kAllreduce, -1, 8 * below(5));
        break;
      default:
        event = rank >= 3 && rank < 7 ? collective_event(CollectiveKind::kBcast, below(4), 64, CommId{1})
                                      : send_event(below(kRanks), 8, EventKind::kIsend);
    }
    emit(rank, event, compute);
  }

  void emit(std::int32_t rank, Event event, std::int64_t compute) {
    std::int64_t& clock = clock_[static_cast<std::size_t>(rank)];
    event.compute_ps = compute;
    event.entry_ps = clock + compute;
    clock = event.entry_ps + below(1000) * 1000;
    events::Detail detail;
    detail.count = event.size / 8;
    events::Answer answer;
    answer.kind = events::AnswerKind::kExit;
    answer.exit_ps = clock;
    for (events::EventSink* sink : sinks_)
      sink->on_event({RankId{rank}, event, {}, Time{Duration{clock}}, answer, {}, &detail});
  }

  std::array<events::EventSink*, 2> sinks_;
  std::vector<std::int64_t> clock_;
  std::mt19937 random_{1};
};

TEST(Recorded, PatternsEqualTheLiveOnesKeyByKey) {
  std::string name = (std::filesystem::temp_directory_path() / "nplus1-patterns-XXXXXX").string();
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  const std::filesystem::path folder{name};
  MessageStatistics live{kRanks};
  auto writer = recording::Writer::create(folder / "recording", {kRanks, {}});
  ASSERT_TRUE(writer.ok());
  Both{live, *writer.value()}.feed_all();
  ASSERT_FALSE(writer.value()->close().has_value());
  auto reader = recording::Reader::open(folder);
  ASSERT_TRUE(reader.ok());
  MessageStatistics recorded{kRanks};
  const auto coverage = reader.value().read(recorded);
  ASSERT_TRUE(coverage.ok() && coverage.value().complete);
  EXPECT_GT(live.patterns().totals().messages_sent, 5000U);
  EXPECT_EQ(patterns_json(recorded.patterns()), patterns_json(live.patterns()));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace nplus1::patterns
