#include "hypothesis/transform/rank_order.hpp"

#include <gtest/gtest.h>

#include <string>

namespace nplus1::hypothesis::transform {
namespace {

/// "0 1 m2": ordinals as they come, and matches by request.
class Order final : public events::EventSink {
 public:
  void on_event(const events::TimedEvent& timed) override {
    text += (text.empty() ? "" : " ") + std::to_string(timed.ordinal);
  }
  void on_match(RankId /*receiver*/, const events::Answer& match) override {
    text += " m" + std::to_string(match.request.value);
  }
  std::string text;
};

class RankOrdered : public testing::Test {
 protected:
  void come(std::uint64_t ordinal, std::uint16_t thread, events::EventKind kind = events::EventKind::kSend,
            std::uint32_t request = 0) {
    events::Event event;
    event.kind = kind;
    event.thread = ThreadId{thread};
    event.request = RequestId{request};
    order_.on_event({RankId{0}, event, {}, kTimeZero, events::kNoAnswer, {}, nullptr, ordinal});
  }
  void match(std::uint32_t request) {
    events::Answer answer;
    answer.request = RequestId{request};
    order_.on_match(RankId{0}, answer);
  }
  Order out_;
  RankOrder order_;
};

TEST_F(RankOrdered, CallsOfOtherThreadsThatCameEarlierWaitForTheirTurn) {
  order_.begin(out_);
  come(0, 0);
  come(2, 1);
  come(3, 1);
  EXPECT_EQ(out_.text, "0");
  come(1, 0);
  EXPECT_EQ(out_.text, "0 1 2 3");
}

TEST_F(RankOrdered, AMatchFollowsItsReceive) {
  order_.begin(out_);
  come(1, 1, events::EventKind::kIrecv, 7);
  match(7);
  come(0, 0);
  match(9);
  EXPECT_EQ(out_.text, "0 1 m7 m9");
}

TEST_F(RankOrdered, WhatIsMissingIsNotWaitedForForEver) {
  order_.begin(out_);
  come(5, 0);
  EXPECT_EQ(out_.text, "");
  order_.finish();
  EXPECT_EQ(out_.text, "5");
}

TEST_F(RankOrdered, AnotherPassBeginsAnew) {
  order_.begin(out_);
  come(0, 0);
  order_.begin(out_);
  come(0, 0);
  EXPECT_EQ(out_.text, "0 0");
}

}  // namespace
}  // namespace nplus1::hypothesis::transform
