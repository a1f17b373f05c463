// What the mailbox looks at, however much is outstanding.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "semantics/mailbox.hpp"
#include "semantics/testing/mailboxes.hpp"

namespace nplus1::semantics {
namespace {

/// What 2n operations look at, by two ways of posting and emptying; each must stay proportional to n.
using Traffic = void (*)(Mailbox&, std::uint32_t);
double looked_at_each(Traffic traffic, std::uint32_t n) {
  Mailbox box;
  traffic(box, n);
  EXPECT_EQ(box.waiting_messages() + box.waiting_receives(), 0U);
  return static_cast<double>(box.looked_at()) / n;
}

void decide_all(Mailbox& box) {
  std::vector<Match> settled;
  while (const auto candidate = box.candidate()) box.decide(*candidate, settled);
}

const std::vector<std::pair<const char*, Traffic>>& floods() {
  static const std::vector<std::pair<const char*, Traffic>> all{
      {"receives from anybody, then messages",
       [](Mailbox& box, std::uint32_t n) {
         for (std::uint32_t i = 0; i < n; ++i) box.post_undecided(from_any(kAnyTag, i));
         Sender one{1};
         for (std::uint32_t i = 0; i < n; ++i) {
           box.arrive(one.message(7, i));
           decide_all(box);
         }
       }},
      {"receives from anybody, a tag each, messages the other way round",
       [](Mailbox& box, std::uint32_t n) {
         for (std::uint32_t i = 0; i < n; ++i) box.post_undecided(from_any(static_cast<std::int32_t>(i), i));
         Sender one{1};
         for (std::uint32_t i = n; i-- > 0;) box.arrive(one.message(static_cast<std::int32_t>(i), i));
         decide_all(box);
       }},
      {"messages of many tags, then receives of any tag",
       [](Mailbox& box, std::uint32_t n) {
         Sender one{1};
         for (std::uint32_t i = 0; i < n; ++i)
           box.arrive(one.message(static_cast<std::int32_t>(i % 1000), i));
         for (std::uint32_t i = 0; i < n; ++i) box.post(from(1, kAnyTag, i));
       }},
      {"messages of a tag each, then receives the other way round",
       [](Mailbox& box, std::uint32_t n) {
         Sender one{1};
         for (std::uint32_t i = 0; i < n; ++i) box.arrive(one.message(static_cast<std::int32_t>(i), i));
         for (std::uint32_t i = n; i-- > 0;) box.post(from(1, static_cast<std::int32_t>(i), i));
       }},
      {"receives of a tag each, then messages the other way round",
       [](Mailbox& box, std::uint32_t n) {
         for (std::uint32_t i = 0; i < n; ++i) box.post(from(1, static_cast<std::int32_t>(i), i));
         Sender one{1};
         for (std::uint32_t i = n; i-- > 0;) box.arrive(one.message(static_cast<std::int32_t>(i), i));
       }},
      {"named receives, all held back by those from anybody",
       [](Mailbox& box, std::uint32_t n) {
         for (std::uint32_t i = 0; i < n; ++i) {
           box.post_undecided(from_any(5, 2 * i));
           box.post(from(1, 5, 2 * i + 1));
         }
         Sender one{1};
         for (std::uint32_t i = 0; i < 2 * n; ++i) box.arrive(one.message(5, i));
         decide_all(box);
       }},
      {"messages taken from the end by probes",
       [](Mailbox& box, std::uint32_t n) {
         Sender one{1};
         for (std::uint32_t i = 0; i < n; ++i) box.arrive(one.message(static_cast<std::int32_t>(i), i));
         for (std::uint32_t i = n; i-- > 0;) {
           const Message* seen = box.peek(0, RankId{1}, static_cast<std::int32_t>(i));
           ASSERT_NE(seen, nullptr);
           box.take(0, RankId{1}, seen->sequence);
         }
       }},
      {"receives cancelled from the end",
       [](Mailbox& box, std::uint32_t n) {
         for (std::uint32_t i = 0; i < n; ++i) {
           box.post(from(1, 5, 2 * i));
           box.post_undecided(from_any(5, 2 * i + 1));
         }
         std::vector<Match> settled;
         for (std::uint32_t i = 2 * n; i-- > 0;) ASSERT_TRUE(box.cancel(i, settled));
       }},
  };
  return all;
}

TEST(Mailbox, DoesWorkInProportionToTheTrafficHoweverMuchIsOutstanding) {
  for (const auto& [name, traffic] : floods()) {
    const double few = looked_at_each(traffic, 1'000);
    const double many = looked_at_each(traffic, 32'000);
    EXPECT_LT(many, 40) << name;
    EXPECT_LT(many, 1.5 * few + 1) << name;
  }
}

}  // namespace
}  // namespace nplus1::semantics
