#include "events/text/text.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "tests/exchange/sample_run.hpp"
#include "tests/exchange/scratch.hpp"

namespace nplus1::tests {
namespace {

using events::text::Syntax;

Log round_trip(const Log& log, Syntax syntax, const std::filesystem::path& file, bool unchecked = false) {
  auto exporter = events::text::create(file, syntax, {kSampleRanks, {{"application", "a,\"b\"\nc"}}});
  EXPECT_TRUE(exporter.ok());
  log.play(*exporter.value());
  EXPECT_TRUE(exporter.value()->close().ok());
  auto importer = events::text::open(file, syntax, unchecked);
  EXPECT_TRUE(importer.ok()) << (importer.ok() ? "" : importer.error().what);
  Log back;
  EXPECT_EQ(importer.value()->preamble().properties.at("application"), "a,\"b\"\nc");
  const auto imported = importer.value()->read(back);
  EXPECT_TRUE(imported.ok()) << (imported.ok() ? "" : imported.error().what);
  return back;
}

class Text : public testing::TestWithParam<Syntax> {};

TEST_P(Text, EveryFieldOfEveryKindComesBack) {
  const Scratch scratch;
  const Log log = random_events(7, 5000);
  const Log back = round_trip(log, GetParam(), scratch.path() / "x", true);
  ASSERT_EQ(back.events.size(), log.events.size());
  for (std::size_t i = 0; i < log.events.size(); ++i) ASSERT_TRUE(back.events[i] == log.events[i]) << i;
}

TEST_P(Text, ARunComesBackWithItsMatchesAndDefinitions) {
  const Scratch scratch;
  const Log log = sample_run();
  const Log back = round_trip(log, GetParam(), scratch.path() / "x");
  EXPECT_TRUE(back.events == log.events);
  EXPECT_EQ(back.matches.size(), log.matches.size());
  ASSERT_EQ(back.paths.size(), log.paths.size());
  EXPECT_EQ(back.paths[1].frames[0].module, log.paths[1].frames[0].module);
  EXPECT_EQ(back.paths[0].frames[0].offset, 0x1234U);
  EXPECT_EQ(back.paths[0].frames.size(), 2U);
  ASSERT_EQ(back.communicators.size(), 3U);
  EXPECT_EQ(back.communicators[2].first_group, 2U);
  EXPECT_EQ(back.communicators[1].members, log.communicators[1].members);
  EXPECT_EQ(back.datatypes[1].name, "a vector, by hand");
  EXPECT_EQ(back.datatypes[1].bytes, 24);
}

TEST_P(Text, ACutFileIsAnErrorThatNamesTheLine) {
  const Scratch scratch;
  round_trip(sample_run(), GetParam(), scratch.path() / "x");
  std::filesystem::resize_file(scratch.path() / "x", std::filesystem::file_size(scratch.path() / "x") - 10);
  auto importer = events::text::open(scratch.path() / "x", GetParam());
  ASSERT_TRUE(importer.ok());
  Log back;
  const auto imported = importer.value()->read(back);
  ASSERT_FALSE(imported.ok());
  EXPECT_NE(imported.error().what.find("x:" + std::to_string(back.events.size() + 2)), 0U);
}

TEST_P(Text, NothingIsOverwrittenAndNothingLeftBehind) {
  const Scratch scratch;
  const auto file = scratch.path() / "x";
  { const auto dropped = events::text::create(file, GetParam(), {1, {}}); }
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
  std::ofstream{file} << "mine";
  EXPECT_FALSE(events::text::create(file, GetParam(), {1, {}}).ok());
}

/// Whatever happens to the bytes: an error, or events; never a crash.
TEST_P(Text, DamageIsAnErrorOrOtherEventsNeverACrash) {
  const Scratch scratch;
  round_trip(sample_run(), GetParam(), scratch.path() / "x");
  const std::string whole = contents(scratch.path() / "x");
  std::mt19937_64 random{3};
  int errors = 0;
  for (int i = 0; i < 500; ++i) {
    std::ofstream{scratch.path() / "y", std::ios::trunc} << mutate(whole, random);
    auto importer = events::text::open(scratch.path() / "y", GetParam());
    Log back;
    if (!importer.ok() || !importer.value()->read(back).ok()) ++errors;
  }
  EXPECT_GT(errors, 100);
}

INSTANTIATE_TEST_SUITE_P(Syntaxes, Text, testing::Values(Syntax::kCsv, Syntax::kJsonLines));

std::string trouble_with(const std::string& text, Syntax syntax) {
  const Scratch scratch;
  std::ofstream{scratch.path() / "x"} << text;
  auto importer = events::text::open(scratch.path() / "x", syntax);
  if (!importer) return importer.error().what;
  Log back;
  const auto imported = importer.value()->read(back);
  return imported ? "" : imported.error().what;
}

/// If the quotes of all lines so far were counted for each, this would take minutes.
TEST(Csv, AQuotationOfManyLinesTakesAsLongAsItsBytes) {
  EXPECT_NE(
      trouble_with("\"" + std::string(1'000'000, '\n'), Syntax::kCsv).find("a quotation that does not end"),
      std::string::npos);
  const std::string lines(200'000, '\n');
  EXPECT_EQ(trouble_with("record,id,ranks,name,text\nrun,,2,,nplus1-events/1\nregion,1,,\"a" + lines +
                             "\"\"b\n\",\nregion,2,,c,\n",
                         Syntax::kCsv),
            "");
}

TEST(JsonLines, ANumberOfAFrameIsWholeAndFits) {
  const auto trouble = [](const std::string& frame) {
    return trouble_with(
        "{\"record\":\"run\",\"ranks\":2,\"text\":\"nplus1-events/1\"}\n"
        "{\"record\":\"call_path\",\"id\":1,\"frames\":[{" +
            frame + "}]}\n",
        Syntax::kJsonLines);
  };
  EXPECT_EQ(trouble(R"("line":4294967295,"offset":18446744073709551615)"), "");
  for (const char* frame :
       {R"("line":4294967296)", R"("line":1e300)", R"("offset":-1)", R"("offset":1.5)", R"("line":"1")"})
    EXPECT_NE(trouble(frame).find("of a frame is no such number"), std::string::npos) << frame;
}

}  // namespace
}  // namespace nplus1::tests
