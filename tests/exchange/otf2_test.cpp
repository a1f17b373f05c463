#include "events/otf2/otf2.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "events/otf2/checksums.hpp"
#include "tests/exchange/sample_run.hpp"
#include "tests/exchange/scratch.hpp"

namespace nplus1::tests {
namespace {

namespace fs = std::filesystem;
using events::exchange::Imported;

void write(const Log& log, const fs::path& folder) {
  auto exporter = events::otf2::create(folder, {kSampleRanks, {{"application", "ring"}}});
  ASSERT_TRUE(exporter.ok());
  log.play(*exporter.value());
  const auto done = exporter.value()->close();
  ASSERT_TRUE(done.ok()) << (done.ok() ? "" : done.error().what);
}

Result<Imported> read(const fs::path& folder, Log& back, const events::otf2::Limits& limits = {}) {
  auto importer = events::otf2::open(folder, limits);
  if (!importer.ok()) return importer.error();
  EXPECT_EQ(importer.value()->preamble().ranks, kSampleRanks);
  return importer.value()->read(back);
}

TEST(Otf2, ARunOfOursComesBackEventByEvent) {
  const Scratch scratch;
  const Log log = sample_run();
  write(log, scratch.path() / "a");
  Log back;
  const auto imported = read(scratch.path() / "a", back);
  ASSERT_TRUE(imported.ok()) << imported.error().what;
  EXPECT_TRUE(imported.value().missing.empty());
  for (int rank = 0; rank < kSampleRanks; ++rank) {
    const auto wanted = log.of(rank);
    const auto got = back.of(rank);
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i)
      ASSERT_TRUE(got[i] == wanted[i]) << "rank " << rank << " event " << i;
  }
  ASSERT_EQ(back.matches.size(), log.matches.size());
  for (const auto& match : log.matches)
    EXPECT_NE(std::find(back.matches.begin(), back.matches.end(), match), back.matches.end());
}

TEST(Otf2, DefinitionsComeBack) {
  const Scratch scratch;
  const Log log = sample_run();
  write(log, scratch.path() / "a");
  Log back;
  ASSERT_TRUE(read(scratch.path() / "a", back).ok());
  ASSERT_EQ(back.communicators.size(), 3U);
  EXPECT_EQ(back.communicators[1].members, log.communicators[1].members);
  EXPECT_EQ(back.communicators[2].first_group, 2U);
  ASSERT_EQ(back.paths.size(), 2U);
  ASSERT_EQ(back.paths[0].frames.size(), 2U);
  EXPECT_EQ(back.paths[0].frames[0].line, 17U);
  EXPECT_EQ(back.paths[0].frames[1].module, "/lib/libc.so.6");
  ASSERT_EQ(back.regions.size(), 1U);
  EXPECT_EQ(back.regions[0].name, "time step");
  ASSERT_EQ(back.datatypes.size(), 2U);
}

TEST(Otf2, AThreadsCallThatDidNotEndIsUnfinished) {
  const Scratch scratch;
  StoredEvent event;
  event.event.kind = events::EventKind::kRecv;
  event.event.peer = 1;
  event.event.thread = ThreadId{3};
  event.event.entry_ps = event.event.compute_ps = 5;
  event.exit = events::kUnfinished;
  Log log;
  log.events.push_back(event);
  write(log, scratch.path() / "a");
  Log back;
  ASSERT_TRUE(read(scratch.path() / "a", back).ok());
  ASSERT_EQ(back.events.size(), 1U);
  EXPECT_TRUE(back.events[0] == event);
}

TEST(Otf2, AnotherToolsReaderFindsTheSameMessages) {
  const Scratch scratch;
  const Log log = sample_run();
  write(log, scratch.path() / "a");
  // With our attributes under other names the archive is anybody's.
  const auto definitions = scratch.path() / "a/traces.def";
  std::string bytes = contents(definitions);
  for (std::size_t at = 0; (at = bytes.find("nplus1::", at)) != std::string::npos;) bytes[at] = 'N';
  std::ofstream{definitions, std::ios::binary} << bytes;
  fs::remove(scratch.path() / "a" / events::otf2::kChecksums);
  Log back;
  const auto imported = read(scratch.path() / "a", back);
  ASSERT_TRUE(imported.ok()) << imported.error().what;
  EXPECT_FALSE(imported.value().missing.empty());
  EXPECT_EQ(back.messages(), log.messages());
  const auto collectives = [](const Log& l) {
    return std::count_if(l.events.begin(), l.events.end(), [](const StoredEvent& e) {
      return e.event.kind == events::EventKind::kCollective ||
             e.event.kind == events::EventKind::kIcollective;
    });
  };
  EXPECT_EQ(collectives(back), collectives(log));
}

TEST(Otf2, NothingIsOverwrittenAndNothingLeftBehind) {
  const Scratch scratch;
  { const auto dropped = events::otf2::create(scratch.path() / "a", {1, {}}); }
  EXPECT_TRUE(fs::is_empty(scratch.path()));
  fs::create_directory(scratch.path() / "a");
  EXPECT_FALSE(events::otf2::create(scratch.path() / "a", {1, {}}).ok());
}

/// NPLUS1_MUTATIONS=5000 tries more than the 300 of a normal run.
int mutations() {
  const char* wanted = std::getenv("NPLUS1_MUTATIONS");
  return wanted == nullptr ? 300 : std::atoi(wanted);
}

fs::path some_file(const fs::path& folder, std::mt19937_64& random) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator{folder})
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files[random() % files.size()];
}

/// One mutated file of the archive; the outcome, and whether the events are those of the log.
void mutate_and_read(const Log& log, bool with_checksums, int times, int& errors, int& silent) {
  const Scratch scratch;
  write(log, scratch.path() / "whole");
  if (!with_checksums) fs::remove(scratch.path() / "whole" / events::otf2::kChecksums);
  std::mt19937_64 random{11};
  for (int i = 0; i < times; ++i) {
    const fs::path copy = scratch.path() / "copy";
    fs::remove_all(copy);
    fs::copy(scratch.path() / "whole", copy, fs::copy_options::recursive);
    const fs::path victim = some_file(copy, random);
    const std::string before = contents(victim);
    const std::string after = mutate(before, random);
    std::ofstream{victim, std::ios::binary | std::ios::trunc} << after;
    Log back;
    const auto imported = read(copy, back, {std::chrono::seconds{5}});
    if (!imported.ok()) {
      ++errors;
      EXPECT_NE(imported.error().what.find("copy"), std::string::npos) << imported.error().what;
    } else if (after != before && back.events.size() != log.events.size()) {
      ++silent;
    }
  }
}

TEST(Otf2, DamageToAnArchiveOfOursIsAlwaysAnError) {
  int errors = 0;
  int silent = 0;
  mutate_and_read(sample_run(), true, mutations(), errors, silent);
  EXPECT_EQ(silent, 0);
  EXPECT_GT(errors, mutations() * 5 / 6);
}

TEST(Otf2, DamageToAnArchiveWithoutChecksumsNeverHangsOrCrashes) {
  int errors = 0;
  int silent = 0;
  mutate_and_read(sample_run(), false, mutations(), errors, silent);
  EXPECT_GT(errors, mutations() / 3);
}

TEST(Otf2, AFolderWithoutAnAnchorIsAnError) {
  const Scratch scratch;
  const auto importer = events::otf2::open(scratch.path());
  ASSERT_FALSE(importer.ok());
  EXPECT_NE(importer.error().what.find("no OTF2 anchor"), std::string::npos);
}

}  // namespace
}  // namespace nplus1::tests
