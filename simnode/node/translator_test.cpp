#include "simnode/node/translator.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "events/checked_sink.hpp"
#include "events/thread_change.hpp"

namespace nplus1::simnode::node {
namespace {

using events::Event;
using events::EventKind;

class TranslatorTest : public testing::Test, public engine::Listener, public events::EventSink {
 protected:
  TranslatorTest() {
    define(0, 0, kWorld, {0, 1, 2});
    define(1, 0, kWorld, {0, 1, 2});
    define(2, 0, kWorld, {0, 1, 2});
  }

  void on_exit(const events::TimedEvent& event) override { seen_.push_back(event.event); }
  void on_match(RankId, const events::Answer&) override {}
  void on_event(const events::TimedEvent&) override {}
  void on_communicator(const events::Communicator& comm) override {
    defined_.push_back(comm.id.value);
    members_ = comm.members;
  }
  void on_call_path(const events::CallPath& path) override { paths_.push_back(path); }

  /// `number` is the rank's own, `key` everybody's.
  void define(int rank, std::uint32_t number, std::uint64_t key, const std::vector<std::int32_t>& members) {
    Event event;
    event.kind = EventKind::kCommDefine;
    event.comm = CommId{number};
    event.aux = key;
    event.size = static_cast<std::int64_t>(members.size());
    give(rank, event, members.data(), members.size() * sizeof(members[0]));
  }
  void free(int rank, std::uint32_t number, std::uint64_t key) {
    Event event;
    event.kind = EventKind::kCommDefine;
    event.operation = 1;
    event.comm = CommId{number};
    event.aux = key;
    give(rank, event, nullptr, 0);
  }
  void barrier(int rank, std::uint32_t number) {
    Event event;
    event.kind = EventKind::kCollective;
    event.operation = static_cast<std::uint8_t>(CollectiveKind::kBarrier);
    event.comm = CommId{number};
    event.peer = -1;
    give(rank, event, nullptr, 0);
  }
  /// Whether the engine knows the communicator: what it says to a call by rank 1, which is no member.
  bool knows(std::uint32_t comm) {
    Event event;
    event.kind = EventKind::kCollective;
    event.comm = CommId{comm};
    try {
      engine_.push(RankId{1}, event, {});
    } catch (const std::invalid_argument& error) {
      return std::string{error.what()}.find("never defined") == std::string::npos;
    }
    return true;
  }
  void give(int rank, Event event, const void* data, std::size_t bytes) {
    std::vector<std::byte> extension(bytes);
    if (bytes > 0) std::memcpy(extension.data(), data, bytes);
    if (translator_.take(RankId{rank}, event, extension, *this))
      translator_.push(RankId{rank}, event, extension);
  }

  static constexpr std::uint64_t kWorld = 0x1111;
  std::unique_ptr<netmodel::NetworkModel> network_ = std::move(netmodel::parse("lsb")).value();
  engine::Engine engine_{3, *network_, *this};
  Translator translator_{3, engine_};
  std::vector<Event> seen_;
  std::vector<std::uint32_t> defined_;
  std::vector<RankId> members_;  // of the last communicator that was defined
  std::vector<events::CallPath> paths_;
};

TEST_F(TranslatorTest, KnowsTheWorldAsNumberZeroAndSaysSoOnce) {
  EXPECT_EQ(defined_, std::vector<std::uint32_t>{0});
}

TEST_F(TranslatorTest, RanksThatNumberACommunicatorDifferentlyMeetOnIt) {
  define(0, 5, 0x2222, {0, 2});
  define(2, 9, 0x2222, {0, 2});
  EXPECT_EQ(members_, (std::vector{RankId{0}, RankId{2}}));
  barrier(0, 5);
  EXPECT_TRUE(seen_.empty());
  barrier(2, 9);
  ASSERT_EQ(seen_.size(), 2u);
  EXPECT_EQ(seen_[0].comm, CommId{1});
  EXPECT_EQ(seen_[1].comm, CommId{1});
}

TEST_F(TranslatorTest, OneNumberMayMeanDifferentCommunicatorsOnDifferentRanks) {
  define(0, 3, 0xaaaa, {0});
  define(1, 3, 0xbbbb, {1});
  barrier(0, 3);
  barrier(1, 3);
  ASSERT_EQ(seen_.size(), 2u);
  EXPECT_NE(seen_[0].comm, seen_[1].comm);
}

TEST_F(TranslatorTest, ForgetsACommunicatorWithTheLastMemberThatFreesItAndHasMadeItsCalls) {
  define(0, 5, 0x2222, {0, 2});
  define(2, 9, 0x2222, {0, 2});
  barrier(0, 5);
  free(0, 5, 0x2222);
  EXPECT_TRUE(knows(1));
  barrier(2, 9);
  EXPECT_EQ(seen_.size(), 2u);
  EXPECT_TRUE(knows(1));
  free(2, 9, 0x2222);
  EXPECT_FALSE(knows(1));
  free(2, 9, 0x2222);  // once more: nothing
  define(0, 5, 0x2222, {0, 2});
  EXPECT_TRUE(knows(2));
}

TEST_F(TranslatorTest, OneCallPathHasOneNumberWhateverTheRanksCallIt) {
  const std::string text = "/usr/bin/app+0x1a2b 00ff\n/usr/lib/libc.so.6+0x10";
  Event define;
  define.kind = EventKind::kSiteDefine;
  define.aux = text.size();
  std::vector<char> padded(64, '\0');
  std::memcpy(padded.data(), text.data(), text.size());
  define.site = CallSiteId{4};
  give(1, define, padded.data(), padded.size());
  define.site = CallSiteId{2};
  give(0, define, padded.data(), padded.size());
  Event send;
  send.kind = EventKind::kSend;
  send.peer = kProcNull.value;
  send.site = CallSiteId{4};
  give(1, send, nullptr, 0);
  send.site = CallSiteId{2};
  give(0, send, nullptr, 0);
  ASSERT_EQ(paths_.size(), 1u);
  ASSERT_EQ(paths_[0].frames.size(), 2u);
  EXPECT_EQ(paths_[0].frames[0].module, "/usr/bin/app");
  EXPECT_EQ(paths_[0].frames[0].offset, 0x1a2bu);
  EXPECT_EQ(paths_[0].frames[0].build_id, "00ff");
  EXPECT_EQ(paths_[0].frames[1].module, "/usr/lib/libc.so.6");
  ASSERT_EQ(seen_.size(), 2u);
  EXPECT_EQ(seen_[0].site, paths_[0].id);
  EXPECT_EQ(seen_[1].site, paths_[0].id);
}

TEST_F(TranslatorTest, RefusesKindsAndPeersThatDoNotExist) {
  const auto give_event = [this](EventKind kind, std::int32_t peer) {
    Event event;
    event.kind = kind;
    event.peer = peer;
    give(0, event, nullptr, 0);
  };
  EXPECT_NO_THROW(give_event(EventKind::kSend, 1));
  EXPECT_THROW(give_event(static_cast<EventKind>(200), 1), std::invalid_argument);
  for (const std::int32_t peer : {3, 1 << 30, -4})
    EXPECT_THROW(give_event(EventKind::kSend, peer), std::invalid_argument) << peer;
}

TEST_F(TranslatorTest, RefusesTimesAndSizesWhoseSumsDoNotFit) {
  constexpr std::int64_t kHalf = events::kLatest / 2;
  Event event;
  event.kind = EventKind::kSend;
  event.peer = 1;
  event.compute_ps = kHalf;
  EXPECT_NO_THROW(give(0, event, nullptr, 0));
  EXPECT_THROW(give(0, event, nullptr, 0), std::invalid_argument) << "more than any clock shows, together";
  event.compute_ps = std::numeric_limits<std::int64_t>::min();
  EXPECT_THROW(give(1, event, nullptr, 0), std::invalid_argument);
  event.compute_ps = 0;
  event.entry_ps = events::kLatest;
  EXPECT_THROW(give(1, event, nullptr, 0), std::invalid_argument);
  event.entry_ps = 0;
  for (const std::int64_t size : {std::int64_t{-1}, 2 * events::kMostBytes}) {
    event.size = size;
    EXPECT_THROW(give(1, event, nullptr, 0), std::invalid_argument) << size;
  }
}

/// Found by the fuzzer (tests/fuzz/corpus/ring): a transfer that answers with more than there is.
TEST_F(TranslatorTest, RefusesAmountsThatStandInListsOrBesideTheSize) {
  const auto refuses = [this](const Event& event, std::vector<std::int64_t> sizes = {}) {
    sizes.resize(8);  // a slot
    try {
      std::vector<std::byte> extension(sizes.size() * sizeof sizes[0]);
      std::memcpy(extension.data(), sizes.data(), extension.size());
      Event taken = event;
      translator_.take(RankId{1}, taken, extension, *this);
    } catch (const std::invalid_argument&) {
      return true;
    }
    return false;
  };
  for (const auto& [amount, refused] :
       {std::pair{std::int64_t{8}, false}, {std::int64_t{-1}, true}, {events::kLatest, true}}) {
    Event get, start, gather, touch, exchange;
    get.kind = EventKind::kOneSided;
    start.kind = EventKind::kLocal;
    start.operation = static_cast<std::uint8_t>(events::ThreadChange::kStart);
    get.aux = start.aux = static_cast<std::uint64_t>(amount);
    EXPECT_EQ(refuses(get), refused) << amount;
    EXPECT_EQ(refuses(start), refused) << amount;
    gather.kind = EventKind::kCollective;
    touch.kind = EventKind::kLocal;
    touch.operation = static_cast<std::uint8_t>(events::Access::kLastTouch);
    gather.flags = touch.flags = events::kHasBytesPerMember;
    gather.aux = 3;
    EXPECT_EQ(refuses(gather, {1, 1, amount}), refused) << amount;
    EXPECT_EQ(refuses(touch, {amount}), refused) << amount;
    exchange.kind = EventKind::kIcollective;
    exchange.operation = static_cast<std::uint8_t>(CollectiveKind::kNeighborAlltoall);
    exchange.aux = 6;  // one source and one destination, both are member 0; two words for the size
    EXPECT_EQ(refuses(exchange, {1 | std::int64_t{1} << 32U, 0, amount}), refused) << amount;
  }
}

}  // namespace
}  // namespace nplus1::simnode::node
