// For tests: a recording written call by call, as no live run is sure to make it, and its replay.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "events/recording/testing/scratch_folder.hpp"
#include "events/recording/writer.hpp"
#include "hypothesis/replay/replay.hpp"
#include "netmodel/network_model.hpp"

namespace nplus1::hypothesis {

using events::Answer;
using events::Event;
using events::EventKind;
using events::recording::Reader;
using events::recording::Writer;

inline constexpr std::int64_t kUs = 1'000'000;  // ps

struct WrittenCall {
  std::int32_t rank;
  EventKind kind;
  std::int64_t entry;
  std::int64_t exit;
  std::int64_t compute;
  std::int32_t peer = 0;
  std::uint64_t ordinal = 0;
  std::uint32_t request = 0;
  std::vector<std::uint32_t> words = {};
  std::vector<std::uint32_t> completed = {};
  Answer answer = {};
  events::CompletionMode mode = events::CompletionMode::kAll;
  std::uint16_t thread = 0;
  std::uint8_t flags = 0;
  std::uint64_t aux = 0;
};

class ReplayOfWritten : public testing::Test {
 protected:
  void begin(std::int32_t ranks) {
    auto writer = Writer::create(folder_.path() / "recording", {ranks, {}}, {});
    ASSERT_TRUE(writer.ok()) << writer.error().what;
    writer_ = std::move(writer).value();
  }
  void write(const WrittenCall& call) {
    Event event;
    event.kind = call.kind;
    event.thread = ThreadId{call.thread};
    event.peer = call.peer;
    event.request = RequestId{call.request};
    event.operation = call.kind == EventKind::kWait || call.kind == EventKind::kTest
                          ? static_cast<std::uint8_t>(call.mode)
                          : std::uint8_t{0};
    event.aux = call.words.empty() ? call.aux : call.words.size();
    event.flags = call.flags;
    event.entry_ps = call.entry;
    event.compute_ps = call.compute;
    Answer answer = call.answer;
    answer.kind = events::AnswerKind::kExit;
    writer_->on_event({RankId{call.rank},
                       event,
                       {call.words, {}},
                       Time{Duration{call.exit}},
                       answer,
                       call.completed,
                       nullptr,
                       call.ordinal});
  }
  void write_match(std::int32_t rank, std::uint32_t request, std::int32_t source) {
    Answer match;
    match.kind = events::AnswerKind::kMatch;
    match.request = RequestId{request};
    match.source = source;
    writer_->on_match(RankId{rank}, match);
  }
  ReplayResult replayed(const std::string& network, Decisions decisions = Decisions::kRecorded) {
    if (writer_) {
      EXPECT_FALSE(writer_->close().has_value());
    }
    writer_.reset();
    auto reader = Reader::open(folder_.path() / "recording");
    EXPECT_TRUE(reader.ok());
    const auto model = netmodel::parse(network);
    EXPECT_TRUE(model.ok());
    ReplayOptions options;
    options.network = model.value().get();
    options.decisions = decisions;
    auto result = replay(reader.value(), options);
    EXPECT_TRUE(result.ok()) << result.error().what;
    return std::move(result).value();
  }
  static std::int64_t end(const ReplayResult& result, std::size_t rank) {
    return result.ranks[rank].end.time_since_epoch().count();
  }

  events::recording::ScratchFolder folder_;
  std::unique_ptr<Writer> writer_;
};

}  // namespace nplus1::hypothesis
