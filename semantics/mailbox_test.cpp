#include "semantics/mailbox.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "semantics/testing/mailboxes.hpp"

namespace nplus1::semantics {
namespace {

TEST(Mailbox, GivesAWaitingMessageToTheReceiveThatComes) {
  Mailbox box;
  Sender one{1};
  EXPECT_FALSE(box.arrive(one.message(7, 10)));
  const auto message = box.post(from(1, 7, 100));
  ASSERT_TRUE(message);
  EXPECT_EQ(message->sequence, 0U);
  EXPECT_EQ(box.waiting_messages(), 0U);
}

TEST(Mailbox, GivesAnArrivingMessageToTheFirstReceivePosted) {
  Mailbox box;
  Sender one{1};
  EXPECT_FALSE(box.post(from(1, 7, 100)));
  EXPECT_FALSE(box.post(from(1, 7, 101)));
  EXPECT_EQ(box.arrive(one.message(7, 10))->id, 100U);
  EXPECT_EQ(box.arrive(one.message(7, 10))->id, 101U);
  EXPECT_FALSE(box.arrive(one.message(7, 10)));
}

TEST(Mailbox, KeepsTheOrderOfSendsEvenIfALaterMessageArrivesEarlier) {
  Mailbox box;
  Sender one{1};
  box.arrive(one.message(7, 1000));
  box.arrive(one.message(7, 10));
  EXPECT_EQ(box.post(from(1, 7, 100))->sequence, 0U);
  EXPECT_EQ(box.post(from(1, 7, 101))->sequence, 1U);
}

TEST(Mailbox, TagsSelectAndAnyTagTakesTheFirst) {
  Mailbox box;
  Sender one{1};
  box.arrive(one.message(7, 10));
  box.arrive(one.message(8, 10));
  box.arrive(one.message(9, 10));
  EXPECT_EQ(box.post(from(1, 8, 100))->tag, 8);
  EXPECT_EQ(box.post(from(1, kAnyTag, 101))->tag, 7);
  EXPECT_EQ(box.post(from(1, kAnyTag, 102))->tag, 9);
}

TEST(Mailbox, CommunicatorsAndSourcesAreSeparate) {
  Mailbox box;
  Sender one{1};
  Sender two{2};
  box.arrive(one.message(7, 10, 5));
  box.arrive(two.message(7, 10, 6));
  EXPECT_FALSE(box.post(from(1, 7, 100, 6)));
  EXPECT_FALSE(box.post(from(2, 7, 101, 5)));
  EXPECT_TRUE(box.post(from(1, 7, 102, 5)));
  EXPECT_TRUE(box.post(from(2, 7, 103, 6)));
}

TEST(Mailbox, AnySourceTakesTheEarliestArrivalAndThenTheLowestRank) {
  Mailbox box;
  Sender one{1};
  Sender two{2};
  Sender three{3};
  box.arrive(three.message(7, 20));
  box.arrive(two.message(7, 20));
  box.arrive(one.message(7, 30));
  box.post_undecided(from_any(7, 100));
  const auto candidate = box.candidate();
  ASSERT_TRUE(candidate);
  EXPECT_EQ(candidate->source, RankId{2});
  EXPECT_EQ(candidate->at, at(20));
}

TEST(Mailbox, OfEachSourceAnySourceConsidersOnlyTheFirstCompatibleMessage) {
  Mailbox box;
  Sender one{1};
  Sender two{2};
  box.arrive(one.message(7, 50));
  box.arrive(one.message(7, 10));  // may not overtake the one before
  box.arrive(two.message(7, 40));
  box.post_undecided(from_any(7, 100));
  EXPECT_EQ(box.candidate()->source, RankId{2});
}

TEST(Mailbox, RendezvousIsSeenAfterItsAnnouncement) {
  Mailbox box{Duration{100}};
  Sender one{1};
  Sender two{2};
  Message announced = one.message(7, 0);
  announced.rendezvous = true;
  box.arrive(announced);
  box.arrive(two.message(7, 99));
  box.post_undecided(from_any(7, 100));
  EXPECT_EQ(box.candidate()->source, RankId{2});
}

TEST(Mailbox, ANamedReceiveBehindAnUndecidedOneWaitsForTheDecision) {
  Mailbox box;
  Sender one{1};
  Sender two{2};
  box.post_undecided(from_any(kAnyTag, 100));
  box.arrive(one.message(7, 30));
  EXPECT_FALSE(box.post(from(1, 7, 101)));  // the message could still be the undecided receive's
  box.arrive(two.message(7, 20));
  std::vector<Match> settled;
  box.decide(*box.candidate(), settled);
  ASSERT_EQ(settled.size(), 2U);
  EXPECT_EQ(settled[0].receive.id, 100U);
  EXPECT_EQ(settled[0].message.source, RankId{2});
  EXPECT_EQ(settled[1].receive.id, 101U);
  EXPECT_EQ(settled[1].message.source, RankId{1});
}

TEST(Mailbox, ANamedReceiveBehindAnUndecidedOneOfAnotherTagGoesOn) {
  Mailbox box;
  Sender one{1};
  box.post_undecided(from_any(9, 100));
  box.arrive(one.message(7, 30));
  EXPECT_TRUE(box.post(from(1, 7, 101)));
  EXPECT_FALSE(box.candidate());
}

TEST(Mailbox, AMessageForAnEarlierNamedReceivePassesTheUndecidedOne) {
  Mailbox box;
  Sender one{1};
  EXPECT_FALSE(box.post(from(1, 7, 100)));
  box.post_undecided(from_any(7, 101));
  EXPECT_EQ(box.arrive(one.message(7, 30))->id, 100U);
  EXPECT_FALSE(box.candidate());
}

TEST(Mailbox, AHeldReceiveKeepsItsPlaceBeforeLaterMessages) {
  Mailbox box;
  Sender one{1};
  box.post_undecided(from_any(1, 100));
  box.arrive(one.message(1, 30));
  EXPECT_FALSE(box.post(from(1, kAnyTag, 101)));
  EXPECT_FALSE(
      box.arrive(one.message(2, 40)));  // the undecided one cannot take it, but 101 comes first or second
  std::vector<Match> settled;
  box.decide(*box.candidate(), settled);
  ASSERT_EQ(settled.size(), 2U);
  EXPECT_EQ(settled[1].receive.id, 101U);
  EXPECT_EQ(settled[1].message.tag, 2);
}

TEST(Mailbox, ASecondUndecidedReceiveLeavesAHeldReceiveItsMessage) {
  Mailbox box;
  Sender one{1};
  Sender two{2};
  box.post_undecided(from_any(1, 100));
  box.arrive(one.message(1, 30));
  EXPECT_FALSE(box.post(from(1, kAnyTag, 101)));
  box.post_undecided(from_any(kAnyTag, 102));
  box.arrive(one.message(2, 5));  // 101 was posted before 102
  EXPECT_EQ(box.candidate()->receive_id, 100U);
  box.arrive(two.message(2, 50));
  std::vector<Match> settled;
  box.decide(*box.candidate(), settled);
  ASSERT_EQ(settled.size(), 2U);
  EXPECT_EQ(settled[1].receive.id, 101U);
  EXPECT_EQ(settled[1].message.tag, 2);
  EXPECT_EQ(box.candidate()->receive_id, 102U);
  EXPECT_EQ(box.candidate()->source, RankId{2});
}

TEST(Mailbox, CancellingAnUndecidedReceiveFreesTheHeldOnes) {
  Mailbox box;
  Sender one{1};
  box.post_undecided(from_any(7, 100));
  box.arrive(one.message(7, 30));
  EXPECT_FALSE(box.post(from(1, 7, 101)));
  std::vector<Match> settled;
  EXPECT_TRUE(box.cancel(100, settled));
  ASSERT_EQ(settled.size(), 1U);
  EXPECT_EQ(settled[0].receive.id, 101U);
  EXPECT_FALSE(box.cancel(100, settled));
}

TEST(Mailbox, CancelRemovesANamedReceive) {
  Mailbox box;
  Sender one{1};
  std::vector<Match> settled;
  EXPECT_FALSE(box.post(from(1, 7, 100)));
  EXPECT_TRUE(box.cancel(100, settled));
  EXPECT_FALSE(box.arrive(one.message(7, 10)));
}

TEST(Mailbox, PeekLeavesAndTakeRemoves) {
  Mailbox box;
  Sender one{1};
  Sender two{2};
  box.arrive(one.message(7, 30));
  box.arrive(two.message(8, 20));
  EXPECT_EQ(box.peek(0, kAnySource, kAnyTag)->source, RankId{2});
  EXPECT_EQ(box.peek(0, kAnySource, 7)->source, RankId{1});
  EXPECT_EQ(box.peek(0, RankId{1}, 8), nullptr);
  EXPECT_EQ(box.peek(1, kAnySource, kAnyTag), nullptr);
  EXPECT_TRUE(box.take(0, RankId{2}, 0));
  EXPECT_FALSE(box.take(0, RankId{2}, 0));
  EXPECT_EQ(box.peek(0, kAnySource, kAnyTag)->source, RankId{1});
}

TEST(Mailbox, PeekDoesNotSeeWhatAnUndecidedReceiveMayTake) {
  Mailbox box;
  Sender one{1};
  box.post_undecided(from_any(7, 100));
  box.arrive(one.message(7, 30));
  box.arrive(one.message(8, 40));
  EXPECT_EQ(box.peek(0, RankId{1}, 7), nullptr);
  EXPECT_EQ(box.peek(0, RankId{1}, kAnyTag), nullptr);
  EXPECT_EQ(box.peek(0, kAnySource, 8)->tag, 8);
}

TEST(Mailbox, ForgetsTagsThatWereOnlyProbedForAndStillSeesTheirMessages) {
  Mailbox box;
  Sender one{1};
  Sender two{2};
  box.arrive(one.message(3, 20));
  box.arrive(two.message(3, 10));
  box.post_undecided(from_any(700, 100));
  for (int round = 0; round < 2; ++round)
    for (std::int32_t tag = 0; tag < 300; ++tag) {
      const Message* seen = box.peek(0, kAnySource, tag);
      ASSERT_EQ(seen != nullptr, tag == 3) << tag;
      if (tag == 3) {
        EXPECT_EQ(seen->source, RankId{2});
      }
    }
  // The receive was not forgotten with them.
  box.arrive(one.message(700, 30));
  const auto next = box.candidate();
  ASSERT_TRUE(next);
  std::vector<Match> settled;
  box.decide(*next, settled);
  ASSERT_EQ(settled.size(), 1U);
  EXPECT_EQ(settled[0].receive.id, 100U);
  EXPECT_EQ(settled[0].message.tag, 700);
}

TEST(Mailbox, UpdateMakesARendezvousMessageEager) {
  Mailbox box{Duration{1000}};
  Sender one{1};
  Message message = one.message(7, 10);
  message.rendezvous = true;
  box.arrive(message);
  EXPECT_EQ(box.visible(*box.peek(0, kAnySource, 7)), at(1010));
  message.rendezvous = false;
  message.at = at(50);
  EXPECT_TRUE(box.update(message));
  EXPECT_EQ(box.visible(*box.peek(0, kAnySource, 7)), at(50));
  EXPECT_EQ(box.find(0, RankId{1}, 0)->at, at(50));
  EXPECT_EQ(box.find(0, RankId{1}, 1), nullptr);
}

}  // namespace
}  // namespace nplus1::semantics
