// What an analysis keeps must be bounded by what is unmatched, not by the length of the run: the most memory
// in use at a time, by operator new, over a short and a ten times longer recording of the same program. To
// keep one byte of each event more is 900 kB, and fails. (Not so bounded: transformations that pair messages,
// message_survey.hpp, and --balance per=interval.)
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <ostream>

#include "bench/recorded_ring.hpp"
#include "hypothesis/transform/chain.hpp"
#include "hypothesis/whatif/analysis.hpp"

namespace {

std::atomic<std::size_t> in_use{0};
std::atomic<std::size_t> most{0};

void* counted(void* block) {
  if (block == nullptr) throw std::bad_alloc{};
  const std::size_t now = in_use += malloc_usable_size(block);
  for (std::size_t seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
  }
  return block;
}

void release(void* block) {
  if (block != nullptr) in_use -= malloc_usable_size(block);
  std::free(block);
}

}  // namespace

void* operator new(std::size_t size) {
  return counted(std::malloc(size));
}
void operator delete(void* block) noexcept {
  release(block);
}
void operator delete(void* block, std::size_t) noexcept {
  release(block);
}

namespace nplus1::hypothesis {
namespace {

using events::recording::Reader;

constexpr int kRanks = 16;
constexpr std::uint64_t kShort = 100'000;
constexpr std::uint64_t kLong = 1'000'000;
constexpr std::size_t kAllowed = 64 * 1024;  // more for the longer one
// A timeline ends where it has so many intervals; the numbers of a longer run have more digits.
constexpr std::size_t kAllowedToTimelines = 2 * 1024 * 1024;
constexpr const char* kNetwork = "lsb:latency=1e-6,bandwidth=1e10";

struct Case {
  const char* name;
  std::vector<const char*> scale;  // settings of --scale
  Decisions decisions;
  bool timeline;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.name;
}

Result<transform::Done> play(const std::filesystem::path& recording, events::EventSink& sink) {
  auto reader = Reader::open(recording);
  if (!reader) return reader.error();
  const auto read = reader.value().read(sink);
  if (!read) return read.error();
  return transform::Done{};
}

/// The most that the analysis had in use at a time.
std::size_t peak(const std::filesystem::path& recording, const Case& c) {
  const std::size_t before = in_use;
  most = before;
  const auto network = netmodel::parse(kNetwork);
  std::vector<transform::Step> steps;
  for (const char* text : c.scale) steps.push_back(transform::parse_step("scale", text, "").value());
  auto chain =
      transform::Chain::build(steps, [&](events::EventSink& sink, bool) { return play(recording, sink); });
  auto reader = Reader::open(recording);
  AnalysisOptions options;
  options.replay.network = network.value().get();
  options.replay.hypothesis = &chain.value();
  options.replay.decisions = c.decisions;
  options.timeline = c.timeline;
  const auto analysis = analyse(reader.value(), options);
  EXPECT_EQ(analysis.value().replay.state, simnode::engine::State::kFinished);
  EXPECT_GT(analysis.value().states.total.waiting, Duration::zero());
  return most - before;
}

class MemoryOfAnalyses : public ::testing::TestWithParam<Case> {};

TEST_P(MemoryOfAnalyses, DoesNotGrowWithTheLengthOfTheRun) {
  const events::recording::ScratchFolder folder;
  bench::record_ring(folder.path() / "short", kRanks, kShort, kNetwork);
  bench::record_ring(folder.path() / "long", kRanks, kLong, kNetwork);
  const std::size_t small = peak(folder.path() / "short", GetParam());
  const std::size_t large = peak(folder.path() / "long", GetParam());
  EXPECT_LT(large, small + (GetParam().timeline ? kAllowedToTimelines : kAllowed));
  RecordProperty("short", static_cast<int>(small));
  RecordProperty("long", static_cast<int>(large));
}

INSTANTIATE_TEST_SUITE_P(
    Of, MemoryOfAnalyses,
    ::testing::Values(Case{"ReplaysAsRecorded", {}, Decisions::kRecorded, false},
                      Case{"ReplaysWithAdaptedDecisions", {}, Decisions::kAdapted, false},
                      Case{"ScaledComputing", {"factor=0.5"}, Decisions::kAdapted, false},
                      Case{"BothSidesOfAReport", {"factor=0.5"}, Decisions::kAdapted, true}),
    [](const auto& tested) { return std::string{tested.param.name}; });

}  // namespace
}  // namespace nplus1::hypothesis
