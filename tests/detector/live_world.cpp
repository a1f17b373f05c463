#include "tests/detector/live_world.hpp"

#include "detector/content.hpp"
#include "events/payload/element_type.hpp"

namespace nplus1::tests {
namespace {

constexpr std::int64_t kElements = 20000;
constexpr int kOwnPartSite = 999;

}  // namespace

LiveWorld::LiveWorld(events::EventSink& sink, int ranks, Type type)
    : World{sink, ranks, type, kElements}, kept_(static_cast<std::size_t>(ranks)) {}

stubs::KeptParts::Data LiveWorld::data_of(int rank, std::int64_t at, std::int64_t count) const {
  return {address(rank, at), static_cast<std::uint64_t>(count * width()), 1};
}

std::int64_t LiveWorld::place_of(int rank, std::uint64_t address) const {
  return static_cast<std::int64_t>(address - this->address(rank, 0)) / width();
}

bool LiveWorld::is_inside(std::int64_t at, std::int64_t count) const {
  return at >= 0 && at + count <= kElements;
}

std::uint64_t LiveWorld::content_of(int rank, std::int64_t at, std::int64_t count) const {
  events::Detail detail;
  describe(rank, at, count, detail);
  return detector::content_of(static_cast<std::uint64_t>(count * width()), &detail).key();
}

void LiveWorld::on_sent(const Message& message, std::int64_t at) {
  const auto count = static_cast<std::int64_t>(message.payload.size());
  if (count == 0) return;
  auto& kept = kept_[static_cast<std::size_t>(message.source)];
  const auto data = data_of(message.source, at, count);
  if (const auto own = kept.block_sent(0, message.source, ranks(), message.destination, data)) {
    const std::int64_t place = place_of(message.source, *own);
    if (is_inside(place, count))
      capture(message.source, place, count, kOwnPartSite, events::OwnPart::kBetween);
  }
  kept.sent(data, content_of(message.source, at, count));
}

void LiveWorld::on_receiving(const Message& message, std::int64_t at) {
  const auto count = static_cast<std::int64_t>(message.payload.size());
  const int rank = message.destination;
  if (count == 0 || type() == Type::kByte) return;
  const auto look = [&](std::uint64_t address) -> std::optional<std::uint64_t> {
    return content_of(rank, place_of(rank, address), count);
  };
  kept_[static_cast<std::size_t>(rank)].receives(data_of(rank, at, count), look, [&](std::uint64_t address) {
    capture(rank, place_of(rank, address), count, kOwnPartSite, events::OwnPart::kAddedTo);
  });
}

}  // namespace nplus1::tests
