// A recording whose writer is stopped: by a size cap, by a full disk, by SIGKILL.
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "events/recording/reader.hpp"
#include "events/recording/testing/sampler.hpp"
#include "events/recording/testing/scratch_folder.hpp"
#include "events/recording/writer.hpp"

namespace nplus1::events::recording {
namespace {

using namespace std::chrono_literals;

/// Rows in blocks of `per_block`, to the writer and to `told`.
void record_rows(Writer& writer, Listening& told, int rows, int per_block) {
  Sampler sampler{21, 16};
  for (int i = 0; i < rows; i += per_block) {
    sampler.rows(per_block, {&told, &writer});
    writer.flush();
  }
}

void expect_prefix(const std::vector<Heard>& told, const std::vector<Heard>& heard) {
  ASSERT_LE(heard.size(), told.size());
  EXPECT_TRUE(std::equal(heard.begin(), heard.end(), told.begin()));
}

TEST(SizeCap, DropsAndCountsWhatIsBeyond) {
  const ScratchFolder folder;
  WriterOptions options;
  options.size_cap = 200'000;
  auto writer = std::move(Writer::create(folder.path(), {16, {}}, options)).value();
  Listening told;
  record_rows(*writer, told, 20'000, 500);
  writer->on_region({RegionId{1}, "after the cap"});
  EXPECT_FALSE(writer->close());
  EXPECT_LE(writer->bytes(), options.size_cap + 300);
  EXPECT_GT(writer->bytes(), options.size_cap / 2);

  Listening heard;
  Reader reader = std::move(Reader::open(folder.path())).value();
  const Coverage coverage = reader.read(heard, {.unchecked = true}).value();
  EXPECT_TRUE(coverage.complete);
  EXPECT_EQ(coverage.written, writer->totals());
  EXPECT_EQ(coverage.written.events, coverage.events);
  EXPECT_EQ(
      coverage.events + coverage.matches + coverage.written.dropped_events + coverage.written.dropped_matches,
      told.rows.size());
  EXPECT_NE(coverage.text().find("size cap"), std::string::npos);
  EXPECT_EQ(heard.definitions.size(), 1U);
  expect_prefix(told.rows, heard.rows);
  EXPECT_GT(heard.rows.size(), 1000U);
}

/// In a process of its own, whose files may have `limit` bytes. Returns what `body` returns.
template <class Body>
int in_child(rlim_t limit, const Body& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit file_size{limit, limit};
    std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &file_size);
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(FullDisk, LeavesARecordingThatSaysWhatItLacks) {
  const ScratchFolder folder;
  for (const bool background : {false, true}) {
    const auto place = folder.path() / (background ? "background" : "foreground");
    const int outcome = in_child(100'000, [&] {
      WriterOptions options;
      options.background = background;
      auto writer = std::move(Writer::create(place, {16, {}}, options)).value();
      Listening told;
      record_rows(*writer, told, 10'000, 100);
      const std::optional<Error> error = writer->close();
      return error && error->what.find("File too large") != std::string::npos ? 0 : 1;
    });
    EXPECT_EQ(outcome, 0);
    Listening told;
    const ScratchFolder elsewhere;
    auto twin = std::move(Writer::create(elsewhere.path(), {16, {}})).value();
    record_rows(*twin, told, 10'000, 100);
    Listening heard;
    const Coverage coverage = std::move(Reader::open(place)).value().read(heard, {.unchecked = true}).value();
    EXPECT_TRUE(coverage.stopped.empty()) << coverage.stopped;  // cut back to whole blocks
    EXPECT_TRUE(coverage.closed);
    EXPECT_NE(coverage.text().find("File too large"), std::string::npos);
    EXPECT_EQ(heard.rows.size() + coverage.written.dropped_events + coverage.written.dropped_matches,
              told.rows.size());
    expect_prefix(told.rows, heard.rows);
    EXPECT_GT(heard.rows.size(), 300U);
  }
}

TEST(FullDisk, BeforeTheFirstByteIsAnError) {
  const ScratchFolder folder;
  EXPECT_EQ(in_child(10,
                     [&] {
                       const auto writer = Writer::create(folder.path() / "r", {1, {}});
                       return !writer.ok() && !writer.error().remedy.empty() ? 0 : 1;
                     }),
            0);
}

/// What a writing process tells its parent, in shared memory.
struct Progress {
  static constexpr std::size_t kSlots = 10'000;
  std::atomic<std::size_t> slots;
  std::array<std::int64_t, kSlots> when;  // steady clock, ns
  std::array<std::uint64_t, kSlots> events;
};

std::int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / 1ns;
}

/// Records one event after another, ordinals counting, and notes each millisecond how many they are.
[[noreturn]] void record_for_ever(const std::filesystem::path& folder, Progress& progress) {
  auto writer = std::move(Writer::create(folder, {4, {{"application", "victim"}}})).value();
  Event event;
  event.kind = EventKind::kLocal;
  for (std::uint64_t ordinal = 0;;) {
    for (int i = 0; i < 20; ++i)
      writer->on_event({RankId{1}, event, {}, Time{}, kNoAnswer, {}, nullptr, ordinal++});
    writer->tick();
    const std::size_t slot = progress.slots.load();
    if (slot == Progress::kSlots) ::_exit(1);
    progress.when[slot] = now_ns();
    progress.events[slot] = ordinal;
    progress.slots.store(slot + 1);
    std::this_thread::sleep_for(1ms);
  }
}

class Ordinals : public EventSink {
 public:
  void on_event(const TimedEvent& event) override {
    EXPECT_EQ(event.ordinal, count);
    ++count;
  }
  std::uint64_t count = 0;
};

TEST(Killed, AtTheVeryBeginningLeavesWhatBeganTheRun) {
  const ScratchFolder folder;
  WriterOptions options;
  options.background = false;
  options.flush_interval = 1h;
  auto writer = std::move(Writer::create(folder.path(), {16, {}}, options)).value();
  Listening told;
  Sampler sampler{21, 16};
  sampler.rows(100, {&told, writer.get()});
  writer->tick();
  Listening heard;
  Reader reader = std::move(Reader::open(folder.path())).value();  // as it stands, in the middle
  EXPECT_TRUE(reader.read(heard, {.unchecked = true}).ok());
  EXPECT_EQ(heard.rows.size(), told.rows.size());
}

TEST(Killed, LosesAtMostTheLastSecond) {
  const ScratchFolder folder;
  void* const shared =
      ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto& progress = *static_cast<Progress*>(shared);
  const pid_t child = ::fork();
  if (child == 0) record_for_ever(folder.path() / "recording", progress);
  std::this_thread::sleep_for(1700ms);
  const std::int64_t killed_at = now_ns();
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);

  std::uint64_t a_second_before = 0;
  for (std::size_t i = 0; i < progress.slots && progress.when[i] < killed_at - 1'000'000'000; ++i)
    a_second_before = progress.events[i];
  ASSERT_GT(a_second_before, 0U);
  Reader reader = std::move(Reader::open(folder.path())).value();
  EXPECT_EQ(reader.properties().at("application"), "victim");
  Ordinals ordinals;
  const Coverage coverage = reader.read(ordinals).value();
  EXPECT_GE(ordinals.count, a_second_before);
  EXPECT_FALSE(coverage.complete);
  EXPECT_NE(coverage.text().find("incomplete"), std::string::npos);
  ::munmap(shared, sizeof(Progress));
}

class HeapWatch : public EventSink {
 public:
  void on_event(const TimedEvent& /*event*/) override {
    if (++rows % 4096 == 0) peak = std::max(peak, in_use());
  }
  static std::size_t in_use() {
    const auto info = mallinfo2();
    return info.uordblks + info.hblkhd;
  }
  std::size_t rows = 0;
  std::size_t peak = 0;
};

/// Bytes that reading `rows` realistic rows of `ranks` ranks takes at most.
std::size_t memory_to_read(std::int32_t ranks, int rows) {
  const ScratchFolder folder;
  auto writer = std::move(Writer::create(folder.path(), {ranks, {}})).value();
  Event event;
  event.kind = EventKind::kLocal;
  std::mt19937 random{2};
  for (int i = 0; i < rows; ++i)
    writer->on_event({RankId{static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(ranks))},
                      event,
                      {},
                      Time{Duration{i}}});
  writer->close();
  writer.reset();
  const std::size_t before = HeapWatch::in_use();
  HeapWatch watch;
  EXPECT_TRUE(std::move(Reader::open(folder.path())).value().read(watch).value().complete);
  return watch.peak - std::min(before, watch.peak);
}

TEST(Memory, ToReadGrowsNeitherWithRanksNorWithLength) {
  const std::size_t small = memory_to_read(65'536, 200'000);
  EXPECT_LT(small, 24U << 20U);
  EXPECT_LE(memory_to_read(65'536, 800'000), small + (1U << 20U));
  EXPECT_LE(memory_to_read(400'000, 200'000), small + (1U << 20U));
}

}  // namespace
}  // namespace nplus1::events::recording
