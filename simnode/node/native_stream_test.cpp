#include "simnode/node/native_stream.hpp"

#include <gtest/gtest.h>

namespace nplus1::simnode::node {
namespace {

using events::Answer;
using events::AnswerKind;
using events::Event;
using events::EventKind;

struct Told final : events::EventSink {
  struct Call {
    std::int32_t rank;
    EventKind kind;
    std::uint64_t sequence;
    std::uint64_t ordinal;
    Time exit;
  };
  void on_event(const events::TimedEvent& e) override {
    calls.push_back({e.rank.value, e.event.kind, e.answer.sequence, e.ordinal, e.exit});
  }
  void on_match(RankId receiver, const Answer& match) override {
    matches.push_back({receiver.value, match.request.value, match.source, match.sequence});
  }
  std::vector<Call> calls;
  std::vector<std::tuple<std::int32_t, std::uint32_t, std::int32_t, std::uint64_t>> matches;
};

class NativeStreamTest : public testing::Test {
 protected:
  void call(std::int32_t rank, EventKind kind, std::int32_t peer = 0, std::int32_t tag = 0,
            std::uint32_t request = 0) {
    Event event;
    event.kind = kind;
    event.peer = peer;
    event.tag = tag;
    event.request = RequestId{request};
    stream.take(RankId{rank}, event, {}, nullptr);
  }
  void ends(std::int32_t rank, std::int64_t at, std::int32_t source = 0, std::int32_t tag = 0) {
    Answer answer;
    answer.kind = AnswerKind::kExit;
    answer.exit_ps = at;
    answer.source = source;
    answer.tag = tag;
    stream.take_outcome(RankId{rank}, answer, {});
  }
  void matched(std::int32_t rank, std::uint32_t request, std::int32_t source, std::int32_t tag) {
    Answer match;
    match.kind = AnswerKind::kMatch;
    match.request = RequestId{request};
    match.source = source;
    match.tag = tag;
    stream.take_outcome(RankId{rank}, match, {});
  }

  Told told;
  NativeStream stream{3, told};
};

TEST_F(NativeStreamTest, CallsGoOnWhenTheirOutcomeIsTold) {
  call(0, EventKind::kLocal);
  EXPECT_TRUE(told.calls.empty());
  ends(0, 7);
  ASSERT_EQ(told.calls.size(), 1U);
  EXPECT_EQ(told.calls[0].exit, Time{Duration{7}});
}

TEST_F(NativeStreamTest, AReceiveGetsItsMessagesNumberAmongAllOfTheSender) {
  for (const std::int32_t tag : {5, 6}) {
    call(1, EventKind::kSend, 0, tag);
    ends(1, 1);
  }
  call(0, EventKind::kRecv, 1, 6);
  ends(0, 2, 1, 6);
  ASSERT_EQ(told.calls.size(), 3U);
  EXPECT_EQ(told.calls[2].sequence, 1U);
}

/// The receiver's ring is read before the sender's.
TEST_F(NativeStreamTest, AReceiversStreamWaitsForTheSend) {
  call(0, EventKind::kRecv, kAnySource.value, 5);
  ends(0, 2, 1, 5);
  call(0, EventKind::kFinalize);
  ends(0, 3);
  EXPECT_TRUE(told.calls.empty());
  call(1, EventKind::kSend, 0, 5);
  ASSERT_EQ(told.calls.size(), 2U);
  EXPECT_EQ(told.calls[0].kind, EventKind::kRecv);
  EXPECT_EQ(told.calls[1].kind, EventKind::kFinalize);
  EXPECT_EQ(told.calls[1].ordinal, 1U);
}

/// Requests complete in another order than they were posted; MPI matches in the order of posting.
TEST_F(NativeStreamTest, ReceivesOfOneKindPairWithSendsInTheOrderOfPosting) {
  for (const std::uint32_t request : {1U, 2U}) {
    call(0, EventKind::kIrecv, 1, 5, request);
    ends(0, 1);
    call(1, EventKind::kIsend, 0, 5, request);
    ends(1, 1);
  }
  matched(0, 2, 1, 5);
  matched(0, 1, 1, 5);
  ASSERT_EQ(told.matches.size(), 2U);
  EXPECT_EQ(told.matches[0], std::make_tuple(0, 2U, 1, std::uint64_t{1}));
  EXPECT_EQ(told.matches[1], std::make_tuple(0, 1U, 1, std::uint64_t{0}));
}

TEST_F(NativeStreamTest, ACancelledReceiveLeavesItsMessageToTheNext) {
  for (const std::uint32_t request : {1U, 2U, 3U}) {
    call(1, EventKind::kIrecv, 0, 5, request);
    ends(1, 1);
  }
  call(1, EventKind::kCancelled, 0, 5, 2);
  ends(1, 2);
  for (int message = 0; message < 2; ++message) {
    call(0, EventKind::kSend, 1, 5);
    ends(0, 3);
  }
  matched(1, 1, 0, 5);
  matched(1, 3, 0, 5);
  stream.finish();
  EXPECT_EQ(stream.unknown_messages(), 0U);
  ASSERT_EQ(told.matches.size(), 2U);
  EXPECT_EQ(std::get<3>(told.matches[1]), 1U);
}

TEST_F(NativeStreamTest, WhatNeverReturnedIsUnfinishedAndWhatNobodySentIsCounted) {
  call(0, EventKind::kRecv, 1, 5);
  ends(0, 2, 1, 5);
  call(2, EventKind::kWait);
  stream.finish();
  ASSERT_EQ(told.calls.size(), 2U);
  EXPECT_EQ(told.calls[1].exit, events::kUnfinished);
  EXPECT_EQ(stream.unknown_messages(), 1U);
}

}  // namespace
}  // namespace nplus1::simnode::node
