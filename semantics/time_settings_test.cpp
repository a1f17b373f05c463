#include "semantics/time_settings.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace nplus1::semantics {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

class Table : public testing::Test {
 protected:
  Result<std::vector<ComputeRule>> read(const std::string& text) const {
    std::ofstream{file_} << text;
    return read_compute_rules(file_.string());
  }
  ~Table() override { std::filesystem::remove(file_); }

  const std::filesystem::path file_ =
      std::filesystem::path{testing::TempDir()} / ("nplus1-compute-table-" + std::to_string(getpid()));
};

TEST(Compute, TimesHaveUnitsOrAreInSeconds) {
  EXPECT_EQ(parse_compute("fixed:5ms").value().fixed, milliseconds{5});
  EXPECT_EQ(parse_compute("fixed:5").value().fixed, seconds{5});
  EXPECT_EQ(parse_compute("fixed:1e-6").value().fixed, microseconds{1});
  EXPECT_EQ(parse_compute("scale:0.5").value().scale, 0.5);
  EXPECT_EQ(parse_compute("file:/a b").value().table, "/a b");
  EXPECT_EQ(parse_compute("recorded:/a b").value().table, "/a b");
  EXPECT_EQ(parse_compute("recorded:a").value().mode, ComputeMode::kRecorded);
  EXPECT_EQ(parse_compute("measured").value().mode, ComputeMode::kMeasured);
}

TEST(Compute, IsRefusedWhereItIsNotUnderstood) {
  for (const char* text :
       {"",          "fast",      "measured:", "scale:", "scale",     "scale:-1",  "scale:2x",
        "scale:nan", "scale:inf", "fixed",     "fixed:", "fixed:x",   "fixed:-1s", "fixed:5 ms",
        "fixed:1e7", "fixed:inf", "file:",     "file",   "recorded:", "recorded"}) {
    const auto times = parse_compute(text);
    ASSERT_FALSE(times) << text;
    EXPECT_NE(times.error().what.find(text), std::string::npos) << text;
  }
}

TEST_F(Table, HasUnitsCommentsAndBlankLines) {
  const auto rules = read("# rank where time\n\n0 MPI_Send 5ms # five\r\n*\tapp+0x1aF 2e-6\n * * 0");
  ASSERT_TRUE(rules) << rules.error().what;
  const std::vector<ComputeRule> expected{
      {0, "MPI_Send", milliseconds{5}}, {-1, "app+0x1aF", microseconds{2}}, {-1, "", {}}};
  EXPECT_EQ(rules.value(), expected);
}

TEST_F(Table, WithALineThatIsNotUnderstoodIsRefusedWithFileAndLine) {
  for (const char* line :
       {"0 MPI_Send", "MPI_Send 5ms", "0 MPI_Send 5 ms", "0 MPI_Send fast", "0 MPI_Send 5m", "x MPI_Send 1",
        "1.5 MPI_Send 1", "-1 MPI_Send 1", "99999999999 MPI_Send 1", "0 MPI_Sned 1", "0 send 1", "0 app+0x 1",
        "0 +0x12 1", "0 app+0x1g 1", "* * -1", "* * 1e9", "* * nan"}) {
    const auto rules = read(std::string{"* MPI_Recv 1us\n"} + line + "\n");
    ASSERT_FALSE(rules) << line;
    EXPECT_EQ(rules.error().what.rfind(file_.string() + ":2: ", 0), 0U) << rules.error().what;
    EXPECT_FALSE(rules.error().remedy.empty());
  }
}

TEST_F(Table, ThatGivesNoTimeIsRefused) {
  EXPECT_FALSE(read(""));
  EXPECT_FALSE(read("# nothing\n\n"));
}

TEST(ComputeTable, ThatCannotBeReadIsRefused) {
  for (const std::string file : {"/absent/table", "/", "/proc/self/mem"}) {
    const auto rules = read_compute_rules(file);
    ASSERT_FALSE(rules) << file;
    EXPECT_EQ(rules.error().what.rfind(file, 0), 0U) << rules.error().what;
  }
}

TEST(Rule, FitsAFunctionOrAWholeModulesName) {
  EXPECT_TRUE((ComputeRule{-1, "", {}}.fits("MPI_Send", "")));
  EXPECT_TRUE((ComputeRule{-1, "MPI_Send", {}}.fits("MPI_Send", "app+0x10")));
  EXPECT_FALSE((ComputeRule{-1, "MPI_Send", {}}.fits("MPI_Isend", "app+0x10")));
  const ComputeRule site{-1, "app+0x10", {}};
  EXPECT_TRUE(site.fits("MPI_Send", "app+0x10"));
  EXPECT_TRUE(site.fits("MPI_Send", "/home/me/app+0x10"));
  EXPECT_FALSE(site.fits("MPI_Send", "/home/me/myapp+0x10"));
  EXPECT_FALSE(site.fits("MPI_Send", "/home/me/app+0x100"));
}

TEST(Rules, ReachTheirRankAsTheyWereRead) {
  const std::vector<ComputeRule> rules{
      {0, "MPI_Send", milliseconds{5}}, {1, "", microseconds{1}}, {-1, "app+0x1", {}}};
  EXPECT_EQ(unpacked(packed(rules, RankId{0})).value(), (std::vector<ComputeRule>{rules[0], rules[2]}));
  EXPECT_EQ(unpacked(packed(rules, RankId{7})).value(), (std::vector<ComputeRule>{rules[2]}));
  EXPECT_TRUE(unpacked("").value().empty());
}

TEST(Rules, ThatAreCutOrDamagedAreRefused) {
  const std::string bytes = packed({{0, "MPI_Send", milliseconds{5}}}, RankId{0});
  for (std::size_t size = 1; size < bytes.size(); ++size)
    EXPECT_FALSE(unpacked(bytes.substr(0, size))) << size;
  std::string longer = bytes;
  longer[12] = '\x7f';  // of the name's size
  EXPECT_FALSE(unpacked(longer));
}

TEST(PollCostText, IsATimeOrTwo) {
  EXPECT_EQ(parse_poll_cost("1us,50us").value().first(), microseconds{1});
  EXPECT_EQ(parse_poll_cost("1e-6,5e-5").value().cap(), microseconds{50});
  EXPECT_EQ(parse_poll_cost("300ns").value().cap(), nanoseconds{300});
  for (const char* text : {"", "soon", "1e-6,", ",1", "1,2,3", "0", "0,1us", "2us,1us", "-1,2"})
    EXPECT_FALSE(parse_poll_cost(text)) << text;
}

}  // namespace
}  // namespace nplus1::semantics
