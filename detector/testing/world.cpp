#include "detector/testing/world.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "events/mpi_call.hpp"
#include "events/payload/payload_hash.hpp"

namespace nplus1::detector {
namespace {

constexpr std::uint64_t kBase = 0x10000;
constexpr std::uint64_t kRankSpan = 0x1000000;

}  // namespace

World::World(events::EventSink& sink, int ranks, Type type, std::int64_t words)
    : sink_{sink},
      type_{type},
      memory_(static_cast<std::size_t>(ranks), std::vector<std::int64_t>(static_cast<std::size_t>(words))),
      ordinals_(static_cast<std::size_t>(ranks)),
      sequences_(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks)) {
  events::Communicator world;
  for (int r = 0; r < ranks; ++r) world.members.emplace_back(r);
  sink_.on_communicator(world);
  constexpr std::array kNames{"MPI_INT64_T", "MPI_INT", "MPI_DOUBLE", "MPI_FLOAT", "MPI_BYTE"};
  sink_.on_datatype({DatatypeId{1}, kNames.at(static_cast<std::size_t>(type)), width()});
}

std::int64_t World::width() const {
  constexpr std::array<std::int64_t, 5> kWidths{8, 4, 8, 4, 1};
  return kWidths.at(static_cast<std::size_t>(type_));
}

std::uint64_t World::address(int rank, std::int64_t at) const {
  return kBase + static_cast<std::uint64_t>(rank) * kRankSpan + static_cast<std::uint64_t>(at * width());
}

void World::describe(int rank, std::int64_t at, std::int64_t count, events::Detail& detail) const {
  namespace payload = events::payload;
  detail.buffer = address(rank, at);
  detail.count = count;
  detail.datatype = DatatypeId{1};
  std::vector<std::byte> bytes(static_cast<std::size_t>(count * width()));
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t word = memory_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(at + i)];
    const auto number = static_cast<std::int32_t>(word);
    const auto real = static_cast<float>(std::bit_cast<double>(word));
    const void* from = type_ == Type::kInt32   ? static_cast<const void*>(&number)
                       : type_ == Type::kFloat ? static_cast<const void*>(&real)
                                               : static_cast<const void*>(&word);
    std::memcpy(bytes.data() + i * width(), from, static_cast<std::size_t>(width()));
  }
  constexpr std::array kElements{payload::ElementType::kInt64, payload::ElementType::kInt32,
                                 payload::ElementType::kDouble, payload::ElementType::kFloat,
                                 payload::ElementType::kWords};
  payload::PayloadHash hash{kElements.at(static_cast<std::size_t>(type_)), {}, bytes.size()};
  hash.add(bytes.data(), bytes.size());
  hash.store(detail);
}

double World::get(int rank, std::int64_t at) const {
  const std::int64_t word = memory_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(at)];
  return is_real() ? std::bit_cast<double>(word) : static_cast<double>(word);
}

void World::put(int rank, std::int64_t at, double value) {
  const double rounded = type_ == Type::kFloat ? static_cast<double>(static_cast<float>(value)) : value;
  words(rank, at, 1)[0] =
      is_real() ? std::bit_cast<std::int64_t>(rounded) : static_cast<std::int64_t>(std::llround(value));
}

std::uint64_t World::random(std::uint64_t below) {
  state_ = state_ * 6364136223846793005U + 1442695040888963407U;
  return (state_ >> 33U) % below;
}

std::span<std::int64_t> World::words(int rank, std::int64_t at, std::int64_t count) {
  return std::span{memory_[static_cast<std::size_t>(rank)]}.subspan(static_cast<std::size_t>(at),
                                                                    static_cast<std::size_t>(count));
}
void World::fill(int rank, std::int64_t at, std::int64_t count) {
  for (std::int64_t& w : words(rank, at, count)) w = static_cast<std::int64_t>(random(1'000'000'007));
}
void World::set(int rank, std::int64_t at, std::int64_t count, std::int64_t value) {
  std::ranges::fill(words(rank, at, count), value);
}
void World::add(int rank, std::int64_t into, std::int64_t from, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    words(rank, into, count)[static_cast<std::size_t>(i)] +=
        words(rank, from, count)[static_cast<std::size_t>(i)];
}
void World::copy(int rank, std::int64_t into, std::int64_t from, std::int64_t count) {
  std::ranges::copy(words(rank, from, count), words(rank, into, count).begin());
}

void World::emit(int rank, events::Event event, const events::Answer& answer, const events::Detail& detail,
                 int site) {
  event.entry_ps = now_;
  event.site = CallSiteId{static_cast<std::uint32_t>(site)};
  now_ += 1000;
  sink_.on_event({RankId{rank},
                  event,
                  {},
                  Time{Duration{now_}},
                  answer,
                  {},
                  &detail,
                  ordinals_[static_cast<std::size_t>(rank)]++});
}

void World::name_site(int site, const std::vector<std::string>& lines) {
  for (const int id : {site, site + 100}) {
    events::CallPath path{CallSiteId{static_cast<std::uint32_t>(id)}, {}};
    for (const std::string& line : lines) {
      events::Frame& frame = path.frames.emplace_back();
      frame.file = line.substr(0, line.find(':'));
      frame.line = static_cast<std::uint32_t>(std::stoul(line.substr(line.find(':') + 1)));
    }
    sink_.on_call_path(path);
  }
}

World::Message World::post(int from, std::int64_t at, std::int64_t count, int to, Call call) {
  Message message{from, to, call.tag, {}, 0};
  const auto payload = words(from, at, count);
  message.payload.assign(payload.begin(), payload.end());
  message.sequence = sequences_[static_cast<std::size_t>(from * ranks() + to)]++;
  events::Event event;
  event.kind = events::EventKind::kSend;
  event.call = static_cast<std::uint16_t>(events::MpiCall::MPI_Send);
  event.comm = call.comm;
  event.peer = to;
  event.tag = call.tag;
  event.size = count * width();
  events::Detail detail;
  describe(from, at, count, detail);
  events::Answer answer;
  answer.kind = events::AnswerKind::kExit;
  answer.sequence = message.sequence;
  emit(from, event, answer, detail, call.site);
  on_sent(message, at);
  return message;
}

void World::receive(const Message& message, std::int64_t at, Call call) {
  on_receiving(message, at);
  const auto count = static_cast<std::int64_t>(message.payload.size());
  std::ranges::copy(message.payload, words(message.destination, at, count).begin());
  events::Event event;
  event.kind = events::EventKind::kRecv;
  event.call = static_cast<std::uint16_t>(events::MpiCall::MPI_Recv);
  event.comm = call.comm;
  event.peer = message.source;
  event.tag = message.tag;
  event.size = count * width();
  events::Detail detail;
  detail.buffer = address(message.destination, at);
  detail.count = count;
  detail.datatype = DatatypeId{1};
  events::Answer answer;
  answer.kind = events::AnswerKind::kExit;
  answer.source = message.source;
  answer.tag = message.tag;
  answer.size = count * width();
  answer.sequence = message.sequence;
  emit(message.destination, event, answer, detail, call.site + 100);
}

void World::send(int from, std::int64_t at, std::int64_t count, int to, std::int64_t into, Call call) {
  receive(post(from, at, count, to, call), into, call);
}

void World::capture(int rank, std::int64_t at, std::int64_t count, int site, events::OwnPart how) {
  events::Event event;
  event.kind = events::EventKind::kLocal;
  event.operation = static_cast<std::uint8_t>(how);
  event.size = count * width();
  events::Detail detail;
  describe(rank, at, count, detail);
  emit(rank, event, events::kNoAnswer, detail, site);
}

}  // namespace nplus1::detector
