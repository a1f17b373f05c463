// Time-independent traces and GOAL: what a run has become comes back with the same messages.
#include <gtest/gtest.h>

#include <algorithm>

#include "analyses/collective_rounds.hpp"
#include "events/goal/goal.hpp"
#include "events/time_independent/time_independent.hpp"
#include "tests/exchange/sample_run.hpp"
#include "tests/exchange/scratch.hpp"

namespace nplus1::tests {
namespace {

namespace fs = std::filesystem;
using events::EventKind;

struct Kind {
  const char* name;
  Result<std::unique_ptr<events::exchange::Exporter>> (*create)(const fs::path&,
                                                                const events::exchange::Preamble&);
  Result<std::unique_ptr<events::exchange::Importer>> (*open)(const fs::path&);
  const char* file;  // within what was written
};

const Kind kTi{"ti",
               [](const fs::path& p, const events::exchange::Preamble& preamble) {
                 return events::time_independent::create(p, preamble, analyses::collective_rounds);
               },
               [](const fs::path& p) { return events::time_independent::open(p); }, "actions.txt"};
const Kind kGoal{"goal",
                 [](const fs::path& p, const events::exchange::Preamble& preamble) {
                   return events::goal::create(p, preamble, analyses::collective_rounds);
                 },
                 [](const fs::path& p) { return events::goal::open(p); }, ""};

void write(const Kind& kind, const Log& log, const fs::path& path) {
  auto exporter = kind.create(path, {kSampleRanks, {}});
  ASSERT_TRUE(exporter.ok());
  log.play(*exporter.value());
  const auto done = exporter.value()->close();
  ASSERT_TRUE(done.ok()) << (done.ok() ? "" : done.error().what);
}

Log read(const Kind& kind, const fs::path& path) {
  Log back;
  auto importer = kind.open(path);
  EXPECT_TRUE(importer.ok()) << (importer.ok() ? "" : importer.error().what);
  const auto imported = importer.value()->read(back);
  EXPECT_TRUE(imported.ok()) << (imported.ok() ? "" : imported.error().what);
  EXPECT_FALSE(imported.value().missing.empty());
  return back;
}

/// Without what stands for collectives.
Log::Matrix application_messages(Log log, const Log& original) {
  std::set<std::pair<std::uint32_t, int>> foreign;  // messages of other communicators keep their sizes
  for (const auto& e : original.events)
    if (e.event.comm.value != 0 && e.event.kind == EventKind::kSend)
      foreign.insert({0, static_cast<int>(e.event.size)});
  std::erase_if(log.events, [&](const StoredEvent& e) {
    return e.event.tag >= static_cast<std::int32_t>(events::exchange::kFirstOwnTag) &&
           foreign.count({0, static_cast<int>(e.event.size)}) == 0;
  });
  return log.messages();
}

class Programs : public testing::TestWithParam<const Kind*> {};

TEST_P(Programs, TheMessagesOfARunComeBack) {
  const Scratch scratch;
  const Log log = sample_run();
  write(*GetParam(), log, scratch.path() / "x");
  const Log back = read(*GetParam(), scratch.path() / "x");
  EXPECT_EQ(application_messages(back, log), log.messages());
}

TEST_P(Programs, EveryMessageHasItsReceive) {
  const Scratch scratch;
  write(*GetParam(), sample_run(), scratch.path() / "x");
  const Log back = read(*GetParam(), scratch.path() / "x");
  std::map<std::tuple<int, int, int>, int> balance;  // source, destination, tag
  for (const auto& e : back.events) {
    const auto kind = e.event.kind;
    if (kind == EventKind::kSend || kind == EventKind::kIsend)
      ++balance[{e.rank.value, e.event.peer, e.event.tag}];
    if (kind == EventKind::kRecv || kind == EventKind::kIrecv)
      --balance[{e.event.peer, e.rank.value, e.event.tag}];
  }
  for (const auto& [key, count] : balance)
    EXPECT_EQ(count, 0) << std::get<0>(key) << " to " << std::get<1>(key);
}

TEST_P(Programs, ComputingComesBack) {
  const Scratch scratch;
  const Log log = sample_run();
  write(*GetParam(), log, scratch.path() / "x");
  const Log back = read(*GetParam(), scratch.path() / "x");
  for (int rank = 0; rank < kSampleRanks; ++rank) {
    const auto total = [&](const Log& l) {
      std::int64_t sum = 0;
      for (const auto& e : l.of(rank)) sum += e.event.compute_ps;
      return sum;
    };
    EXPECT_NEAR(static_cast<double>(total(back)), static_cast<double>(total(log)),
                1000.0);  // GOAL: nanoseconds
  }
}

TEST(TimeIndependent, CollectivesComeBack) {
  const Scratch scratch;
  const Log log = sample_run();
  write(kTi, log, scratch.path() / "x");
  const Log back = read(kTi, scratch.path() / "x");
  const auto sizes = [](const Log& l) {
    std::multiset<std::tuple<int, int, std::int64_t, int>> found;
    for (const auto& e : l.events) {
      if (e.event.kind != EventKind::kCollective || e.event.comm.value != 0) continue;
      // Reduce_scatter_block has no action of its own.
      if (e.event.collective() == CollectiveKind::kReduceScatterBlock ||
          e.event.collective() == CollectiveKind::kReduceScatter ||
          e.event.collective() == CollectiveKind::kAllreduce)
        continue;
      found.insert({e.rank.value, e.event.operation, e.event.size, e.event.peer});
    }
    return found;
  };
  EXPECT_EQ(sizes(back), sizes(log));
}

TEST_P(Programs, DamageIsAnErrorOrOtherEventsNeverACrash) {
  const Scratch scratch;
  const fs::path path = scratch.path() / "x";
  write(*GetParam(), sample_run(), path);
  const fs::path file = fs::is_directory(path) ? path / GetParam()->file : path;
  const std::string whole = contents(file);
  std::mt19937_64 random{5};
  int errors = 0;
  for (int i = 0; i < 500; ++i) {
    std::ofstream{file, std::ios::binary | std::ios::trunc} << mutate(whole, random);
    auto importer = GetParam()->open(path);
    Log back;
    if (!importer.ok() || !importer.value()->read(back).ok()) ++errors;
  }
  EXPECT_GT(errors, 100);
}

INSTANTIATE_TEST_SUITE_P(Formats, Programs, testing::Values(&kTi, &kGoal),
                         [](const auto& which) { return std::string{which.param->name}; });

/// 19 times 10^18 ps is 2^64 and half a day.
TEST_P(Programs, ComputingBeyondAllClocksIsRefusedWhereItAddsUp) {
  const Scratch scratch;
  std::string text = GetParam() == &kGoal ? "num_ranks 1\nrank 0 {\n" : "0 init\n";
  for (int i = 0; i < 19; ++i)
    text += GetParam() == &kGoal ? "l" + std::to_string(i) + ": calc 1000000000000000\n" : "0 compute 1e15\n";
  text += GetParam() == &kGoal ? "s: send 1b to 0\n}\n" : "0 barrier\n";
  std::ofstream{scratch.path() / "actions"} << text;
  std::ofstream{scratch.path() / "list"} << "actions\n";
  auto importer = GetParam()->open(scratch.path() / (GetParam() == &kGoal ? "actions" : "list"));
  ASSERT_TRUE(importer.ok());
  Log back;
  const auto read = importer.value()->read(back);
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().what.find("a call cannot begin at"), std::string::npos) << read.error().what;
}

TEST(TimeIndependent, AListMayNotNameATraceTwiceNorWhatIsNoFile) {
  const Scratch scratch;
  std::ofstream{scratch.path() / "a"} << "0 init\n0 finalize\n";
  for (const auto& [list, what] :
       {std::pair{"a\n./a\n", "is named twice"}, std::pair{"a\n/dev/zero\n", "is no file"}}) {
    std::ofstream{scratch.path() / "list"} << list;
    const auto importer = kTi.open(scratch.path() / "list");
    ASSERT_FALSE(importer.ok()) << list;
    EXPECT_NE(importer.error().what.find(what), std::string::npos) << importer.error().what;
  }
}

TEST(Goal, AWorkedExampleReadsAsWritten) {
  const Scratch scratch;
  std::ofstream{scratch.path() / "x.goal"}
      << "num_ranks 2\nrank 0 {\nl1: calc 100 cpu 0\nl2: send 10b to 1 tag 5 cpu 0\n"
         "l2 requires l1\n}\nrank 1 {\na: recv 10b from 0 tag 5\nb: calc 7\nb requires a\n}\n";
  const Log back = read(kGoal, scratch.path() / "x.goal");
  ASSERT_EQ(back.of(0).size(), 3U);  // send, wait, finalize
  EXPECT_EQ(back.of(0)[0].event.compute_ps, 100'000);
  EXPECT_EQ(back.of(0)[0].event.size, 10);
  ASSERT_EQ(back.of(1).size(), 3U);
  EXPECT_EQ(back.of(1)[2].event.compute_ps, 7000);
}

/// isend, computing, isend, irecv, waitall, computing: each call follows the one before it when that has been made, and
/// what follows the wait follows the ends.
TEST(Goal, WritesTheDependencesThatTheProgramHas) {
  const Scratch scratch;
  auto exporter = events::goal::create(scratch.path() / "x.goal", {2, {}}, analyses::collective_rounds);
  ASSERT_TRUE(exporter.ok());
  const auto event = [](EventKind kind, int peer, std::uint32_t request, std::int64_t compute_ns) {
    events::Event e;
    e.kind = kind;
    e.peer = peer;
    e.size = 8;
    e.request = RequestId{request};
    e.compute_ps = compute_ns * 1000;
    return e;
  };
  std::uint64_t ordinal = 0;
  const auto emit = [&](RankId rank, const events::Event& e, const events::Extension& extension = {}) {
    exporter.value()->on_event({rank, e, extension, kTimeZero, events::kNoAnswer, {}, nullptr, ordinal++});
  };
  emit(RankId{0}, event(EventKind::kIsend, 1, 1, 5));
  emit(RankId{0}, event(EventKind::kIsend, 1, 2, 0));
  emit(RankId{0}, event(EventKind::kSend, 1, 0, 7));
  const std::vector<std::uint32_t> both{1, 2};
  events::Event wait = event(EventKind::kWait, 0, 0, 0);
  wait.aux = 2;
  emit(RankId{0}, wait, {both, {}});
  emit(RankId{0}, event(EventKind::kFinalize, 0, 0, 9));
  ASSERT_TRUE(exporter.value()->close().ok());
  const std::string text = contents(scratch.path() / "x.goal");
  EXPECT_EQ(text,
            "num_ranks 2\n\nrank 0 {\n"
            "l1: calc 5\n"
            "l2: send 8b to 1 tag 0\nl2 requires l1\n"
            "l3: send 8b to 1 tag 0\nl3 irequires l2\n"
            "l4: calc 7\nl4 irequires l3\n"
            "l5: send 8b to 1 tag 0\nl5 requires l4\n"
            "l6: calc 0\nl6 requires l5\nl6 requires l2\nl6 requires l3\n"
            "l7: calc 9\nl7 requires l6\n"
            "}\n\nrank 1 {\n}\n");
}

}  // namespace
}  // namespace nplus1::tests
