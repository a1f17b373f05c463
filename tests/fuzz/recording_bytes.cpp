// Any bytes as a recording. Each input is read as it is, and again with the checksums of its blocks made right, so that
// the fuzzer gets past them.
#include "events/definitions_collector.hpp"
#include "events/recording/format.hpp"
#include "events/recording/reader.hpp"
#include "tests/fuzz/target.hpp"

namespace nplus1::fuzz {
namespace {

using namespace events::recording;

void read(const ByteVector& bytes) {
  const MemoryFile file{{reinterpret_cast<const char*>(bytes.data()), bytes.size()}};
  Result<Reader> reader = Reader::open(file.path());
  if (!reader) return;
  for (const bool unchecked : {false, true}) {
    events::DefinitionsCollector sink;
    Selection selection;
    selection.unchecked = unchecked;
    static_cast<void>(reader.value().read(sink, selection));
  }
}

void seal(ByteVector& bytes) {
  if (bytes.size() < kHeaderBytes) return;
  const HeaderBytes head = file_header(64);
  std::memcpy(bytes.data(), head.data(), head.size());
  std::uint64_t number = 0;
  for (std::size_t at = kHeaderBytes; at + kHeaderBytes < bytes.size();) {
    ByteReader in{ByteSpan{bytes}.subspan(at)};
    in.get<std::uint32_t>();
    BlockHeader header;
    header.type = static_cast<BlockType>(in.get<std::uint16_t>() % 4);
    in.get<std::uint16_t>();
    const std::size_t left = bytes.size() - at - kHeaderBytes;
    header.payload_bytes = static_cast<std::uint32_t>(in.get<std::uint32_t>() % (left + 1));
    header.rows = in.get<std::uint32_t>() % 64;
    header.number = number++;
    header.payload_crc = crc32_of(ByteSpan{bytes}.subspan(at + kHeaderBytes, header.payload_bytes));
    const HeaderBytes sealed = block_header(header);
    std::memcpy(bytes.data() + at, sealed.data(), sealed.size());
    at += kHeaderBytes + header.payload_bytes;
  }
}

std::string block(BlockType type, const ByteVector& payload, std::uint32_t rows, std::uint64_t number) {
  BlockHeader header;
  header.type = type;
  header.payload_bytes = static_cast<std::uint32_t>(payload.size());
  header.rows = rows;
  header.number = number;
  header.payload_crc = crc32_of(payload);
  const HeaderBytes sealed = block_header(header);
  return std::string{reinterpret_cast<const char*>(sealed.data()), sealed.size()} +
         std::string{reinterpret_cast<const char*>(payload.data()), payload.size()};
}

}  // namespace

void run(Input input) {
  ByteVector bytes(input.size());
  if (!input.empty()) std::memcpy(bytes.data(), input.data(), input.size());
  read(bytes);
  seal(bytes);
  read(bytes);
}

/// The worked example's block of events (docs/formats/recording.md), after a definition.
std::vector<std::string> seeds() {
  const HeaderBytes head = file_header(2);
  ByteVector definitions;
  for (const int b : {0, 6, 0, 0, 0, 1, 4, 1, 97, 1, 98}) definitions.push_back(static_cast<std::byte>(b));
  constexpr unsigned char kEvents[] = {1, 1, 0,  0, 2, 0, 0, 0, 3, 0, 0, 0, 1, 1, 0, 2, 0, 0, 0, 2, 0, 0,
                                       0, 0, 0,  0, 0, 3, 1, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 3, 4,
                                       1, 0, 0,  3, 0, 0, 0, 4, 0, 0, 0, 1, 1, 0, 0, 1, 5, 7, 0, 0, 4, 0,
                                       0, 0, 15, 0, 0, 0, 1, 4, 1, 0, 5, 0, 0, 0, 0, 0, 1, 0, 0, 2, 0};
  ByteVector events;
  for (const unsigned char b : kEvents) events.push_back(static_cast<std::byte>(b));
  const std::string begin{reinterpret_cast<const char*>(head.data()), head.size()};
  return {begin + block(BlockType::kDefinitions, definitions, 0, 0) +
          block(BlockType::kEvents, events, 4, 1) +
          block(BlockType::kClosing, closing_payload({{3, 1, 0, 0}, ""}), 0, 2)};
}

bool is_text() {
  return false;
}

}  // namespace nplus1::fuzz
