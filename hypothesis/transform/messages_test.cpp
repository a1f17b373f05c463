#include "hypothesis/transform/messages.hpp"

#include <algorithm>

#include "hypothesis/testing/program.hpp"

namespace nplus1::hypothesis::transform {
namespace {

using Ends = std::vector<double>;

/// Rank 0 sends 1000 bytes with tag 7 (line 1), then 4000 with tag 8 (line 2) to rank 1, which receives the
/// second first: it was posted before.
TestProgram two_messages() {
  TestProgram program{2};
  program.line(0, 1);
  program.send(0, 1, 1000, 7);
  program.line(0, 2);
  program.send(0, 1, 4000, 8);
  program.line(1, 3);
  const auto posted = program.ireceive(1, 0, 8);
  program.receive(1, 0, 7);
  program.compute(1, 1);
  program.wait(1, {posted});
  program.compute(1, 10);
  program.record();
  return program;
}

TEST(Messages, AsRecorded) {
  EXPECT_EQ(two_messages().replayed({}), (Ends{0, 15}));
}

TEST(Messages, LongerMessagesArriveLater) {
  EXPECT_EQ(two_messages().replayed({{"resize", "tag=8,factor=2"}}), (Ends{0, 19}));
  EXPECT_EQ(two_messages().replayed({{"resize", "size=2KiB..,bytes=0"}}), (Ends{0, 13}));
}

TEST(Messages, MessagesAreNamedByEitherEnd) {
  EXPECT_EQ(two_messages().replayed({{"resize", "sends=program.c:2,factor=2"}}), (Ends{0, 19}));
  EXPECT_EQ(two_messages().replayed({{"resize", "receives=f3,sends=f2,factor=2"}}), (Ends{0, 19}));
  EXPECT_EQ(two_messages().replayed({{"resize", "site=f2,from=0,to=1,factor=2"}}), (Ends{0, 19}));
}

TEST(Messages, DeletedMessagesAreNeitherSentNorReceived) {
  EXPECT_EQ(two_messages().replayed({{"delete", "tag=8"}}), (Ends{0, 13}));
  EXPECT_EQ(two_messages().replayed({{"delete", "tag=7"}}), (Ends{0, 15}));
  EXPECT_EQ(two_messages().replayed({{"delete", "all"}}), (Ends{0, 11}));
}

/// The receiver of a deleted message no longer waits for a sender that came late; a rendezvous sender no
/// longer for its receiver.
TEST(Messages, ADeletedMessageHoldsNobodyBack) {
  TestProgram program{2};
  program.compute(0, 50);
  program.send(0, 1, 20000);
  program.compute(1, 5);
  program.receive(1, 0);
  program.compute(1, 5);
  program.record();
  EXPECT_EQ(program.replayed({{"delete", "all"}}), (Ends{50, 10}));
}

/// A receive from any source that a wildcard matched: the message is known by what it matched.
TEST(Messages, ReceivesFromAnySourceAreFoundByTheirMatch) {
  TestProgram program{3};
  program.compute(1, 10);
  program.send(1, 0, 100, 1);
  program.compute(2, 40);
  program.send(2, 0, 100, 2);
  const auto first = program.ireceive(0, kAnySource.value, kAnyTag);
  const auto second = program.ireceive(0, kAnySource.value, kAnyTag);
  program.wait(0, {first, second});
  program.record();
  EXPECT_EQ(program.replayed({}), (Ends{41.1, 10, 40}));
  EXPECT_EQ(program.replayed({{"delete", "from=2"}}), (Ends{11.1, 10, 40}));
}

TEST(Messages, NoneIsLargerThanAProcessCanAddress) {
  const Ends ends = two_messages().replayed({{"resize", "factor=1e300"}});
  const double us = 0x1p47 / 1000;  // at a nanosecond each
  EXPECT_GE(*std::max_element(ends.begin(), ends.end()), us);
  EXPECT_LE(*std::max_element(ends.begin(), ends.end()), 3 * us);
}

TEST(Messages, WhatIsDeletedCannotBeResized) {
  const std::string told = two_messages().refused({{"delete", "tag=8"}, {"resize", "tag=8,factor=2"}});
  EXPECT_NE(told.find("tag=8"), std::string::npos) << told;
}

TEST(Messages, AHypothesisAboutNothingSaysWhatThereIs) {
  const std::string told = two_messages().refused({{"delete", "tag=9"}});
  EXPECT_NE(told.find("is about no message"), std::string::npos) << told;
  EXPECT_NE(told.find("tags: 7, 8"), std::string::npos) << told;
  EXPECT_NE(told.find("sizes: 1000..4000"), std::string::npos) << told;
  EXPECT_NE(told.find("program.c:3"), std::string::npos) << told;
}

TEST(Messages, SlipsOfThePenAreRefused) {
  EXPECT_NE(two_messages().refused({{"resize", "tag=7"}}).find("either factor or bytes"), std::string::npos);
  EXPECT_NE(two_messages().refused({{"delete", "tag=seven"}}).find("tag=seven"), std::string::npos);
  EXPECT_NE(two_messages().refused({{"resize", "bytes=1e30"}}).find("bytes=1e30"), std::string::npos);
  EXPECT_NE(two_messages().refused({{"delete", "size=1KiB-2KiB"}}).find("1KiB..64KiB"), std::string::npos);
}

}  // namespace
}  // namespace nplus1::hypothesis::transform
