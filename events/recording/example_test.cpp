// Holds writer and reader to the worked example in docs/formats/recording.md, byte for byte.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "events/recording/reader.hpp"
#include "events/recording/testing/sampler.hpp"
#include "events/recording/testing/scratch_folder.hpp"
#include "events/recording/writer.hpp"

namespace nplus1::events::recording {
namespace {

/// Rank 1 receives 8 bytes from rank 0.
void tell_example(EventSink& sink) {
  sink.on_region({RegionId{1}, "x"});
  Event irecv;
  irecv.kind = EventKind::kIrecv;
  irecv.request = RequestId{1};
  irecv.tag = 7;
  irecv.size = 8;
  irecv.compute_ps = irecv.entry_ps = 1000;
  sink.on_event({RankId{1}, irecv, {}, irecv.entry()});
  Event send;
  send.kind = EventKind::kSend;
  send.peer = 1;
  send.tag = 7;
  send.size = 8;
  send.compute_ps = send.entry_ps = 2000;
  Detail detail;
  detail.content = kHasCrc;
  detail.crc = 0x11223344;
  sink.on_event({RankId{0}, send, {}, Time{Duration{2500}}, kNoAnswer, {}, &detail});
  Answer match;
  match.kind = AnswerKind::kMatch;
  match.request = RequestId{1};
  match.tag = 7;
  match.size = 8;
  match.exit_ps = 3000;
  sink.on_match(RankId{1}, match);
  Event wait;
  wait.kind = EventKind::kWait;
  wait.aux = 1;
  wait.compute_ps = 500;
  wait.entry_ps = 1500;
  const std::uint32_t ids[]{1};
  sink.on_event({RankId{1}, wait, {ids, {}}, Time{Duration{3000}}, kNoAnswer, {}, nullptr, 1});
}

/// The bytes of the document's dump: lines "offset: hex digits | meaning".
std::string documented_bytes() {
  std::ifstream document{NPLUS1_SOURCE_DIR "/docs/formats/recording.md"};
  std::string bytes;
  for (std::string line; std::getline(document, line);) {
    const std::size_t colon = line.find(": ");
    const std::size_t bar = line.find(" | ");
    if (colon != 4 || bar == std::string::npos || line.find_first_not_of("0123456789abcdef") != 4) continue;
    EXPECT_EQ(std::stoul(line.substr(0, 4), nullptr, 16), bytes.size()) << line;
    std::istringstream digits{line.substr(6, bar - 6)};
    for (std::string pair; digits >> pair;) bytes += static_cast<char>(std::stoi(pair, nullptr, 16));
  }
  return bytes;
}

TEST(WorkedExample, IsWhatTheWriterWrites) {
  const ScratchFolder folder;
  auto writer = std::move(Writer::create(folder.path(), {2, {{"a", "b"}}})).value();
  tell_example(*writer);
  writer->close();
  std::ifstream in{folder.path() / kFileName, std::ios::binary};
  const std::string written{std::istreambuf_iterator<char>{in}, {}};
  EXPECT_EQ(written, documented_bytes());
}

TEST(WorkedExample, IsReadAsItWasTold) {
  const ScratchFolder folder;
  std::ofstream{folder.path() / kFileName, std::ios::binary} << documented_bytes();
  Listening told;
  tell_example(told);
  Listening heard;
  Reader reader = std::move(Reader::open(folder.path())).value();
  EXPECT_EQ(reader.read(heard).value().text(), "complete");
  EXPECT_EQ(reader.properties(), (Properties{{"a", "b"}}));
  EXPECT_EQ(heard.rows, told.rows);
  EXPECT_EQ(heard.definitions, told.definitions);
}

}  // namespace
}  // namespace nplus1::events::recording
