// Any bytes as a recording. Each input is read as it is, and again with the checksums of its blocks made right, so that
// the fuzzer gets past them.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>

#include "events/definitions_collector.hpp"
#include "events/recording/columns.hpp"
#include "events/recording/format.hpp"
#include "events/recording/reader.hpp"
#include "events/recording/testing/scratch_folder.hpp"
#include "events/recording/writer.hpp"
#include "tests/fuzz/events_of.hpp"
#include "tests/fuzz/target.hpp"

namespace nplus1::fuzz {
namespace {

using namespace events::recording;

/// Whether it was taken with all checks.
bool read(const ByteVector& bytes) {
  const MemoryFile file{{reinterpret_cast<const char*>(bytes.data()), bytes.size()}};
  Result<Reader> reader = Reader::open(file.path());
  if (!reader) return false;
  bool whole = false;
  for (const bool unchecked : {false, true}) {
    events::DefinitionsCollector sink;
    Selection selection;
    selection.unchecked = unchecked;
    const bool taken = reader.value().read(sink, selection).ok();
    whole |= taken && !unchecked;
  }
  return whole;
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

/// One column of an events block (docs/formats/recording.md).
struct Stored {
  std::uint8_t id = 0;
  std::uint8_t width = 0;
  std::uint32_t entries = 0;
  ByteVector bytes;
};

std::vector<Stored> columns_of(ByteSpan payload) {
  std::vector<Stored> columns;
  ByteReader in{payload};
  while (in.left() > 0) {
    Stored column;
    column.id = in.get<std::uint8_t>();
    column.width = in.get<std::uint8_t>();
    in.get<std::uint16_t>();
    column.entries = in.get<std::uint32_t>();
    const ByteSpan bytes = in.take(in.get<std::uint32_t>());
    if (!in.ok()) break;
    column.bytes.assign(bytes.begin(), bytes.end());
    columns.push_back(std::move(column));
  }
  return columns;
}

ByteVector payload_of(const std::vector<Stored>& columns) {
  ByteVector payload;
  for (const Stored& column : columns) {
    put(payload, column.id);
    put(payload, column.width);
    put(payload, std::uint16_t{0});
    put(payload, column.entries);
    put(payload, static_cast<std::uint32_t>(column.bytes.size()));
    put_bytes(payload, column.bytes);
  }
  return payload;
}

/// A byte of one entry, where a column's planes are plain: nothing else of it changes.
void change_value(Stored& column, std::mt19937_64& random) {
  if (column.width == 0 || column.entries == 0) return;
  std::size_t at = 0;
  for (std::uint64_t k = random() % column.width; at < column.bytes.size(); --k) {
    const bool plain = column.bytes[at] == std::byte{1};
    if (k == 0 && !plain) return;
    if (k == 0) break;
    at += 1 + (plain ? column.entries : 0U);
  }
  at += 1 + random() % column.entries;
  if (at >= column.bytes.size()) return;
  const auto step = static_cast<std::uint8_t>(random() % 3 == 0 ? random() : 1 + random() % 3);
  column.bytes[at] = static_cast<std::byte>(static_cast<std::uint8_t>(column.bytes[at]) + step);
}

/// A new column, or another one in its place: as many entries as `like` has, or any number.
void add_column(std::vector<Stored>& columns, const Stored& like, std::mt19937_64& random) {
  Stored added;
  added.id = static_cast<std::uint8_t>(random() % kColumns);
  added.width = static_cast<std::uint8_t>(1 + random() % 8);
  added.entries = random() % 3 == 0 ? static_cast<std::uint32_t>(random() % 200) : like.entries % 256;
  for (unsigned k = 0; k < added.width; ++k) {
    added.bytes.push_back(std::byte{1});  // a plain plane
    for (std::uint32_t i = 0; i < added.entries; ++i)
      added.bytes.push_back(static_cast<std::byte>(random() % 2 == 0 ? random() % 4 : random()));
  }
  const auto at =
      std::find_if(columns.begin(), columns.end(), [&](const Stored& other) { return other.id >= added.id; });
  if (at != columns.end() && at->id == added.id)
    *at = std::move(added);
  else
    columns.insert(at, std::move(added));
}

/// Mostly values, which is what a reader meets last; now and then what it checks first.
void change_columns(std::vector<Stored>& columns, std::mt19937_64& random) {
  if (columns.empty()) return;
  const std::size_t chosen = random() % columns.size();
  switch (random() % 16) {
    case 0:
      return add_column(columns, Stored{columns[chosen]}, random);
    case 1:
      columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(chosen));
      return;
    case 2:  // one entry fewer or more than the rows ask for
      columns[chosen].entries += random() % 2 == 0 ? 1U : ~0U;
      return;
    default:
      return change_value(columns[chosen], random);
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

bool run(Input input) {
  ByteVector bytes(input.size());
  if (!input.empty()) std::memcpy(bytes.data(), input.data(), input.size());
  const bool whole = read(bytes);
  seal(bytes);
  return read(bytes) || whole;
}

/// An events block whose columns are changed, with all lengths right.
std::optional<std::string> mutated_by_structure(Input input, std::uint64_t seed) {
  std::mt19937_64 random{seed};
  ByteVector bytes(input.size());
  if (!input.empty()) std::memcpy(bytes.data(), input.data(), input.size());
  seal(bytes);
  std::vector<std::size_t> events;
  for (std::size_t at = kHeaderBytes; at + kHeaderBytes < bytes.size();) {
    HeaderBytes head;
    std::memcpy(head.data(), bytes.data() + at, head.size());
    const auto header = parse_block_header(head);
    if (!header) break;
    if (header->type == BlockType::kEvents) events.push_back(at);
    at += kHeaderBytes + header->payload_bytes;
  }
  if (events.empty()) return {};
  const std::size_t at = events[random() % events.size()];
  HeaderBytes head;
  std::memcpy(head.data(), bytes.data() + at, head.size());
  const BlockHeader header = *parse_block_header(head);
  std::vector<Stored> columns = columns_of(ByteSpan{bytes}.subspan(at + kHeaderBytes, header.payload_bytes));
  for (std::uint64_t i = 1 + random() % 4; i > 0; --i) change_columns(columns, random);
  const auto rows = random() % 32 == 0 ? static_cast<std::uint32_t>(random() % 64) : header.rows;
  const std::string_view text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  return std::string{text.substr(0, at)} +
         block(BlockType::kEvents, payload_of(columns), rows, header.number) +
         std::string{text.substr(at + kHeaderBytes + header.payload_bytes)};
}

/// A recording of two blocks of events, short enough that their columns are not compressed.
std::string written(unsigned seed) {
  const events::recording::ScratchFolder folder{in_memory()};
  events::recording::WriterOptions options;
  options.background = false;
  {
    auto writer =
        std::move(Writer::create(folder.path() / "recording", {4, {{"application", "a"}}}, options)).value();
    std::mt19937 random{seed};
    std::string bytes(500, '\0');
    for (char& b : bytes) b = static_cast<char>(random() % 250);
    Choices choices{{reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}};
    EventsOf events{choices, 4, *writer};
    events.all(20);
    writer->flush();
    events.all(20);
    static_cast<void>(writer->close());
  }
  std::string all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{folder.path()}) {
    std::ifstream in{entry.path(), std::ios::binary};
    if (entry.is_regular_file()) all.append(std::istreambuf_iterator<char>{in}, {});
  }
  return all;
}

/// The worked example's block of events (docs/formats/recording.md), after a definition; and some that are written.
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
  std::vector<std::string> all{begin + block(BlockType::kDefinitions, definitions, 0, 0) +
                               block(BlockType::kEvents, events, 4, 1) +
                               block(BlockType::kClosing, closing_payload({{3, 1, 0, 0}, ""}), 0, 2)};
  for (unsigned seed = 1; seed < 16; ++seed) all.push_back(written(seed));
  return all;
}

bool is_text() {
  return false;
}

}  // namespace nplus1::fuzz
