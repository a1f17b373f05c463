// What a file may claim, and what it may not: each claim that an analysis would otherwise index, add or loop by.
#include "events/checked_sink.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <iterator>
#include <limits>
#include <random>
#include <utility>

namespace nplus1::events {
namespace {

constexpr std::int32_t kRanks = 4;

class Counting : public EventSink {
 public:
  void on_event(const TimedEvent& /*event*/) override { ++told; }
  void on_match(RankId /*receiver*/, const Answer& /*match*/) override { ++told; }
  void on_communicator(const Communicator& /*c*/) override { ++told; }
  void on_call_path(const CallPath& /*p*/) override { ++told; }
  void on_region(const Region& /*r*/) override { ++told; }
  void on_datatype(const Datatype& /*d*/) override { ++told; }
  int told = 0;
};

/// An event that owns its lists; sound as it stands.
struct Made {
  RankId rank{1};
  Event event;
  std::vector<std::uint32_t> words;
  std::vector<std::int64_t> sizes;
  std::vector<std::uint32_t> completed;
  Answer answer;
  Detail detail;
  std::int64_t exit = 10;
  std::uint64_t ordinal = 0;

  [[nodiscard]] TimedEvent timed() const {
    return {rank, event, {words, sizes}, Time{Duration{exit}}, answer, completed, &detail, ordinal};
  }
};

Made of_kind(EventKind kind) {
  Made made;
  made.event.kind = kind;
  made.event.size = 8;
  return made;
}

Made wait_for(std::vector<std::uint32_t> requests) {
  Made made = of_kind(EventKind::kWait);
  made.event.size = 0;
  made.event.aux = requests.size();
  made.words = std::move(requests);
  made.event.operation = static_cast<std::uint8_t>(CompletionMode::kSome);
  return made;
}

Made collective(CollectiveKind kind, std::uint32_t comm = 0) {
  Made made = of_kind(EventKind::kCollective);
  made.event.operation = static_cast<std::uint8_t>(kind);
  made.event.comm = CommId{comm};
  return made;
}

/// The first thing that was wrong; "" if nothing was.
std::string trouble(const Made& made, std::uint64_t file_bytes = 1000) {
  Counting counting;
  CheckedSink checked{kRanks, file_bytes, counting};
  checked.on_communicator({CommId{1}, {RankId{3}, RankId{1}}, 0});
  checked.on_communicator({CommId{2}, {RankId{0}, RankId{1}, RankId{2}}, 2});
  const int before = counting.told;
  checked.on_event(made.timed());
  EXPECT_EQ(counting.told - before, checked.trouble() ? 0 : 1);
  return checked.trouble().value_or("");
}

std::string changed(Made made, const std::function<void(Made&)>& change) {
  EXPECT_EQ(trouble(made), "");
  change(made);
  return trouble(made);
}

TEST(CheckedSink, RefusesRanksPeersAndKindsThatThereAreNot) {
  EXPECT_EQ(changed(of_kind(EventKind::kSend), [](Made& m) { m.rank = RankId{4}; }), "there is no rank 4");
  EXPECT_EQ(changed(of_kind(EventKind::kSend), [](Made& m) { m.event.peer = 4; }), "there is no peer 4");
  EXPECT_EQ(changed(of_kind(EventKind::kIsend), [](Made& m) { m.event.peer = -1; }), "there is no peer -1");
  EXPECT_EQ(changed(of_kind(EventKind::kRecv), [](Made& m) { m.event.peer = -3; }), "there is no peer -3");
  EXPECT_EQ(changed(of_kind(EventKind::kRecv), [](Made& m) { m.answer.source = 9; }), "there is no source 9");
  EXPECT_EQ(trouble(of_kind(EventKind::kCommDefine)), "there is no kind of event 13");
  EXPECT_EQ(trouble(of_kind(EventKind::kNone)), "there is no kind of event 0");
}

TEST(CheckedSink, PassesOverKindsOfANewerVersion) {
  Counting counting;
  CheckedSink checked{kRanks, 1000, counting};
  checked.on_event(of_kind(static_cast<EventKind>(200)).timed());
  EXPECT_FALSE(checked.trouble());
  EXPECT_EQ(counting.told, 0);
}

TEST(CheckedSink, RefusesAPositionBehindTheListOfRequests) {
  const auto with = [](std::vector<std::uint32_t> completed) {
    return changed(wait_for({7, 8}), [&](Made& m) { m.completed = std::move(completed); });
  };
  EXPECT_EQ(with({0, 1}), "");
  EXPECT_EQ(with({2}), "there is no request at position 2");
  EXPECT_EQ(with({4000000000}), "there is no request at position 4000000000");
  EXPECT_EQ(with({0, 1, 0}), "more requests completed than there are: 3");
  EXPECT_EQ(changed(wait_for({7}), [](Made& m) { m.answer.index = 5; }), "there is no request at position 5");
  EXPECT_EQ(changed(wait_for({7}), [](Made& m) { m.event.aux = 9; }),
            "a list of requests whose length is not 9");
  EXPECT_NE(changed(of_kind(EventKind::kSend), [](Made& m) { m.completed = {0}; }), "");
}

TEST(CheckedSink, RefusesOneSidedCallsThatDoNotFitTheirWindow) {
  Made put = of_kind(EventKind::kOneSided);
  put.event.comm = CommId{1};
  EXPECT_EQ(changed(put, [](Made& m) { m.event.peer = kProcNull.value; }), "");
  EXPECT_EQ(changed(put, [](Made& m) { m.event.peer = 4; }), "there is no target 4");
  EXPECT_EQ(changed(put, [](Made& m) { m.event.operation = 6; }), "there is no one-sided operation 6");
  EXPECT_EQ(changed(put, [](Made& m) { m.event.comm = CommId{3}; }), "there is no window 3");
  EXPECT_EQ(changed(put, [](Made& m) { m.rank = RankId{2}; }), "there is no window 1");
  EXPECT_EQ(changed(put, [](Made& m) { m.event.aux = std::uint64_t{1} << 48U; }),
            "a transfer of 281474976710656");
  Made post = of_kind(EventKind::kWindowSync);
  post.event.operation = static_cast<std::uint8_t>(WindowSync::kPost);
  post.event.aux = 2;
  post.words = {0, 3};
  EXPECT_EQ(changed(post, [](Made& m) { m.words[1] = 4; }), "there is no rank 4");
  EXPECT_EQ(changed(post, [](Made& m) { m.words.pop_back(); }), "a group whose members are not 2");
  EXPECT_EQ(changed(post, [](Made& m) { m.event.operation = 14; }), "there is no one-sided operation 14");
}

TEST(CheckedSink, RefusesAccessesThatDoNotFitTheirFile) {
  Made access = of_kind(EventKind::kFileAccess);
  access.event.operation = static_cast<std::uint8_t>(FileOperation::kWrite);
  access.event.comm = CommId{1};
  access.event.aux = ~std::uint64_t{0};  // wherever in the file
  EXPECT_EQ(changed(access, [](Made&) {}), "");
  EXPECT_EQ(changed(access, [](Made& m) { m.event.operation = 6; }), "there is no file operation 6");
  EXPECT_EQ(changed(access, [](Made& m) { m.event.tag = 16; }), "there is no file access with the bits 16");
  EXPECT_EQ(changed(access, [](Made& m) { m.event.comm = CommId{3}; }), "there is no file 3");
  EXPECT_EQ(changed(access, [](Made& m) { m.rank = RankId{2}; }), "there is no file 1");
  access.event.operation = static_cast<std::uint8_t>(FileOperation::kOpen);
  EXPECT_EQ(trouble(access), "there is no region -1");
}

TEST(CheckedSink, RefusesSizesThatNoProcessCouldHold) {
  for (const std::int64_t size :
       {std::int64_t{-1}, kMostBytes + 1, std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_NE(changed(of_kind(EventKind::kSend), [&](Made& m) { m.event.size = size; }), "");
    EXPECT_NE(changed(of_kind(EventKind::kRecv), [&](Made& m) { m.answer.size = size; }), "");
    EXPECT_NE(changed(collective(CollectiveKind::kAllgatherv),
                      [&](Made& m) {
                        m.sizes = {1, 1, 1, size};
                      }),
              "");
  }
  EXPECT_NE(changed(of_kind(EventKind::kSend),
                    [](Made& m) {
                      m.detail.content = kHasPayload;
                      m.event.size = 65;
                    }),
            "");
}

TEST(CheckedSink, KeepsSumsOfSizesWithinWhatNumbersHold) {
  Counting counting;
  CheckedSink checked{kRanks, 1000, counting};
  Made large = of_kind(EventKind::kSend);
  large.event.size = kMostBytes;
  for (int i = 0; i < 1 << 12U && !checked.trouble(); ++i) checked.on_event(large.timed());
  EXPECT_TRUE(checked.trouble());
  EXPECT_LE(static_cast<double>(counting.told) * static_cast<double>(kMostBytes), 0x1p58);
}

TEST(CheckedSink, RefusesACollectiveThatDoesNotFitItsCommunicator) {
  using Kind = CollectiveKind;
  EXPECT_EQ(trouble(collective(Kind::kBarrier, 1)), "");
  EXPECT_EQ(trouble(collective(Kind::kBarrier, 9)), "there is no communicator 9");
  EXPECT_EQ(changed(collective(Kind::kBarrier, 1), [](Made& m) { m.rank = RankId{2}; }),
            "a collective on a communicator without rank 2");
  EXPECT_EQ(changed(collective(Kind::kBarrier), [](Made& m) { m.event.operation = 19; }),
            "there is no collective 19");
  EXPECT_EQ(changed(collective(Kind::kBcast, 1), [](Made& m) { m.event.peer = 2; }), "there is no root 2");
  EXPECT_EQ(changed(collective(Kind::kBcast, 2), [](Made& m) { m.event.peer = 1; }), "there is no root 1");
  EXPECT_EQ(changed(collective(Kind::kBcast, 2), [](Made& m) { m.event.peer = kIntercommRoot; }), "");
  EXPECT_NE(changed(collective(Kind::kAllgatherv), [](Made& m) { m.sizes = {1, 2, 3}; }), "");
  EXPECT_EQ(changed(collective(Kind::kAlltoallv), [](Made& m) { m.sizes.assign(8, 1); }), "");
  EXPECT_EQ(changed(collective(Kind::kAllgather, 2), [](Made& m) { m.sizes = {1}; }), "");
  EXPECT_NE(changed(collective(Kind::kAlltoallv, 2), [](Made& m) { m.rank = RankId{2}, m.sizes = {1}; }), "");
}

TEST(CheckedSink, RefusesNeighboursBeyondTheListOrTheCommunicator) {
  Made sound = collective(CollectiveKind::kNeighborAlltoall);
  sound.words = {1, 2, 3, 0, 1};
  EXPECT_EQ(changed(sound, [](Made& m) { m.words[4] = 3; }), "");
  EXPECT_EQ(changed(sound, [](Made& m) { m.words[4] = 4; }), "there is no neighbour 4");
  EXPECT_NE(changed(sound, [](Made& m) { m.words[0] = 0xffffffff; }), "");
  EXPECT_NE(changed(sound, [](Made& m) { m.words.clear(); }), "");
  EXPECT_NE(changed(sound, [](Made& m) { m.words = {1, 1, 0, 0, 0xffffffff, 0xffffffff}; }), "");
}

Made access(Access which, std::vector<std::int64_t> distance = {}) {
  Made made = of_kind(EventKind::kLocal);
  made.event.operation = static_cast<std::uint8_t>(which);
  made.event.peer = static_cast<std::int32_t>(Toucher::kEnd);
  made.event.tag = kInexactAccess | kWriteAccess;
  made.event.aux = 7;
  made.sizes = std::move(distance);
  return made;
}

TEST(CheckedSink, TakesAccessesWhoseToucherBitsAndDistanceCanBe) {
  for (const Access which :
       {Access::kFirstTouch, Access::kFirstWrite, Access::kEarlyTouch, Access::kStatusUse}) {
    EXPECT_TRUE(is_access(access(which).event));
    EXPECT_EQ(trouble(access(which)), "");
    EXPECT_EQ(changed(access(which), [](Made& m) { m.sizes = {1}; }), "an access whose distances number 1");
  }
  EXPECT_FALSE(is_access(of_kind(EventKind::kLocal).event));
  const Made last = access(Access::kLastTouch, {5});
  EXPECT_EQ(trouble(last), "");
  EXPECT_EQ(changed(last, [](Made& m) { m.event.peer = 5; }), "there is no toucher 5");
  EXPECT_EQ(changed(last, [](Made& m) { m.event.tag = 4; }), "there is no access with the bits 4");
  EXPECT_EQ(changed(last, [](Made& m) { m.sizes = {-1}; }), "an access at the distance -1");
  EXPECT_EQ(changed(last, [](Made& m) { m.sizes.clear(); }), "an access whose distances number 0");
  EXPECT_NE(changed(last, [](Made& m) { m.event.aux = ~std::uint64_t{0}; }), "");
}

TEST(CheckedSink, RefusesTimesWithoutRoomForAddingToThem) {
  EXPECT_NE(changed(of_kind(EventKind::kLocal), [](Made& m) { m.exit = -1; }), "");
  EXPECT_NE(changed(of_kind(EventKind::kLocal), [](Made& m) { m.exit = kLatest + 1; }), "");
  EXPECT_EQ(
      changed(of_kind(EventKind::kLocal), [](Made& m) { m.exit = kUnfinished.time_since_epoch().count(); }),
      "");
  EXPECT_NE(changed(of_kind(EventKind::kLocal), [](Made& m) { m.event.compute_ps = -kLatest - 1; }), "");
  EXPECT_NE(changed(of_kind(EventKind::kLocal),
                    [](Made& m) { m.event.entry_ps = std::numeric_limits<std::int64_t>::min(); }),
            "");
}

TEST(CheckedSink, LetsIdsAndThreadsCostNoMoreThanTheFileHasRoomFor) {
  EXPECT_EQ(changed(of_kind(EventKind::kSend), [](Made& m) { m.event.comm = CommId{1000}; }), "");
  EXPECT_EQ(changed(of_kind(EventKind::kSend), [](Made& m) { m.event.comm = CommId{0xffffffff}; }),
            "there is no communicator 4294967295");
  EXPECT_EQ(changed(of_kind(EventKind::kSend), [](Made& m) { m.event.site = CallSiteId{0xffffffff}; }),
            "there is no call path 4294967295");
  EXPECT_NE(changed(of_kind(EventKind::kRegionBegin), [](Made& m) { m.event.aux = ~std::uint64_t{0}; }), "");
  EXPECT_NE(changed(of_kind(EventKind::kSend), [](Made& m) { m.detail.datatype = DatatypeId{0xfffffff0}; }),
            "");
  EXPECT_NE(changed(of_kind(EventKind::kSend), [](Made& m) { m.ordinal = ~std::uint64_t{0}; }), "");
  EXPECT_NE(changed(of_kind(EventKind::kSend), [](Made& m) { m.answer.sequence = ~std::uint64_t{0}; }), "");
  Counting counting;
  CheckedSink checked{1 << 16U, 1000, counting};
  Made thread = of_kind(EventKind::kLocal);
  thread.event.thread = ThreadId{65535};
  int ranks = 0;
  for (; ranks < 1000 && !checked.trouble(); ++ranks) {
    thread.rank = RankId{ranks};
    checked.on_event(thread.timed());
  }
  EXPECT_GT(ranks, 4);
  EXPECT_LT(ranks, 20);
}

TEST(CheckedSink, LetsNobodyRunAheadInCollectivesFurtherThanTheFileHasRoomFor) {
  Counting counting;
  CheckedSink checked{1 << 16U, 1000, counting};
  const Made alone = collective(CollectiveKind::kAllreduce);
  for (int i = 0; i < 1000; ++i) checked.on_event(alone.timed());
  EXPECT_TRUE(checked.trouble());
  EXPECT_LT(counting.told, 100);

  CheckedSink together{kRanks, 1000, counting};
  for (int i = 0; i < 400'000; ++i) {
    Made one = alone;
    for (one.rank.value = 0; one.rank.value < kRanks; ++one.rank.value) together.on_event(one.timed());
  }
  EXPECT_FALSE(together.trouble()) << *together.trouble();
}

TEST(CheckedSink, RefusesCommunicatorsThatCannotBe) {
  const auto refused = [](const std::vector<Communicator>& all) {
    Counting counting;
    CheckedSink checked{kRanks, 1000, counting};
    for (const Communicator& c : all) checked.on_communicator(c);
    return checked.trouble().has_value();
  };
  EXPECT_FALSE(refused({{CommId{1}, {RankId{2}, RankId{0}}, 1}, {CommId{1}, {RankId{2}, RankId{0}}, 1}}));
  EXPECT_TRUE(refused({{CommId{1}, {RankId{2}, RankId{2}}, 0}}));
  EXPECT_TRUE(refused({{CommId{1}, {RankId{4}}, 0}}));
  EXPECT_TRUE(refused({{CommId{1}, {RankId{2}, RankId{0}}, 2}}));
  EXPECT_TRUE(refused({{CommId{1}, {RankId{2}}, 0}, {CommId{1}, {RankId{3}}, 0}}));
  EXPECT_TRUE(refused({{CommId{0}, {RankId{0}, RankId{1}}, 0}}));
  EXPECT_TRUE(refused({{CommId{1U << 30U}, {RankId{2}}, 0}}));

  std::vector<RankId> everybody(1 << 16U);
  for (std::size_t i = 0; i < everybody.size(); ++i) everybody[i] = RankId{static_cast<std::int32_t>(i)};
  Counting counting;
  CheckedSink checked{1 << 16U, 1000, counting};
  for (std::uint32_t i = 1; i <= 1000; ++i) checked.on_communicator({CommId{i}, everybody, 0});
  EXPECT_TRUE(checked.trouble());
  EXPECT_LT(counting.told, 100);
}

TEST(CheckedSink, GivesRanksByTheSizeOfTheFile) {
  EXPECT_EQ(most_ranks(0), 1 << 16U);
  EXPECT_EQ(most_ranks(1'000'000), 1'000'000);
  EXPECT_EQ(most_ranks(1ULL << 40U), 1 << 24U);
}

/// Numbers around every bound there is, and sound ones, so that about half of all events hold.
template <class T>
T around_a_bound(std::mt19937& random) {
  constexpr std::int64_t kBounds[] = {0, 0, 0, 1, 2, 3, 4, 8, 10, 64, 0xff, kMostBytes, kLatest, -kLatest};
  const std::int64_t bound = kBounds[random() % std::size(kBounds)];
  if (random() % 4 != 0) return static_cast<T>(random() % 3);
  if (random() % 40 == 0)
    return random() % 2 == 0 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
  return static_cast<T>(bound + static_cast<std::int64_t>(random() % 5) - 2);
}

Made of_plain_kind(std::mt19937& random) {
  constexpr EventKind kPlain[] = {EventKind::kSend,  EventKind::kIsend,  EventKind::kRecv, EventKind::kIrecv,
                                  EventKind::kProbe, EventKind::kIprobe, EventKind::kWait, EventKind::kTest};
  Made made = of_kind(kPlain[random() % std::size(kPlain)]);
  made.exit = 1 << 20;
  made.words.resize(random() % 4);
  made.completed.resize(random() % 8 == 0 ? random() % 4 : 0);
  made.event.aux = made.words.size();
  for (int change = 0; change < 3; ++change) {
    switch (random() % 16) {
      case 0:
        made.rank = RankId{around_a_bound<std::int32_t>(random)};
        break;
      case 1:
        made.event.peer = around_a_bound<std::int32_t>(random);
        break;
      case 2:
        made.event.size = around_a_bound<std::int64_t>(random);
        break;
      case 3:
        made.event.comm = CommId{around_a_bound<std::uint32_t>(random)};
        break;
      case 4:
        made.event.site = CallSiteId{around_a_bound<std::uint32_t>(random)};
        break;
      case 5:
        made.event.operation = around_a_bound<std::uint8_t>(random);
        break;
      case 6:
        made.event.entry_ps = around_a_bound<std::int64_t>(random);
        break;
      case 7:
        made.event.compute_ps = around_a_bound<std::int64_t>(random);
        break;
      case 8:
        made.event.aux = around_a_bound<std::uint64_t>(random);
        break;
      case 9:
        made.exit = around_a_bound<std::int64_t>(random);
        break;
      case 10:
        made.ordinal = around_a_bound<std::uint64_t>(random);
        break;
      case 11:
        made.answer.source = around_a_bound<std::int32_t>(random);
        break;
      case 12:
        made.answer.size = around_a_bound<std::int64_t>(random);
        break;
      case 13:
        made.answer.sequence = around_a_bound<std::uint64_t>(random);
        break;
      case 14:
        made.answer.index = around_a_bound<std::int32_t>(random);
        break;
      default:
        made.answer.exit_ps = around_a_bound<std::int64_t>(random);
        made.detail.datatype = DatatypeId{around_a_bound<std::uint32_t>(random)};
        made.detail.content = random() % 2 == 0 ? std::uint8_t{kHasPayload} : std::uint8_t{0};
    }
  }
  return made;
}

/// What is wrong with it and with a match of the same numbers, checked one by one: what a second thread does is not plain.
std::pair<std::string, std::string> checked_one_by_one(Made made, bool one_by_one) {
  Counting counting;
  CheckedSink events{kRanks, 1000, counting};
  CheckedSink matches{kRanks, 1000, counting};
  made.event.thread = made.answer.thread = ThreadId{static_cast<std::uint16_t>(one_by_one ? 1 : 0)};
  events.on_event(made.timed());
  matches.on_match(made.rank, made.answer);
  EXPECT_EQ(counting.told, (events.trouble() ? 0 : 1) + (matches.trouble() ? 0 : 1));
  return {events.trouble().value_or(""), matches.trouble().value_or("")};
}

TEST(CheckedSink, LetsThroughAtAGlanceOnlyWhatTheChecksOneByOneLetThrough) {
  std::mt19937 random{12};
  int held = 0;
  constexpr int kEvents = 50000;
  for (int i = 0; i < kEvents; ++i) {
    const Made made = of_plain_kind(random);
    const auto at_a_glance = checked_one_by_one(made, false);
    ASSERT_EQ(at_a_glance, checked_one_by_one(made, true)) << "event " << i;
    held += at_a_glance.first.empty() ? 1 : 0;
  }
  EXPECT_GT(held, kEvents / 4);
  EXPECT_LT(held, kEvents * 3 / 4);
}

TEST(CheckedSink, CountsTheBytesOfPlainSendsToo) {
  Counting counting;
  CheckedSink checked{kRanks, 1000, counting};
  Made made = of_kind(EventKind::kSend);
  made.event.size = kMostBytes - 1;
  for (int i = 0; i < 1 << 11 && !checked.trouble(); ++i) checked.on_event(made.timed());
  EXPECT_FALSE(checked.trouble());
  for (int i = 0; i < 8 && !checked.trouble(); ++i) checked.on_event(made.timed());
  EXPECT_NE(checked.trouble().value_or("").find("more bytes in all"), std::string::npos);
}

}  // namespace
}  // namespace nplus1::events
