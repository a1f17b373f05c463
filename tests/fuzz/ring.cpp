// Any events as a rank sends them on its ring, through the simulator's translation, engine and statistics. A rank may
// say what it likes: the simulator refuses by std::invalid_argument, which ends the observation and nothing else.
#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "patterns/message_statistics.hpp"
#include "simnode/engine/engine.hpp"
#include "simnode/node/translator.hpp"
#include "tests/fuzz/target.hpp"

namespace nplus1::fuzz {
namespace {

constexpr std::size_t kSlot = events::kSlotBytes;

class Statistics : public simnode::engine::Listener {
 public:
  explicit Statistics(events::EventSink& sink) : sink_{sink} {}
  void on_exit(const events::TimedEvent& event) override { sink_.on_event(event); }
  void on_match(RankId receiver, const events::Answer& match) override { sink_.on_match(receiver, match); }

 private:
  events::EventSink& sink_;
};

/// Events as they lie on the ring: a byte for the rank, a slot, and the slots that follow it.
void feed(Input input, std::int32_t ranks, simnode::node::Translator& translator, events::EventSink& sink,
          simnode::engine::Engine& engine) {
  while (input.size() > kSlot) {
    const RankId rank{input.front() % ranks};
    events::Event event;
    std::memcpy(&event, input.data() + 1, sizeof event);
    input = input.subspan(1 + kSlot);
    // The assembler gives no more than has come.
    const std::size_t extension =
        std::min<std::size_t>(event.extension % 4 * kSlot, input.size() / kSlot * kSlot);
    std::vector<std::byte> bytes(extension);
    if (extension > 0) std::memcpy(bytes.data(), input.data(), extension);
    input = input.subspan(extension);
    if (translator.take(rank, event, bytes, sink)) translator.push(rank, event, bytes);
    engine.decide();
  }
}

}  // namespace

bool run(Input input) {
  constexpr std::int32_t kRanks = 3;
  const auto network = std::move(netmodel::parse("lsb:latency=1e-06,bandwidth=1e+09").value());
  patterns::MessageStatistics statistics{kRanks, network.get(), nullptr};
  Statistics listener{statistics};
  simnode::engine::Engine engine{kRanks, *network, listener};
  simnode::node::Translator translator{kRanks, engine};
  try {
    feed(input, kRanks, translator, statistics, engine);
  } catch (const std::invalid_argument&) {
    return false;
  } catch (const std::out_of_range&) {
    return false;
  }
  return true;
}

std::vector<std::string> seeds() {
  const auto slot = [](char rank, const events::Event& event) {
    std::string bytes(1 + kSlot, rank);
    std::memcpy(bytes.data() + 1, &event, sizeof event);
    return bytes;
  };
  std::string world;
  events::Event define;
  define.kind = events::EventKind::kCommDefine;
  define.aux = 77;
  define.size = 3;
  define.extension = 1;
  for (char rank = 0; rank < 3; ++rank) {
    std::string members(kSlot, '\0');
    for (std::uint32_t i = 0; i < 3; ++i) std::memcpy(members.data() + 4 * i, &i, 4);
    world += slot(rank, define) + members;
  }
  events::Event send;
  send.kind = events::EventKind::kSend;
  send.peer = 1;
  send.size = 100;
  events::Event receive = send;
  receive.kind = events::EventKind::kIrecv;
  receive.peer = 0;
  receive.request = RequestId{1};
  events::Event wait;
  wait.kind = events::EventKind::kWait;
  wait.aux = 1;
  wait.extension = 1;
  std::string ids(kSlot, '\0');
  ids[0] = 1;
  events::Event barrier;
  barrier.kind = events::EventKind::kCollective;
  barrier.peer = -1;
  events::Event end;
  end.kind = events::EventKind::kFinalize;
  std::string all = world + slot(0, send) + slot(1, receive) + slot(1, wait) + ids;
  for (char rank = 0; rank < 3; ++rank) all += slot(rank, barrier);
  for (char rank = 0; rank < 3; ++rank) all += slot(rank, end);
  return {all, world};
}

bool is_text() {
  return false;
}

}  // namespace nplus1::fuzz
