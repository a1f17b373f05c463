// What a damaged recording may do to its reader: nothing but an Error or a Coverage that says so.
#include <gtest/gtest.h>

#include <fstream>

#include "events/recording/format.hpp"
#include "events/recording/reader.hpp"
#include "events/recording/testing/sampler.hpp"
#include "events/recording/testing/scratch_folder.hpp"
#include "events/recording/writer.hpp"

namespace nplus1::events::recording {
namespace {

using Text = std::string;  // the bytes of a file

Text contents(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

void write_file(const std::filesystem::path& file, const Text& text) {
  std::ofstream{file, std::ios::binary} << text;
}

/// A small recording with several blocks of each type, compressed and plain columns, and what is in it.
class DamagedRecording : public testing::Test {
 protected:
  DamagedRecording() {
    auto writer = std::move(Writer::create(folder_.path(), {kRanks, {{"application", "app"}}})).value();
    Sampler sampler{17, kRanks};
    const std::vector<EventSink*> sinks{&told_, writer.get()};
    for (const int rows : {1, 4, 66}) {
      for (EventSink* sink : sinks) sink->on_region({RegionId{1}, std::string(150, 'r')});
      for (EventSink* sink : sinks) sink->on_communicator({CommId{1}, {RankId{2}, RankId{0}}, 1});
      sampler.rows(rows, sinks);
      writer->flush();
    }
    writer->close();
    text_ = contents(folder_.path() / kFileName);
  }

  struct Outcome {
    std::string error;  // of open()
    Coverage coverage;
    Properties properties;
    Listening heard;
  };

  Outcome read(const Text& text) {
    const auto file = folder_.path() / "damaged";
    write_file(file, text);
    Outcome out;
    Result<Reader> reader = Reader::open(file);
    if (!reader) {
      out.error = reader.error().what;
      EXPECT_NE(out.error.find(file.string()), std::string::npos);
      EXPECT_FALSE(reader.error().remedy.empty());
      return out;
    }
    out.properties = reader.value().properties();
    Listening checked;  // what the sampler makes up need not pass, but must not hurt
    static_cast<void>(reader.value().read(checked));
    out.coverage = reader.value().read(out.heard, {.unchecked = true}).value();
    if (!out.coverage.stopped.empty()) {
      EXPECT_NE(out.coverage.stopped.find(file.string()), std::string::npos);
      EXPECT_NE(out.coverage.stopped.find("offset "), std::string::npos);
    }
    return out;
  }

  static bool starts_with(const std::vector<Heard>& all, const std::vector<Heard>& first) {
    return first.size() <= all.size() && std::equal(first.begin(), first.end(), all.begin());
  }

  /// Whatever was played is what was recorded, in order from the start; and "complete" means all of it.
  void expect_honest(const Outcome& out, const std::string& what) {
    EXPECT_TRUE(starts_with(told_.rows, out.heard.rows)) << what;
    EXPECT_TRUE(starts_with(told_.definitions, out.heard.definitions)) << what;
    if (out.coverage.complete) {
      EXPECT_EQ(out.heard.rows.size(), told_.rows.size()) << what;
      EXPECT_EQ(out.heard.definitions.size(), told_.definitions.size()) << what;
      EXPECT_EQ(out.properties.at("application"), "app") << what;
    }
  }

  std::vector<std::size_t> block_offsets() const {
    std::vector<std::size_t> offsets;
    for (std::size_t at = kHeaderBytes; at < text_.size();) {
      offsets.push_back(at);
      at += kHeaderBytes + header_at(at).payload_bytes;
    }
    return offsets;
  }

  BlockHeader header_at(std::size_t offset) const {
    HeaderBytes bytes{};
    std::memcpy(bytes.data(), text_.data() + offset, bytes.size());
    return parse_block_header(bytes).value();
  }

  static constexpr std::int32_t kRanks = 5;
  ScratchFolder folder_;
  Listening told_;
  Text text_;
};

TEST_F(DamagedRecording, IsCompleteWithoutDamage) {
  const Outcome out = read(text_);
  EXPECT_TRUE(out.coverage.complete);
  expect_honest(out, "unchanged");
  EXPECT_EQ(block_offsets().size(), 8U);  // properties, 3 x definitions and events, closing
}

TEST_F(DamagedRecording, CutAtAnyLengthGivesWhatCameBefore) {
  const std::vector<std::size_t> offsets = block_offsets();
  for (std::size_t length = 0; length < text_.size(); ++length) {
    const Outcome out = read(text_.substr(0, length));
    EXPECT_FALSE(out.coverage.complete) << length;
    expect_honest(out, "cut at " + std::to_string(length));
    EXPECT_EQ(out.error.empty(), length >= kHeaderBytes) << length;
    std::uint64_t rows = 0;  // of the blocks that are whole
    for (const std::size_t at : offsets)
      if (at + kHeaderBytes + header_at(at).payload_bytes <= length) rows += header_at(at).rows;
    EXPECT_EQ(out.heard.rows.size(), rows) << length;
  }
}

TEST_F(DamagedRecording, WithAnyBitFlippedSaysSo) {
  std::mt19937 random{3};
  for (std::size_t at = 0; at < text_.size(); ++at) {
    Text flipped = text_;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << (random() % 8)));
    const Outcome out = read(flipped);
    EXPECT_FALSE(out.coverage.complete) << "byte " << at;
    EXPECT_TRUE(!out.error.empty() || !out.coverage.stopped.empty()) << "byte " << at;
    expect_honest(out, "flipped byte " + std::to_string(at));
  }
}

TEST_F(DamagedRecording, WithRandomBytesInItSaysSo) {
  std::mt19937 random{4};
  for (int i = 0; i < 3000; ++i) {
    Text changed = text_;
    const std::size_t at = random() % changed.size();
    for (std::size_t k = at; k < std::min(changed.size(), at + 1 + random() % 64); ++k)
      changed[k] = static_cast<char>(random());
    if (changed == text_) continue;
    const Outcome out = read(changed);
    EXPECT_FALSE(out.coverage.complete) << i;
    expect_honest(out, "mutation " + std::to_string(i));
  }
}

TEST_F(DamagedRecording, WithABlockMissingTwiceOrMovedSaysSo) {
  const std::vector<std::size_t> offsets = block_offsets();
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const std::size_t size = kHeaderBytes + header_at(offsets[i]).payload_bytes;
    const Text block = text_.substr(offsets[i], size);
    Text missing = text_;
    missing.erase(offsets[i], size);
    Text twice = text_;
    twice.insert(offsets[i], block);
    Text moved = missing;
    moved.insert(i == 0 ? moved.size() : offsets[i - 1], block);
    for (const Text& text : {missing, twice, moved}) {
      const Outcome out = read(text);
      EXPECT_FALSE(out.coverage.complete) << "block " << i;
      expect_honest(out, "block " + std::to_string(i));
    }
  }
}

TEST_F(DamagedRecording, SaysHowManyRowsAreBehindTheDamage) {
  const std::vector<std::size_t> offsets = block_offsets();
  Text payload = text_;
  payload[offsets[4] + kHeaderBytes] ^= 1;  // of the block with 4 rows
  EXPECT_EQ(read(payload).coverage.lost_rows, 70U);
  EXPECT_EQ(read(payload).coverage.events + read(payload).coverage.matches, 1U);
  Text header = text_;
  header[offsets[4] + 9] ^= 1;
  EXPECT_EQ(read(header).coverage.lost_rows, 66U);  // its own count can't be trusted
  EXPECT_NE(read(header).coverage.text().find("66 later events and matches are lost"), std::string::npos);
}

/// Blocks that are damaged before their checksums are made: what a hostile writer could do.
TEST_F(DamagedRecording, WithSoundChecksumsOverNonsenseNeverHurts) {
  std::mt19937 random{5};
  const std::vector<std::size_t> offsets = block_offsets();
  int refused = 0;
  for (int i = 0; i < 6000; ++i) {
    const std::size_t at = offsets[random() % offsets.size()];
    BlockHeader header = header_at(at);
    Text changed = text_;
    for (std::size_t k = 1 + random() % 3; k > 0; --k) {
      const std::size_t place = random() % 4 == 0 ? random() % std::min(header.payload_bytes, 40U)
                                                  : random() % header.payload_bytes;
      changed[at + kHeaderBytes + place] = static_cast<char>(random() % 3 == 0 ? 0xff : random());
    }
    if (random() % 8 == 0) header.rows = static_cast<std::uint32_t>(random() % (kMaxRows + 1));
    header.payload_crc =
        crc32_of(std::as_bytes(std::span{changed.data() + at + kHeaderBytes, header.payload_bytes}));
    const HeaderBytes sealed = block_header(header);
    std::memcpy(changed.data() + at, sealed.data(), sealed.size());
    const Outcome out = read(changed);
    if (!out.coverage.complete) ++refused;
  }
  EXPECT_GT(refused, 1000);
}

TEST_F(DamagedRecording, WithMoreRanksThanItHasRoomForIsRefused) {
  const HeaderBytes head = file_header(1 << 24U);
  Text changed = text_;
  std::memcpy(changed.data(), head.data(), head.size());
  EXPECT_NE(read(changed).error.find("16777216 ranks"), std::string::npos) << read(changed).error;
}

TEST_F(DamagedRecording, StopsAtTheFirstClaimThatCannotBe) {
  const ScratchFolder folder;
  auto writer = std::move(Writer::create(folder.path(), {kRanks, {}})).value();
  Event event;
  event.kind = EventKind::kSend;
  for (const std::int32_t peer : {1, -1, 2}) {  // nobody sends to any source
    event.peer = peer;
    writer->on_event({RankId{0}, event, {}, kTimeZero});
  }
  writer->close();
  Listening heard;
  const Coverage coverage = std::move(Reader::open(folder.path())).value().read(heard).value();
  EXPECT_EQ(heard.rows.size(), 1U);
  EXPECT_EQ(coverage.events, 1U);
  EXPECT_FALSE(coverage.complete);
  EXPECT_NE(coverage.stopped.find("there is no peer -1"), std::string::npos) << coverage.stopped;
}

TEST_F(DamagedRecording, OfANewerMajorVersionIsRefusedByName) {
  Text newer = text_;
  newer[8] = 2;
  newer[10] = 7;
  EXPECT_NE(read(newer).error.find("version 2.7"), std::string::npos);
}

/// `header`'s block with `payload`, at the end of `text` or before its closing block.
Text block_of(BlockType type, std::uint64_t number, const ByteVector& payload, std::uint32_t rows = 0) {
  BlockHeader header;
  header.type = type;
  header.payload_bytes = static_cast<std::uint32_t>(payload.size());
  header.rows = rows;
  header.number = number;
  header.payload_crc = crc32_of(payload);
  const HeaderBytes sealed = block_header(header);
  return Text{reinterpret_cast<const char*>(sealed.data()), sealed.size()} +
         Text{reinterpret_cast<const char*>(payload.data()), payload.size()};
}

TEST_F(DamagedRecording, OfANewerMinorVersionIsReadWithoutWhatIsUnknown) {
  const std::size_t closing = block_offsets().back();
  ByteVector payload{text_.size() - closing - kHeaderBytes, std::byte{0}};
  payload = closing_payload({{told_.rows.size(), 0, 0, 0}, ""});
  put(payload, std::uint64_t{42});  // a field that we do not know
  ByteVector definitions;           // a record that we do not know
  put(definitions, std::uint8_t{0});
  put(definitions, std::uint32_t{4});
  for (const int byte : {99, 2, 1, 2}) put(definitions, static_cast<std::uint8_t>(byte));
  const Text newer = text_.substr(0, closing) + block_of(BlockType{77}, 7, ByteVector(9)) +
                     block_of(BlockType::kDefinitions, 8, definitions) +
                     block_of(BlockType::kClosing, 9, payload);
  const Outcome out = read(newer);
  EXPECT_TRUE(out.coverage.complete) << out.coverage.text();
  expect_honest(out, "newer");
}

TEST_F(DamagedRecording, SkipsAColumnThatItDoesNotKnow) {
  const std::size_t at = block_offsets()[6];  // the largest events block
  const BlockHeader header = header_at(at);
  ByteVector payload(header.payload_bytes);
  std::memcpy(payload.data(), text_.data() + at + kHeaderBytes, payload.size());
  put(payload, std::uint8_t{200});
  put(payload, std::uint8_t{9});
  put(payload, std::uint16_t{0});
  put(payload, std::uint32_t{0xffffffff});
  put(payload, std::uint32_t{3});
  payload.resize(payload.size() + 3);
  const Text newer = text_.substr(0, at) + block_of(BlockType::kEvents, header.number, payload, header.rows) +
                     text_.substr(at + kHeaderBytes + header.payload_bytes);
  const Outcome out = read(newer);
  EXPECT_TRUE(out.coverage.complete) << out.coverage.text();
  expect_honest(out, "unknown column");
}

TEST_F(DamagedRecording, ThatIsNoneSaysWhatItIs) {
  EXPECT_NE(read("").error.find("is empty"), std::string::npos);
  EXPECT_NE(read("hello").error.find("not a recording"), std::string::npos);
  EXPECT_NE(read(Text(4096, 'x')).error.find("not a recording"), std::string::npos);
  const ScratchFolder empty;
  EXPECT_FALSE(Reader::open(empty.path()).ok());
  EXPECT_FALSE(Reader::open(empty.path() / "missing").ok());
  EXPECT_FALSE(Reader::open("/dev/zero").ok());
  std::filesystem::create_directory(empty.path() / kFileName);
  EXPECT_FALSE(Reader::open(empty.path()).ok());
}

}  // namespace
}  // namespace nplus1::events::recording
