#include "detector/scenario_world.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "events/mpi_call.hpp"
#include "events/polynomial_hash.hpp"

namespace nplus1::detector {
namespace {

constexpr std::uint64_t kBase = 0x10000;
constexpr std::uint64_t kRankSpan = 0x1000000;

std::uint64_t address(int rank, std::int64_t at) {
  return kBase + static_cast<std::uint64_t>(rank) * kRankSpan + static_cast<std::uint64_t>(at) * 8;
}

void hash(std::span<const std::int64_t> words, events::Detail& detail) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(words.data());
  detail.crc = static_cast<std::uint32_t>(crc32_z(0, bytes, words.size_bytes()));
  if (!words.empty()) std::memcpy(&detail.prefix, bytes, sizeof(detail.prefix));
  events::PolynomialHash polynomial;
  for (const std::int64_t w : words) polynomial.add(events::Residue::of_signed(w));
  detail.polynomial = polynomial.value().value();
  detail.content = events::kHasCrc | events::kHasPrefix | events::kHasPolynomial | events::kHasElements;
}

}  // namespace

World::World(events::EventSink& sink, int ranks)
    : sink_{sink},
      memory_(static_cast<std::size_t>(ranks), std::vector<std::int64_t>(kWords)),
      ordinals_(static_cast<std::size_t>(ranks)),
      sequences_(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks)) {
  events::Communicator world;
  for (int r = 0; r < ranks; ++r) world.members.emplace_back(r);
  sink_.on_communicator(world);
  sink_.on_datatype({DatatypeId{1}, "MPI_INT64_T", 8});
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
  event.size = count * 8;
  events::Detail detail;
  detail.buffer = address(from, at);
  detail.count = count;
  detail.datatype = DatatypeId{1};
  hash(payload, detail);
  events::Answer answer;
  answer.kind = events::AnswerKind::kExit;
  answer.sequence = message.sequence;
  emit(from, event, answer, detail, call.site);
  return message;
}

void World::receive(const Message& message, std::int64_t at, Call call) {
  const auto count = static_cast<std::int64_t>(message.payload.size());
  std::ranges::copy(message.payload, words(message.destination, at, count).begin());
  events::Event event;
  event.kind = events::EventKind::kRecv;
  event.call = static_cast<std::uint16_t>(events::MpiCall::MPI_Recv);
  event.comm = call.comm;
  event.peer = message.source;
  event.tag = message.tag;
  event.size = count * 8;
  events::Detail detail;
  detail.buffer = address(message.destination, at);
  detail.count = count;
  detail.datatype = DatatypeId{1};
  events::Answer answer;
  answer.kind = events::AnswerKind::kExit;
  answer.source = message.source;
  answer.tag = message.tag;
  answer.size = count * 8;
  answer.sequence = message.sequence;
  emit(message.destination, event, answer, detail, call.site + 100);
}

void World::send(int from, std::int64_t at, std::int64_t count, int to, std::int64_t into, Call call) {
  receive(post(from, at, count, to, call), into, call);
}

void World::capture(int rank, std::int64_t at, std::int64_t count, int site) {
  events::Event event;
  event.kind = events::EventKind::kLocal;
  event.size = count * 8;
  events::Detail detail;
  detail.buffer = address(rank, at);
  detail.count = count;
  detail.datatype = DatatypeId{1};
  hash(words(rank, at, count), detail);
  emit(rank, event, events::kNoAnswer, detail, site);
}

}  // namespace nplus1::detector
