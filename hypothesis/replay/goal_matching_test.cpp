#include "hypothesis/replay/goal_matching.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "events/goal/graph.hpp"

namespace nplus1::hypothesis {
namespace {

using events::goal::kAnybody;

/// The rule itself: the first of a list that fits.
struct InAList {
  std::vector<GoalEntry> entries;
  std::optional<GoalEntry> take(GoalEnvelope other) {
    const auto same = [](std::int32_t a, std::int32_t b) { return a == kAnybody || b == kAnybody || a == b; };
    const auto found = std::find_if(entries.begin(), entries.end(), [&](const GoalEntry& e) {
      return same(e.envelope.source, other.source) && same(e.envelope.tag, other.tag);
    });
    if (found == entries.end()) return std::nullopt;
    const GoalEntry entry = *found;
    entries.erase(found);
    return entry;
  }
};

TEST(GoalMatching, IsThatOfTheFirstInAListThatFits) {
  std::mt19937 random{7};
  const auto below = [&](int n) { return std::uniform_int_distribution<std::int32_t>{0, n - 1}(random); };
  const auto named = [&] { return GoalEnvelope{below(3), below(3)}; };
  const auto perhaps_any = [&] {
    GoalEnvelope e = named();
    if (below(4) == 0) e.source = kAnybody;
    if (below(4) == 0) e.tag = kAnybody;
    return e;
  };
  PostedReceives posted;
  UnexpectedMessages unexpected;
  InAList receives, messages;
  int met = 0;
  for (std::uint32_t i = 0; i < 20000; ++i) {
    const auto check = [&](const std::optional<GoalEntry>& got, const std::optional<GoalEntry>& expected) {
      ASSERT_EQ(got.has_value(), expected.has_value()) << i;
      if (!got) return;
      ASSERT_EQ(got->operation, expected->operation) << i;
      ++met;
    };
    const GoalEntry receive{perhaps_any(), i}, message{named(), i};
    switch (below(4)) {
      case 0:
        posted.push(receive);
        receives.entries.push_back(receive);
        break;
      case 1:
        unexpected.push(message);
        messages.entries.push_back(message);
        break;
      case 2:
        check(posted.take(message.envelope), receives.take(message.envelope));
        break;
      default:
        check(unexpected.take(receive.envelope), messages.take(receive.envelope));
    }
    ASSERT_EQ(unexpected.size(), messages.entries.size());
  }
  EXPECT_GT(met, 5000);
}

}  // namespace
}  // namespace nplus1::hypothesis
