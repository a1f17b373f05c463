// The transport between processes: inboxes with several writers, rings that are too short, meeting and
// parting.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "stubs/transport/channel.hpp"
#include "stubs/transport/handshake.hpp"
#include "stubs/transport/inbox.hpp"

namespace nplus1::transport {
namespace {

Segment make_segment(std::int32_t ranks) {
  const int memory = create_segment_fd(ranks);
  const Segment segment = map_segment(memory, ranks);
  close(memory);
  segment.initialise();
  return segment;
}

void send_numbered(Segment segment, std::int32_t me, std::int32_t to, std::uint64_t first,
                   std::uint64_t count) {
  StampSender sender{segment, me};
  for (std::uint64_t i = 0; i < count; ++i) {
    Stamp* stamp = sender.allocate();
    ASSERT_NE(stamp, nullptr);
    stamp->source = me;
    stamp->sequence = first + i;
    sender.deliver(*stamp, to);
  }
}

TEST(Inbox, KeepsTheOrderOfEachOfManySenders) {
  constexpr std::int32_t kSenders = 4;
  constexpr std::uint64_t kMessages = 20000;
  const Segment segment = make_segment(kSenders + 1);
  std::vector<pid_t> children;
  for (std::int32_t s = 1; s <= kSenders; ++s) {
    const pid_t child = fork();
    if (child == 0) {
      send_numbered(segment, s, 0, 0, kMessages);
      _exit(0);
    }
    children.push_back(child);
  }
  StampReceiver receiver{segment, 0};
  std::vector<std::uint64_t> next(kSenders + 1, 0);
  std::uint64_t got = 0;
  while (got < kSenders * kMessages) {
    receiver.drain([&](const Stamp& stamp) {
      ASSERT_EQ(stamp.sequence, next[static_cast<std::size_t>(stamp.source)]++);
      ++got;
    });
  }
  for (const pid_t child : children) EXPECT_EQ(waitpid(child, nullptr, 0), child);
}

TEST(Inbox, GivesStampsBackToTheirSender) {
  const Segment segment = make_segment(2);
  StampSender sender{segment, 0};
  StampReceiver receiver{segment, 1};
  const std::uint64_t before = segment.header().arena_next.load();
  for (int round = 0; round < 1000; ++round) {
    for (std::size_t i = 0; i < kStampsPerGrab; ++i) {
      Stamp* stamp = sender.allocate();
      stamp->source = 0;
      sender.deliver(*stamp, 1);
    }
    receiver.drain([](const Stamp&) {});
  }
  // One grab is in use; the first may be taken before the other comes back.
  EXPECT_LE(segment.header().arena_next.load() - before, 2 * kStampsPerGrab * sizeof(Stamp));
}

TEST(Inbox, AStampThatIsBeingReadIsNotReused) {
  const Segment segment = make_segment(2);
  StampSender sender{segment, 0};
  StampReceiver receiver{segment, 1};
  for (std::uint64_t i = 0; i < 3; ++i) {
    Stamp* stamp = sender.allocate();
    stamp->source = 0;
    stamp->sequence = i;
    sender.deliver(*stamp, 1);
  }
  std::uint64_t expected = 0;
  receiver.drain([&](const Stamp& stamp) {
    for (int i = 0; i < 200; ++i) sender.allocate()->sequence = 999;  // more than one grab
    EXPECT_EQ(stamp.sequence, expected++);
  });
  EXPECT_EQ(expected, 3u);
}

TEST(Inbox, AnOffsetThatNoStampCanHaveEndsReadingAndTouchesNothing) {
  const std::uint64_t begin = Segment::arena_begin(2), end = Segment::bytes_for(2);
  for (const std::uint64_t wild : {std::uint64_t{1}, std::uint64_t{64}, begin - 64, begin + 1, end, end - 32,
                                   ~std::uint64_t{0}, ~std::uint64_t{63}}) {
    const Segment segment = make_segment(2);
    StampReceiver receiver{segment, 1};
    segment.rank(1).inbox.store(wild);
    receiver.drain([](const Stamp&) { ADD_FAILURE() << "a stamp"; });
    EXPECT_TRUE(receiver.broken()) << wild;
    segment.rank(0).returned.store(wild);
    StampSender sender{segment, 0};
    EXPECT_NE(sender.allocate(), nullptr) << "a spoilt list of free stamps is left alone";
  }
}

TEST(Inbox, AStampOfNobodyEndsReading) {
  for (const std::int32_t wild : {-1, 2, 1 << 30}) {
    const Segment segment = make_segment(2);
    send_numbered(segment, 0, 1, 0, 1);
    segment.stamp(segment.rank(1).inbox.load())->source = wild;
    StampReceiver receiver{segment, 1};
    receiver.drain([](const Stamp&) { ADD_FAILURE() << "a stamp"; });
    EXPECT_TRUE(receiver.broken()) << wild;
  }
}

TEST(Inbox, AListThatGoesRoundInCirclesIsReadOnce) {
  const Segment segment = make_segment(2);
  send_numbered(segment, 0, 1, 0, 3);
  Stamp* newest = segment.stamp(segment.rank(1).inbox.load());
  Stamp* oldest = segment.stamp(segment.stamp(newest->next.load())->next.load());
  oldest->next.store(segment.offset(*newest));
  StampReceiver receiver{segment, 1};
  int read = 0;
  receiver.drain([&](const Stamp&) { ASSERT_LT(++read, 100); });
}

TEST(Segment, HasASealedSizeThatIsChecked) {
  const int memory = create_segment_fd(3);
  EXPECT_TRUE(is_segment(memory, 3));
  EXPECT_FALSE(is_segment(memory, 1 << 16)) << "smaller than so many ranks need";
  EXPECT_NE(ftruncate(memory, 4096), 0) << "readers would get SIGBUS";
  EXPECT_NE(ftruncate(memory, 1LL << 40), 0);
  const int unsealed = memfd_create("short", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(unsealed, static_cast<off_t>(Segment::bytes_for(3))), 0);
  EXPECT_FALSE(is_segment(unsealed, 3));
  close(memory);
  close(unsealed);
}

/// Resident pages of this process, in bytes.
std::uint64_t resident() {
  std::ifstream file{"/proc/self/statm"};
  std::uint64_t all = 0, here = 0;
  file >> all >> here;
  return here * static_cast<std::uint64_t>(getpagesize());
}

TEST(Segment, CostsNoMemoryInAProgramThatLocksItsMemory) {
  if (mlockall(MCL_FUTURE) != 0) GTEST_SKIP() << "may not lock memory";
  const std::uint64_t before = resident();
  const Segment segment = make_segment(2);
  EXPECT_LT(resident() - before, kArenaBytes / 8);
  send_numbered(segment, 0, 1, 0, 3 * kArenaStep / sizeof(Stamp));  // beyond what is open at first
  mlockall(MCL_CURRENT);
  EXPECT_LT(resident() - before, kArenaBytes / 8);
  munlockall();
}

TEST(Channel, AnExtensionLongerThanTheRingPassesThroughInPieces) {
  const Segment segment = make_segment(1);
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  const auto channel = make_shared_memory_channel(segment, 0, sockets[0], -1);
  constexpr std::uint32_t kSlots = 5 * kEventSlots;
  std::thread writer{[&] {
    std::vector<std::uint64_t> numbers(kSlots * events::kSlotBytes / sizeof(std::uint64_t));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
    events::Event event;
    event.extension = kSlots;
    channel->write(event, numbers.data());
  }};
  RankBlock& block = segment.rank(0);
  std::uint64_t slots = 0;
  while (slots < kSlots + 1) {
    for (const std::uint64_t head = block.event_head.load(std::memory_order_acquire); slots < head; ++slots) {
      std::uint64_t first = 0;
      std::memcpy(&first, block.events[slots % kEventSlots].bytes, sizeof(first));
      if (slots > 0) {
        EXPECT_EQ(first, (slots - 1) * events::kSlotBytes / sizeof(first));
      }
    }
    block.event_tail.store(slots, std::memory_order_release);
    ring_doorbell(block);
  }
  writer.join();
  close(sockets[0]);
  close(sockets[1]);
}

TEST(Channel, AFullRingDoesNotHoldAWriterWhoseSimulatorIsGone) {
  const Segment segment = make_segment(1);
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  const auto channel = make_shared_memory_channel(segment, 0, sockets[0], -1);
  close(sockets[1]);
  for (std::size_t i = 0; i < 3 * kEventSlots; ++i) channel->write(events::Event{}, nullptr);
  EXPECT_TRUE(channel->simulator_gone());
  close(sockets[0]);
}

TEST(Handshake, APeerThatSendsAByteNowAndThenHoldsNobodyUp) {
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  std::atomic<bool> over{false};
  std::thread slow{[&] {
    while (!over && send(sockets[1], "x", 1, MSG_NOSIGNAL) == 1) usleep(2000);
  }};
  char buffer[100000];
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(receive_all(sockets[0], buffer, sizeof(buffer), begin + std::chrono::milliseconds{50}));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{20});
  over = true;
  slow.join();
  for (const int fd : sockets) close(fd);
}

TEST(Handshake, ARankBelievesOnlyWhoKnowsTheKey) {
  const Key key = *random_bytes();
  for (const bool knows : {true, false}) {
    int sockets[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    std::thread simulator{[&] {
      Challenge challenge;
      Response response;
      ASSERT_TRUE(receive_all(sockets[1], &challenge, sizeof(challenge)));
      response.nonce = *random_bytes();
      response.proof =
          prove(knows ? key : *random_bytes(), Side::kSimulator, challenge.nonce, response.nonce, "");
      ASSERT_TRUE(send_all(sockets[1], &response, sizeof(response)));
    }};
    const auto trouble =
        prove_as_rank(sockets[0], key, {}, std::chrono::steady_clock::now() + std::chrono::seconds{20});
    EXPECT_EQ(!trouble, knows);
    simulator.join();
    for (const int fd : sockets) close(fd);
  }
}

TEST(Handshake, PassesStructuresAndDescriptors) {
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  Hello hello;
  hello.rank = 7;
  ASSERT_TRUE(send_all(sockets[0], &hello, sizeof(hello)));
  ASSERT_TRUE(send_descriptors(sockets[0], pipe_ends[0], pipe_ends[1]));
  Hello got;
  ASSERT_TRUE(receive_all(sockets[1], &got, sizeof(got)));
  EXPECT_EQ(got.rank, 7);
  int in = -1;
  int out = -1;
  ASSERT_TRUE(receive_descriptors(sockets[1], in, out));
  ASSERT_EQ(write(out, "x", 1), 1);
  char byte = 0;
  ASSERT_EQ(read(in, &byte, 1), 1);
  EXPECT_EQ(byte, 'x');
  close(sockets[0]);
  EXPECT_FALSE(receive_all(sockets[1], &got, sizeof(got)));
  for (const int fd : {sockets[1], pipe_ends[0], pipe_ends[1], in, out}) close(fd);
}

TEST(Handshake, MeetsByNameAndByAddress) {
  const std::string name = "nplus1-transport-test-" + std::to_string(getpid());
  EXPECT_LT(connect_unix(name), 0);
  const int listener = listen_unix(name);
  ASSERT_GE(listener, 0);
  EXPECT_LT(listen_unix(name), 0);  // taken
  const int local = connect_unix(name);
  EXPECT_GE(local, 0);
  std::uint16_t port = 0;
  const int remote_listener = listen_tcp(port, true);
  ASSERT_GE(remote_listener, 0);
  const int remote = connect_tcp("127.0.0.1:" + std::to_string(port));
  EXPECT_GE(remote, 0);
  EXPECT_LT(connect_tcp("no colon"), 0);
  for (const int fd : {listener, local, remote_listener, remote}) close(fd);
}

}  // namespace
}  // namespace nplus1::transport
