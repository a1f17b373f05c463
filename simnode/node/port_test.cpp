#include "simnode/node/port.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "stubs/transport/channel.hpp"
#include "stubs/transport/handshake.hpp"

namespace nplus1::simnode::node {
namespace {

using events::Answer;
using events::Event;

/// Both ends of one rank's line in one process: what the rank writes is what the simulator reads, and back.
struct Ends {
  std::unique_ptr<transport::Channel> rank;
  std::unique_ptr<Port> simulator;
  int sockets[2] = {-1, -1};
  transport::Segment segment;
  ~Ends() {
    for (const int s : sockets) close(s);
  }
};

class PortTest : public testing::TestWithParam<const char*> {
 protected:
  PortTest() {
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.sockets), 0);
    if (std::string{GetParam()} == "tcp") {
      ends_.rank = transport::make_tcp_channel(ends_.sockets[0]);
      ends_.simulator = make_tcp_port(ends_.sockets[1]);
      return;
    }
    const int memory = transport::create_segment_fd(1);
    ends_.segment = transport::map_segment(memory, 1);
    close(memory);
    ends_.segment.initialise();
    ends_.rank = transport::make_shared_memory_channel(ends_.segment, 0, ends_.sockets[0], -1);
    ends_.simulator = make_shared_memory_port(ends_.segment.rank(0));
  }

  /// Every third event has a detail.
  static bool has_detail(std::uint64_t number) { return number % 3 == 0; }

  static Event event(std::uint64_t number, std::uint32_t slots) {
    Event e;
    e.kind = events::EventKind::kLocal;
    e.aux = number;
    e.extension = slots;
    return e;
  }
  /// Reads and puts together what has come; every extension slot must carry its event's number.
  void receive() {
    ends_.simulator->read(transport::kEventSlots, [this](const transport::Slot& slot) {
      if (!ends_.simulator->assembler.take(slot)) return;
      const Event& e = ends_.simulator->assembler.event();
      numbers_.push_back(e.aux);
      const events::Detail* detail = ends_.simulator->assembler.detail();
      ASSERT_EQ(detail != nullptr, has_detail(e.aux));
      if (detail != nullptr) {
        EXPECT_EQ(detail->crc, e.aux);
        EXPECT_EQ(detail->has_excerpt(), e.aux % 2 == 0);
        EXPECT_EQ(detail->excerpt[7], e.aux % 2 == 0 ? e.aux + 1 : 0);
      }
      EXPECT_EQ(ends_.simulator->assembler.extension().size(), e.extension * events::kSlotBytes);
      for (const std::byte b : ends_.simulator->assembler.extension())
        ASSERT_EQ(b, static_cast<std::byte>(e.aux));
    });
  }

  Ends ends_;
  std::vector<std::uint64_t> numbers_;
};

TEST_P(PortTest, EventsTheirDetailsAndTheirListsArriveWholeAndInOrder) {
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const auto slots = static_cast<std::uint32_t>(i % 5);
    const std::vector<std::byte> list(slots * events::kSlotBytes, static_cast<std::byte>(i));
    events::Detail detail;
    detail.crc = static_cast<std::uint32_t>(i);
    if (i % 2 == 0) {
      detail.content = i % 4 == 0 ? events::kHasPayload : events::kHasSamples;
      detail.excerpt[7] = i + 1;
    }
    ends_.rank->write(event(i, slots), list.data(), has_detail(i) ? &detail : nullptr);
    if (i % 50 == 0) ends_.rank->ring();
    if (i % 50 == 0) receive();
  }
  ends_.rank->ring();
  receive();
  ASSERT_EQ(numbers_.size(), 2000u);
  for (std::uint64_t i = 0; i < numbers_.size(); ++i) EXPECT_EQ(numbers_[i], i);
}

TEST_P(PortTest, AnswersComeBackInOrderHoweverMany) {
  constexpr int kMany = 3 * static_cast<int>(transport::kAnswerSlots);
  const std::vector<std::uint32_t> words{7, 8, 9};
  for (int i = 0; i < kMany; ++i) {
    Answer answer;
    answer.index = i;
    ends_.simulator->send(answer,
                          i % 3 == 0 ? std::as_bytes(std::span{words}) : std::span<const std::byte>{});
  }
  int expected = 0;
  std::uint32_t missing = 0;
  transport::Slot slot;
  for (int turns = 0; expected < kMany && turns < 10000; ++turns) {
    ends_.simulator->flush();
    while (ends_.rank->read(slot)) {
      if (missing > 0) {
        EXPECT_EQ(std::memcmp(slot.bytes, words.data(), sizeof(words[0]) * words.size()), 0);
        --missing;
        continue;
      }
      Answer answer;
      std::memcpy(&answer, slot.bytes, sizeof(answer));
      EXPECT_EQ(answer.index, expected++);
      missing = answer.extension;
      EXPECT_EQ(missing, answer.index % 3 == 0 ? 1u : 0u);
    }
  }
  EXPECT_EQ(expected, kMany);
  EXPECT_FALSE(ends_.simulator->has_output());
}

TEST_P(PortTest, TheRankSeesThatTheSimulatorIsGone) {
  EXPECT_FALSE(ends_.rank->simulator_gone());
  close(ends_.sockets[1]);
  ends_.sockets[1] = -1;
  EXPECT_TRUE(ends_.rank->simulator_gone());
}

INSTANTIATE_TEST_SUITE_P(Transports, PortTest, testing::Values("shm", "tcp"),
                         [](const auto& param) { return std::string{param.param}; });

}  // namespace
}  // namespace nplus1::simnode::node
