#include "semantics/mailbox.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace nplus1::semantics {
namespace {

Time at(std::int64_t ps) {
  return Time{Duration{ps}};
}

struct Sender {
  std::int32_t rank;
  std::uint64_t sent = 0;
  Message message(std::int32_t tag, std::int64_t arrival, std::uint64_t comm = 0) {
    return {comm, RankId{rank}, tag, bytes(8), sent++, at(arrival), 0, false};
  }
};

Receive from(std::int32_t source, std::int32_t tag, std::uint64_t id, std::uint64_t comm = 0) {
  return {comm, RankId{source}, tag, id, {}};
}

Receive from_any(std::int32_t tag, std::uint64_t id) {
  return from(kAnySource.value, tag, id);
}

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

// A list of everything, searched from the front: slow, and obviously MPI's rule for named receives.
class PlainMailbox {
 public:
  std::optional<Message> post(const Receive& r) {
    for (auto it = messages_.begin(); it != messages_.end(); ++it) {
      if (!fits(r, *it)) continue;
      const Message m = *it;
      messages_.erase(it);
      return m;
    }
    receives_.push_back(r);
    return std::nullopt;
  }
  std::optional<Receive> arrive(const Message& m) {
    for (auto it = receives_.begin(); it != receives_.end(); ++it) {
      if (!fits(*it, m)) continue;
      const Receive r = *it;
      receives_.erase(it);
      return r;
    }
    messages_.push_back(m);
    return std::nullopt;
  }

 private:
  static bool fits(const Receive& r, const Message& m) {
    return r.comm == m.comm && r.source == m.source && (r.tag == kAnyTag || r.tag == m.tag);
  }
  std::deque<Message> messages_;
  std::deque<Receive> receives_;
};

TEST(Mailbox, AgreesWithAPlainListOnRandomNamedTraffic) {
  std::mt19937 random{1};
  Mailbox box;
  PlainMailbox plain;
  std::vector<Sender> senders;
  for (std::int32_t r = 0; r < 40; ++r) senders.push_back({r});
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const auto source = static_cast<std::int32_t>(random() % 40);
    const std::uint64_t comm = random() % 3;
    const auto tag = static_cast<std::int32_t>(random() % 3);
    if (random() % 2 == 0) {
      const Message m = senders[static_cast<std::size_t>(source)].message(tag, 0, comm);
      const auto fast = box.arrive(m);
      const auto slow = plain.arrive(m);
      ASSERT_EQ(fast.has_value(), slow.has_value());
      if (fast) {
        ASSERT_EQ(fast->id, slow->id);
      }
    } else {
      const Receive r = from(source, random() % 4 == 0 ? kAnyTag : tag, i, comm);
      const auto fast = box.post(r);
      const auto slow = plain.post(r);
      ASSERT_EQ(fast.has_value(), slow.has_value());
      if (fast) {
        ASSERT_EQ(fast->sequence, slow->sequence);
      }
    }
  }
}

// With every decision made at once in order of arrival, any-source receives follow the plain list's rule too.
TEST(Mailbox, DecidingAtOnceAgreesWithAPlainListInOrderOfArrival) {
  std::mt19937 random{2};
  for (int round = 0; round < 200; ++round) {
    Mailbox box;
    std::vector<Sender> senders;
    for (std::int32_t r = 0; r < 4; ++r) senders.push_back({r});
    std::vector<Receive> open;
    std::vector<Match> expected;
    std::vector<Match> settled;
    for (std::uint64_t id = 0; id < 8; ++id) {
      const auto tag = random() % 2 == 0 ? kAnyTag : static_cast<std::int32_t>(random() % 2);
      const Receive r =
          random() % 2 == 0 ? from_any(tag, id) : from(static_cast<std::int32_t>(random() % 4), tag, id);
      open.push_back(r);
      if (r.source == kAnySource)
        box.post_undecided(r);
      else
        EXPECT_FALSE(box.post(r));
    }
    for (std::int64_t now = 0; now < 20; ++now) {
      const Message m = senders[random() % 4].message(static_cast<std::int32_t>(random() % 2), now);
      for (auto it = open.begin(); it != open.end(); ++it) {
        if (it->source != kAnySource && it->source != m.source) continue;
        if (it->tag != kAnyTag && it->tag != m.tag) continue;
        expected.push_back({*it, m});
        open.erase(it);
        break;
      }
      if (const auto r = box.arrive(m)) settled.push_back({*r, m});
      while (const auto candidate = box.candidate()) box.decide(*candidate, settled);
    }
    ASSERT_EQ(settled.size(), expected.size());
    for (std::size_t i = 0; i < settled.size(); ++i) {
      EXPECT_EQ(settled[i].receive.id, expected[i].receive.id);
      EXPECT_EQ(settled[i].message.source, expected[i].message.source);
      EXPECT_EQ(settled[i].message.sequence, expected[i].message.sequence);
    }
  }
}

}  // namespace
}  // namespace nplus1::semantics
