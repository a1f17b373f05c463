#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>

#include "semantics/transfers.hpp"
#include "simnode/engine/lane.hpp"
#include "simnode/engine/request_table.hpp"

namespace nplus1::simnode::engine {
namespace {

TEST(RequestTable, FindsWhatWasInsertedThroughRandomChanges) {
  std::mt19937 random{2};
  RequestTable table;
  std::vector<std::uint32_t> live;
  for (std::uint32_t id = 1; id < 20000; ++id) {
    table.insert(RequestId{id}).pending().sequence = id;
    live.push_back(id);
    while (live.size() > random() % 60) {
      const std::size_t victim = random() % live.size();
      if (live[victim] % 1000 == 7 && random() % 50 != 0) break;  // some live long
      table.erase(RequestId{live[victim]});
      EXPECT_EQ(table.find(RequestId{live[victim]}), nullptr);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(victim));
    }
    ASSERT_EQ(table.size(), live.size());
    for (const std::uint32_t l : live) {
      Request* found = table.find(RequestId{l});
      ASSERT_NE(found, nullptr);
      ASSERT_EQ(found->pending().sequence, l);
    }
  }
}

TEST(Transfers, AreFirstInFirstOutPerPairThroughGrowth) {
  std::mt19937 random{3};
  semantics::Transfers transfers;
  transfers.clear(4);
  std::map<std::pair<int, int>, std::deque<std::int64_t>> plain;
  for (std::int64_t i = 0; i < 20000; ++i) {
    const auto from = static_cast<std::int32_t>(random() % 10);
    const auto to = static_cast<std::int32_t>(random() % 10);
    auto& queue = plain[{from, to}];
    if (random() % (i < 10000 ? 3 : 2) != 0) {
      transfers.push(from, to, {Time{Duration{i}}, bytes(i)});
      queue.push_back(i);
      continue;
    }
    const auto popped = transfers.pop(from, to);
    ASSERT_EQ(popped.has_value(), !queue.empty());
    if (!popped) continue;
    ASSERT_EQ(count(popped->size), queue.front());
    queue.pop_front();
  }
}

TEST(Transfers, OfOnePairAreFoundAtOnceHoweverManyWait) {
  constexpr std::int64_t kMany = 300'000;  // looking at each of the others would take minutes
  semantics::Transfers transfers;
  transfers.clear(2);
  for (std::int64_t i = 0; i < kMany; ++i) transfers.push(0, 1, {Time{Duration{i}}, bytes(i)});
  for (std::int64_t i = 0; i < kMany; ++i) ASSERT_EQ(count(transfers.pop(0, 1)->size), i);
  EXPECT_FALSE(transfers.pop(0, 1));
}

TEST(Backlog, GivesEventsBackInOrderWithTheirLists) {
  Backlog backlog;
  std::vector<std::uint32_t> words;
  std::vector<std::int64_t> sizes;
  std::uint32_t in = 0;
  std::uint32_t out = 0;
  std::mt19937 random{4};
  while (out < 10000) {
    if (backlog.empty() || (in - out < 3000 && random() % 2 == 0)) {
      events::Event e;
      e.request = RequestId{in};
      const std::vector<std::uint32_t> list(in % 5, in);
      const std::vector<std::int64_t> more(in % 3, in);
      backlog.push(e, {list, more});
      ++in;
      continue;
    }
    const events::Event e = backlog.pop(words, sizes);
    ASSERT_EQ(e.request.value, out);
    ASSERT_EQ(words, std::vector<std::uint32_t>(out % 5, out));
    ASSERT_EQ(sizes, std::vector<std::int64_t>(out % 3, out));
    ++out;
  }
}

TEST(SequenceTable, CountsEachDestinationByItself) {
  SequenceTable table;
  EXPECT_EQ(table.next(RankId{4000}), 0U);
  EXPECT_EQ(table.next(RankId{3}), 0U);
  EXPECT_EQ(table.next(RankId{4000}), 1U);
  for (std::uint64_t round = 0; round < 3; ++round)
    for (std::int32_t r = 0; r < 1000; ++r) EXPECT_EQ(table.next(RankId{r}), round + (r == 3 ? 1 : 0));
}

}  // namespace
}  // namespace nplus1::simnode::engine
