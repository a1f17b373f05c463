// A counter of our own stands where the processor's would: what it counts is known.
#include "semantics/instruction_clock.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace nplus1::semantics {
namespace {

/// What the kernel shows of one event.
struct Page {
  std::uint32_t lock = 0;
  std::uint32_t index = 0;
  std::int64_t offset = 0;
  std::uint16_t pmc_width = 48;
};

std::optional<std::uint64_t> value_of(const Page& page, std::uint64_t in_register) {
  return read_counter(page, [&](std::uint32_t) { return in_register; });
}

TEST(ReadingACounter, IsTheRegisterAndWhatTheKernelAdds) {
  EXPECT_EQ(value_of({2, 1, 1000, 48}, 234), 1234U);
}

TEST(ReadingACounter, TheRegistersUpperBitsAreItsSign) {
  // The kernel lets registers count up to an overflow: it begins below 0 and adds what that is.
  const std::uint64_t minus_50 = (std::uint64_t{1} << 48U) - 50;
  EXPECT_EQ(value_of({2, 1, 1000, 48}, minus_50), 950U);
}

TEST(ReadingACounter, NamesTheRegisterFromZero) {
  const Page page{0, 0x40000003, 0, 48};
  EXPECT_EQ(read_counter(page, [](std::uint32_t index) { return index; }), 0x40000002U);
}

TEST(ReadingACounter, BeginsAgainWhereTheKernelMovedTheEvent) {
  Page page{2, 1, 0, 48};
  int reads = 0;
  const auto value = read_counter(page, [&](std::uint32_t index) -> std::uint64_t {
    if (++reads > 1) return index == 3 ? 7 : 0;
    page = {4, 4, 5000, 48};  // between two looks at its lock
    return 99;
  });
  EXPECT_EQ(value, 5007U);
  EXPECT_EQ(reads, 2);
}

TEST(ReadingACounter, OneThatIsInNoRegisterSaysNothing) {
  EXPECT_EQ(value_of({2, 0, 1000, 48}, 5), std::nullopt);
}

TEST(ReadingACounter, EndsEvenIfTheEventNeverStays) {
  Page page{0, 1, 0, 48};
  EXPECT_EQ(read_counter(page, [&](std::uint32_t) { return ++page.lock; }), std::nullopt);
}

/// Each reading costs 10 instructions and 30 cycles.
class OfOurOwn final : public ProcessorCounter {
 public:
  explicit OfOurOwn(std::optional<ProcessorCounts>& counts) : counts_{counts} {}
  [[nodiscard]] std::optional<ProcessorCounts> read() noexcept override {
    if (counts_) {
      counts_->instructions += 10;
      counts_->cycles += 30;
    }
    return counts_;
  }

 private:
  std::optional<ProcessorCounts>& counts_;
};

class Instructions : public testing::Test {
 protected:
  std::optional<double> stretch(std::uint64_t kind, std::uint64_t instructions, std::uint64_t cycles) {
    clock_.begin(kind);
    execute(instructions, cycles);
    return clock_.end();
  }
  void execute(std::uint64_t instructions, std::uint64_t cycles) {
    counts_->instructions += instructions;
    counts_->cycles += cycles;
  }

  std::optional<ProcessorCounts> counts_{ProcessorCounts{}};
  InstructionClock clock_{std::make_unique<OfOurOwn>(counts_), 2.0};  // 2 GHz
};

TEST_F(Instructions, AStretchThatNobodyKnowsTakesItsCycles) {
  EXPECT_DOUBLE_EQ(stretch(1, 1000, 4000).value(), 2000.0);
}

TEST_F(Instructions, ReadingItIsFree) {
  EXPECT_DOUBLE_EQ(stretch(1, 0, 0).value(), 0.0);
}

TEST_F(Instructions, WhatCachesCostIsLeftOut) {
  for (unsigned i = 0; i < 100; ++i) (void)stretch(1, 1000, i % 7 == 0 ? 1500 : 1500 + 400 * (i % 13));
  EXPECT_NEAR(stretch(1, 1000, 9000).value(), 750.0, 1e-3);
}

TEST_F(Instructions, WorkThatDiffersStays) {
  // Half of the stretches do twice the work; all are cold but a few. The slope is that of the instructions.
  for (int i = 0; i < 200; ++i)
    (void)stretch(1, i % 2 == 0 ? 1000 : 2000, (i % 2 == 0 ? 1U : 2U) * (i % 10 < 2 ? 1500 : 4000));
  EXPECT_NEAR(stretch(1, 1000, 4000).value(), 750.0, 1e-3);
  EXPECT_NEAR(stretch(1, 2000, 8000).value(), 1500.0, 1e-3);
  EXPECT_NEAR(stretch(1, 1010, 8000).value(), 757.5, 1e-3);
}

TEST_F(Instructions, KindsDoNotTellOfEachOther) {
  for (int i = 0; i < 20; ++i) (void)stretch(1, 1000, 1000);
  EXPECT_DOUBLE_EQ(stretch(2, 1000, 5000).value(), 2500.0);
}

TEST_F(Instructions, NothingTakesLongerThanItDid) {
  for (int i = 0; i < 20; ++i) (void)stretch(1, 1000, 2000);
  EXPECT_DOUBLE_EQ(stretch(1, 1000, 1800).value(), 900.0);
}

TEST_F(Instructions, AProgramThatBecomesSlowerIsFollowed) {
  for (int i = 0; i < 100; ++i) (void)stretch(1, 1000, 1000);
  for (int i = 0; i < 100; ++i) (void)stretch(1, 1000, 3000);
  EXPECT_NEAR(stretch(1, 1000, 3000).value(), 1500.0, 1e-3);
}

TEST_F(Instructions, ASingleFastPassIsNotBelieved) {
  (void)stretch(1, 1000, 10);
  for (int i = 0; i < 40; ++i) (void)stretch(1, 1000, 2000);
  EXPECT_NEAR(stretch(1, 1000, 2500).value(), 1000.0, 1e-3);
}

TEST_F(Instructions, TheMiddleOfAStretchCanBeAsked) {
  clock_.begin(1);
  execute(1000, 3000);
  EXPECT_NEAR(clock_.so_far().value(), 1500.0, 50.0);
  execute(1000, 3000);
  EXPECT_NEAR(clock_.end().value(), 3000.0, 50.0);
}

TEST_F(Instructions, WithoutCountersNothingIsSaid) {
  clock_.begin(1);
  counts_.reset();
  EXPECT_EQ(clock_.end(), std::nullopt);
  clock_.begin(1);
  counts_ = ProcessorCounts{};
  EXPECT_EQ(clock_.end(), std::nullopt);
  EXPECT_TRUE(stretch(1, 5, 5).has_value());
}

TEST(ThisHost, HasCountersOrSaysWhyNot) {
  auto counter = open_processor_counter();
  if (!counter) {
    EXPECT_NE(counter.error().what.find("processor counters cannot be read: "), std::string::npos);
    EXPECT_NE(counter.error().remedy.find("--compute warm"), std::string::npos);
    return;
  }
  const auto before = counter.value()->read();
  for (int i = 0; i < 100000; ++i) asm volatile("");
  const auto after = counter.value()->read();
  ASSERT_TRUE(before && after);
  EXPECT_GT(after->instructions - before->instructions, 100000U);
}

}  // namespace
}  // namespace nplus1::semantics
