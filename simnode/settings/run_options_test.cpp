#include "simnode/settings/run_options.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

namespace nplus1::simnode::settings {
namespace {

/// --record-cap: NPLUS1_RECORD_CAP.
std::string variable_of(const std::string& flag) {
  std::string name = "NPLUS1_" + flag.substr(2);
  std::replace(name.begin(), name.end(), '-', '_');
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
  return name;
}

RunSettings defaults() {
  RunSettings settings;
  for (const RunOption& option : run_options()) EXPECT_FALSE(option.take(option.fallback, settings));
  return settings;
}

TEST(RunOptions, AreNamedByFlagAndVariableAlikeAndOnce) {
  std::set<std::string> flags;
  for (const RunOption& option : run_options()) {
    EXPECT_EQ(option.variable, variable_of(option.flag));
    EXPECT_TRUE(flags.insert(option.flag).second) << option.flag;
    EXPECT_EQ(run_option(option.flag).variable, option.variable);
  }
  EXPECT_THROW(static_cast<void>(run_option("--absent")), std::out_of_range);
}

TEST(RunOptions, UnderstandWhatTheyAreWithoutTheUser) {
  for (const RunOption& option : run_options()) {
    RunSettings settings;
    const auto error = option.take(option.fallback, settings);
    EXPECT_FALSE(error) << option.flag << ": " << error->what;
    if (option.choices == nullptr || *option.fallback == '\0') continue;
    const std::string choices = std::string{"|"} + option.choices + "|";
    EXPECT_NE(choices.find(std::string{"|"} + option.fallback + "|"), std::string::npos) << option.flag;
  }
}

TEST(RunOptions, TellTheRanksOfTwinsOnlyWhereSomethingIsRecorded) {
  RunSettings settings = defaults();
  EXPECT_FALSE(run_option("--compute").take("warm", settings));
  EXPECT_EQ(told(settings).twins, 1);
  EXPECT_FALSE(run_option("--record").take("patterns", settings));
  EXPECT_EQ(told(settings).twins, 0) << "twins tell their findings to the recording";
}

TEST(RunOptions, OfAccessesImplyTheRecording) {
  RunSettings settings = defaults();
  EXPECT_FALSE(run_option("--record").take("off", settings));
  EXPECT_FALSE(run_option("--record-accesses").take("1", settings));
  EXPECT_EQ(settings.record, Record::kFull);
  EXPECT_EQ(told(settings).accesses, 1);
}

TEST(RunOptions, ThatNameFilesAreUnderstoodInAnyFolder) {
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(absolute(run_option("--platform"), "p.xml"), here + "/p.xml");
  EXPECT_EQ(absolute(run_option("--compute"), "recorded:a"), "recorded:" + here + "/a");
  EXPECT_EQ(absolute(run_option("--compute"), "fixed:1ms"), "fixed:1ms");
  EXPECT_EQ(absolute(run_option("--map"), "block"), "block");
  EXPECT_EQ(absolute(run_option("--map"), "."), here + "/.");
}

TEST(RunOptions, SwitchesTakeTheWordsForNo) {
  for (const char* no : {"", "0", "off", "no", "false"}) EXPECT_FALSE(is_on(no)) << no;
  for (const char* yes : {"1", "on", "yes", "true"}) EXPECT_TRUE(is_on(yes)) << yes;
}

}  // namespace
}  // namespace nplus1::simnode::settings
