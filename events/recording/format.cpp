#include "events/recording/format.hpp"

#include <isa-l/crc.h>

#include <algorithm>

namespace nplus1::events::recording {
namespace {

constexpr std::array<std::uint8_t, 8> kMagic{0x89, 'N', '1', 'R', '\r', '\n', 0x1a, '\n'};
constexpr std::size_t kCheckedBytes = kHeaderBytes - sizeof(std::uint32_t);

template <class T>
void store(HeaderBytes& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

template <class T>
T load(const HeaderBytes& bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

void seal(HeaderBytes& bytes) {
  store(bytes, kCheckedBytes, crc32_of(ByteSpan{bytes}.first(kCheckedBytes)));
}

bool is_sealed(const HeaderBytes& bytes) {
  return load<std::uint32_t>(bytes, kCheckedBytes) == crc32_of(ByteSpan{bytes}.first(kCheckedBytes));
}

}  // namespace

std::uint32_t crc32_of(ByteSpan bytes) {
  return crc32_gzip_refl(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

HeaderBytes file_header(std::int32_t ranks) {
  HeaderBytes bytes{};
  store(bytes, 0, kMagic);
  store(bytes, 8, kMajorVersion);
  store(bytes, 10, kMinorVersion);
  store(bytes, 12, ranks);
  seal(bytes);
  return bytes;
}

FileHeader parse_file_header(const HeaderBytes& bytes) {
  FileHeader header;
  header.is_recording = std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
  header.major = load<std::uint16_t>(bytes, 8);
  header.minor = load<std::uint16_t>(bytes, 10);
  header.ranks = load<std::int32_t>(bytes, 12);
  header.sound = is_sealed(bytes) && header.ranks >= 1 && header.ranks <= kMaxRanks;
  return header;
}

HeaderBytes block_header(const BlockHeader& header) {
  HeaderBytes bytes{};
  store(bytes, 0, kBlockMarker);
  store(bytes, 4, header.type);
  store(bytes, 8, header.payload_bytes);
  store(bytes, 12, header.rows);
  store(bytes, 16, header.number);
  store(bytes, 24, header.payload_crc);
  seal(bytes);
  return bytes;
}

std::optional<BlockHeader> parse_block_header(const HeaderBytes& bytes) {
  if (!std::equal(kBlockMarker.begin(), kBlockMarker.end(), bytes.begin()) || !is_sealed(bytes)) return {};
  BlockHeader header;
  header.type = load<BlockType>(bytes, 4);
  header.payload_bytes = load<std::uint32_t>(bytes, 8);
  header.rows = load<std::uint32_t>(bytes, 12);
  header.number = load<std::uint64_t>(bytes, 16);
  header.payload_crc = load<std::uint32_t>(bytes, 24);
  if (header.payload_bytes > kMaxPayloadBytes || header.rows > kMaxRows) return {};
  return header;
}

ByteVector closing_payload(const Closing& closing) {
  ByteVector out;
  put(out, closing.totals.events);
  put(out, closing.totals.matches);
  put(out, closing.totals.dropped_events);
  put(out, closing.totals.dropped_matches);
  put_string(out, closing.error);
  return out;
}

std::optional<Closing> parse_closing(ByteSpan payload) {
  ByteReader in{payload};
  Closing closing;
  closing.totals.events = in.get<std::uint64_t>();
  closing.totals.matches = in.get<std::uint64_t>();
  closing.totals.dropped_events = in.get<std::uint64_t>();
  closing.totals.dropped_matches = in.get<std::uint64_t>();
  closing.error = in.string();
  if (!in.ok()) return {};
  return closing;
}

}  // namespace nplus1::events::recording
